"""ElectLeaders at the handler: every version."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.elect_leaders import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.elect_leaders_request import (
    ElectLeadersRequest,
    TopicPartitions,
)
from tests.broker.handlers.admin_broker import AdminBroker


def elect(partitions: list[int], election_type: int = 0, timeout_ms: int = 1000) -> Any:
    return ElectLeadersRequest(
        election_type=election_type,
        topic_partitions=[TopicPartitions(topic="t", partitions=partitions)],
        timeout_ms=timeout_ms,
    )


@pytest.mark.parametrize("version", range(3))
def test_every_version(version: int) -> None:
    broker = AdminBroker()
    broker.create("t")
    reply = broker.call(HANDLER, elect([0, 1]), version)
    (topic,) = reply.replica_election_results
    assert (topic.topic, reply.error_code) == ("t", 0)
    assert [(at.partition_id, at.error_code) for at in topic.partition_result] == [
        (0, ErrorCode.ELECTION_NOT_NEEDED),
        (1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    reply = broker.call(HANDLER, ElectLeadersRequest(topic_partitions=None), version)
    (topic,) = reply.replica_election_results
    assert (topic.topic, topic.partition_result) == ("t", [])


def test_nothing_is_asked_for() -> None:
    broker = AdminBroker()
    request = ElectLeadersRequest(topic_partitions=[], timeout_ms=0)
    assert broker.call(HANDLER, request, 2).replica_election_results == []


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (elect([0], timeout_ms=0), ErrorCode.REQUEST_TIMED_OUT),
        (elect([0], timeout_ms=-1), ErrorCode.REQUEST_TIMED_OUT),
        (elect([0], election_type=7), ErrorCode.INVALID_REQUEST),
    ],
)
def test_refused_as_a_whole(request_: ElectLeadersRequest, code: int) -> None:
    broker = AdminBroker()
    broker.create("t")
    reply = broker.call(HANDLER, request_, 2)
    (topic,) = reply.replica_election_results
    (partition,) = topic.partition_result
    assert (reply.error_code, partition.partition_id, partition.error_code) == (code, 0, code)


def test_a_controller_that_does_not_lead() -> None:
    broker = AdminBroker()
    broker.world.controller.deactivate()
    for version in range(3):
        reply = broker.call(HANDLER, elect([0]), version, on_controller=True)
        (partition,) = reply.replica_election_results[0].partition_result
        assert partition.error_code == ErrorCode.NOT_CONTROLLER
