"""The leader of a partition, as far as this node can report it to a client."""

from __future__ import annotations

import pytest

from pykbroker.broker.requests.leader_hints import LeaderHint, leader_hint
from pykbroker.protocol.messages.fence_broker_record import FenceBrokerRecord
from tests.broker.handlers.data_plane import LISTENER, Broker


@pytest.fixture
def broker() -> Broker:
    """`here` is led here, `far` by broker 2, which is known, `gone` by broker 3, which is not."""
    broker = Broker()
    broker.register(1, "host1", 9092)
    broker.register(2, "host2", 9094, rack="r")
    for number, (name, leader) in enumerate((("here", 1), ("far", 2), ("gone", 3))):
        broker.node.create_topic(name, number=number, replicas=(leader,), leader=leader)
    return broker


@pytest.mark.parametrize(
    "topic, hint",
    [
        ("here", LeaderHint(1, 0, ("host1", 9092, None))),
        ("far", LeaderHint(2, 0, ("host2", 9094, "r"))),
        ("gone", LeaderHint(3, 0, None)),
        ("missing", LeaderHint(-1, -1, None)),
    ],
)
def test_hints(broker: Broker, topic: str, hint: LeaderHint) -> None:
    assert leader_hint(broker.replica_manager, topic, 0, LISTENER) == hint


def test_no_endpoint_on_another_listener_or_of_a_fenced_broker(broker: Broker) -> None:
    assert leader_hint(broker.replica_manager, "far", 0, "SSL") == LeaderHint(2, 0, None)
    broker.node.apply(FenceBrokerRecord(id=2, epoch=1))
    assert leader_hint(broker.replica_manager, "far", 0, LISTENER) == LeaderHint(2, 0, None)
