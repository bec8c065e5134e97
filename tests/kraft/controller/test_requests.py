"""Every request to a controller has a method that decides it."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers import HANDLERS, Route
from pykbroker.kraft.controller.requests import DECIDE, decide
from pykbroker.protocol.api import API_BY_NAME, request_class
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from tests.kraft.controller.controller_world import ControllerWorld, names_of, topic

# Served by a controller, and answered from what it knows without a decision.
WITHOUT_DECISION = {
    "ApiVersions",
    "BeginQuorumEpoch",
    "DescribeCluster",
    "DescribeConfigs",
    "DescribeQuorum",
    "EndQuorumEpoch",
    "Envelope",
    "Fetch",
    "FetchSnapshot",
    "UpdateRaftVoter",
    "Vote",
}


def test_the_table_names_apis_of_a_controller() -> None:
    for name in DECIDE:
        api = API_BY_NAME[name.removesuffix("Request")]
        assert "controller" in api.listeners
        assert request_class(api.key).__name__ == name


def test_what_a_controller_serves_can_be_decided() -> None:
    served = {each.name for each in HANDLERS if Route(*each).on_controller}
    assert served - WITHOUT_DECISION == {name.removesuffix("Request") for name in DECIDE}


def test_a_request_is_decided_by_its_class() -> None:
    from pykbroker.protocol.messages.create_topics_request import CreateTopicsRequest

    world = ControllerWorld().brokers(1)
    request = CreateTopicsRequest(topics=[topic("t")])
    decision = decide(world.controller, request, 7, world.now_ms)
    assert names_of(decision.records) == ["TopicRecord", "PartitionRecord"]


def test_another_request_is_no_request_to_a_controller() -> None:
    with pytest.raises(KeyError):
        decide(ControllerWorld().controller, HeartbeatRequest(), 0, 0)
