from __future__ import annotations

import pytest

from pykbroker.config import BrokerConfig, ConfigError, GroupConfig, validate_group_overrides
from pykbroker.config.load import standalone_properties

BROKER = BrokerConfig.from_properties(standalone_properties("/data"))


def test_defaults_come_from_the_broker() -> None:
    group = GroupConfig.from_overrides(BROKER, {})
    assert group.consumer_session_timeout_ms == 45_000
    assert group.share_auto_offset_reset == "latest"
    assert group.streams_assignor_name == "sticky"


def test_values_are_kept_within_the_bounds_of_the_broker() -> None:
    group = GroupConfig.from_overrides(
        BROKER, {"consumer.session.timeout.ms": "1", "share.delivery.count.limit": "99"}
    )
    assert group.consumer_session_timeout_ms == 45_000
    assert group.share_delivery_count_limit == 10


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"nope": "1"}, "Unknown group config name: nope"),
        (
            {"consumer.session.timeout.ms": "1"},
            "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.",
        ),
        (
            {"streams.num.standby.replicas": "3"},
            "streams.num.standby.replicas must be less than or equal to 2",
        ),
        (
            {"streams.task.offset.interval.ms": "3"},
            "streams.task.offset.interval.ms must be greater than or equal to 15000",
        ),
        (
            {"errors.deadletterqueue.topic.name": "__x"},
            "errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'",
        ),
        (
            {"streams.rack.aware.assignment.tags": " zone , zone "},
            "streams.rack.aware.assignment.tags must not contain duplicate tag keys.",
        ),
        (
            {"streams.assignor.name": "mine"},
            "streams.assignor.name: streams groups are not built yet",
        ),
    ],
)
def test_refusals(overrides: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validate_group_overrides(BROKER, overrides)
    assert caught.value.message == message


def test_different_tags_are_taken() -> None:
    name = "streams.rack.aware.assignment.tags"
    validate_group_overrides(BROKER, {name: "zone,cluster"})
    # What an earlier version of pykbroker let in does not stop a node.
    kept = GroupConfig.from_overrides(BROKER, {name: "zone,cluster,zone"})
    assert kept.streams_rack_aware_assignment_tags == ("zone", "cluster")


def test_a_session_must_outlast_its_heartbeats() -> None:
    broker = BrokerConfig.from_properties(standalone_properties("/data"))
    with pytest.raises(ConfigError, match=r"heartbeat\.interval\.ms must be in the range"):
        validate_group_overrides(broker, {"consumer.heartbeat.interval.ms": "50000"})


def test_describe() -> None:
    described = {each.name: each for each in GroupConfig.from_overrides(BROKER, {}).describe()}
    assert "consumer.assignor.offload.enable" not in described  # internal to Kafka
    entry = described["share.auto.offset.reset"]
    assert (entry.value, entry.source) == ("latest", 5)
    assert [each.name for each in entry.synonyms] == ["share.auto.offset.reset"]
    session = described["consumer.session.timeout.ms"]
    assert [each.name for each in session.synonyms] == ["group.consumer.session.timeout.ms"]
    overridden = GroupConfig.from_overrides(BROKER, {"consumer.session.timeout.ms": "50000"})
    (entry,) = overridden.describe(["consumer.session.timeout.ms"])
    assert (entry.value, entry.source) == ("50000", 8)
