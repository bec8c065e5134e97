"""Defaults of groups and their bounds, checked at the start as Apache Kafka checks them."""

from __future__ import annotations

import pytest

from pykbroker.config.broker_config import BrokerConfig
from pykbroker.config.definition import ConfigError
from pykbroker.config.load import standalone_properties

CASES = [
    (
        {"group.consumer.max.session.timeout.ms": "44999"},
        (
            "group.consumer.max.session.timeout.ms must be greater than or equal to "
            "group.consumer.min.session.timeout.ms"
        ),
    ),
    (
        {"group.streams.heartbeat.interval.ms": "15001"},
        (
            "group.streams.heartbeat.interval.ms must be less than or equal to "
            "group.streams.max.heartbeat.interval.ms"
        ),
    ),
    (
        {"group.share.heartbeat.interval.ms": "4999"},
        (
            "group.share.heartbeat.interval.ms must be greater than or equal to "
            "group.share.min.heartbeat.interval.ms"
        ),
    ),
    (
        {
            "group.consumer.max.heartbeat.interval.ms": "45000",
            "group.consumer.heartbeat.interval.ms": "45000",
        },
        "group.consumer.heartbeat.interval.ms must be less than group.consumer.session.timeout.ms",
    ),
    (
        {"group.share.delivery.count.limit": "10", "group.share.max.delivery.count.limit": "9"},
        (
            "group.share.max.delivery.count.limit must be greater than or equal to "
            "group.share.delivery.count.limit"
        ),
    ),
    (
        {"group.streams.num.standby.replicas": "3"},
        (
            "group.streams.num.standby.replicas must be less than or equal to "
            "group.streams.max.standby.replicas"
        ),
    ),
    (
        {"group.share.max.size": "1000", "group.share.max.share.sessions": "999"},
        ("group.share.max.share.sessions must be greater than or equal to group.share.max.size"),
    ),
    (
        {"group.streams.rack.aware.assignment.tags": " zone , zone "},
        "group.streams.rack.aware.assignment.tags must not contain duplicate tag keys.",
    ),
    (
        {"group.consumer.assignors": "range,com.example.Mine"},
        (
            "group.consumer.assignors: com.example.Mine: plug-ins written in Java cannot run in "
            "this broker"
        ),
    ),
]


def node(**properties: str) -> BrokerConfig:
    return BrokerConfig.from_properties({**standalone_properties("/data"), **properties})


@pytest.mark.parametrize(("properties", "message"), CASES)
def test_defaults_outside_their_bounds_stop_the_start(
    properties: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        node(**properties)
    assert caught.value.message == message


def test_defaults_at_their_bounds_are_accepted() -> None:
    config = node(
        **{
            "group.consumer.assignors": "range",
            "group.consumer.session.timeout.ms": "60000",
            "group.streams.heartbeat.interval.ms": "15000",
            "group.share.max.size": "1000",
            "group.share.max.share.sessions": "1000",
        }
    )
    assert config.value("group.consumer.session.timeout.ms") == 60000
    assert config.value("group.consumer.assignors") == ("range",)
