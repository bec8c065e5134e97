"""Every request to a controller has a method that decides it."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers import HANDLERS, Route
from pykbroker.kraft.controller import brokers
from pykbroker.kraft.controller.requests import DECIDE, decide, takes_long
from pykbroker.protocol.api import API_BY_NAME, request_class
from pykbroker.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from pykbroker.protocol.messages.create_topics_request import CreateTopicsRequest
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.unregister_broker_request import UnregisterBrokerRequest
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
    world = ControllerWorld().brokers(1)
    request = CreateTopicsRequest(topics=[topic("t")])
    decision = decide(world.controller, request, 7, world.now_ms)
    assert names_of(decision.records) == ["TopicRecord", "PartitionRecord"]


def test_another_request_is_no_request_to_a_controller() -> None:
    with pytest.raises(KeyError):
        decide(ControllerWorld().controller, HeartbeatRequest(), 0, 0)


def test_what_changes_many_partitions_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brokers, "MANY_PARTITIONS", 2)
    world = ControllerWorld().brokers(1, 2, 3)
    world.create(topic("t", assignments={0: [1, 2], 1: [1, 3]}))

    def is_long(message: object) -> bool:
        return takes_long(world.controller, message)

    def beat(broker_id: int, **fields: object) -> BrokerHeartbeatRequest:
        return BrokerHeartbeatRequest(broker_id=broker_id, **fields)  # type: ignore[arg-type]

    assert not is_long(beat(1))
    assert is_long(beat(1, want_fence=True))
    assert is_long(beat(1, want_shut_down=True))
    assert is_long(beat(1, offline_log_dirs=[b"d" * 16]))
    assert not is_long(beat(2, want_fence=True))
    assert not is_long(beat(9, want_fence=True))
    assert is_long(world.registration(1))
    assert not is_long(world.registration(2))
    assert is_long(UnregisterBrokerRequest(broker_id=1))
    assert not is_long(UnregisterBrokerRequest(broker_id=2))
    assert not is_long(CreateTopicsRequest())
    for broker_id in (2, 3, 1):
        world.heartbeat(broker_id, want_fence=True)
    assert is_long(beat(1))  # it may lead both
