"""AlterPartitionReassignments at the handler: every version."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.alter_partition_reassignments import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from tests.broker.handlers.admin_broker import AdminBroker


def alter(replicas: list[int] | None, timeout_ms: int = 1000) -> Any:
    asked = ReassignablePartition(partition_index=0, replicas=replicas)
    return AlterPartitionReassignmentsRequest(
        timeout_ms=timeout_ms, topics=[ReassignableTopic(name="t", partitions=[asked])]
    )


@pytest.mark.parametrize("version", range(2))
@pytest.mark.parametrize(
    ("replicas", "code"),
    [
        ([1], ErrorCode.NONE),
        ([2], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (None, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
    ],
)
def test_every_version(version: int, replicas: list[int] | None, code: int) -> None:
    broker = AdminBroker()
    broker.create("t")
    before = broker.image.topics_by_name["t"]
    reply = broker.call(HANDLER, alter(replicas), version)
    assert (reply.error_code, reply.error_message) == (0, None)
    (topic,) = reply.responses
    (partition,) = topic.partitions
    assert (topic.name, partition.partition_index, partition.error_code) == ("t", 0, code)
    assert broker.image.topics_by_name["t"] == before


def test_nothing_is_asked_for() -> None:
    broker = AdminBroker()
    request = AlterPartitionReassignmentsRequest(topics=[], timeout_ms=0)
    assert broker.call(HANDLER, request, 1).responses == []


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_no_time_at_all(timeout_ms: int) -> None:
    broker = AdminBroker()
    broker.create("t")
    reply = broker.call(HANDLER, alter([1], timeout_ms), 1)
    (partition,) = reply.responses[0].partitions
    timed_out = ErrorCode.REQUEST_TIMED_OUT
    assert (reply.error_code, reply.error_message) == (timed_out, None)
    assert (partition.error_code, partition.error_message) == (timed_out, None)


def test_a_controller_that_does_not_lead() -> None:
    broker = AdminBroker()
    broker.world.controller.deactivate()
    reply = broker.call(HANDLER, alter([1]), 1, on_controller=True)
    assert reply.error_code == ErrorCode.NOT_CONTROLLER
