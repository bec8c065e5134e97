"""Prepared produces that wait for replicas are answered as the general path answers them.

Each test runs on the general path as well: its expectation is of both.
"""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.produce_response import ProduceResponse
from tests.broker.prepared.test_produce import Node, offsets, produce, read
from tests.replication.node import topic_id_of

VERSION = 13
WAIT_MS = 10
TIMED_OUT = int(ErrorCode.REQUEST_TIMED_OUT)
NOT_LEADER = int(ErrorCode.NOT_LEADER_OR_FOLLOWER)


def changed(number: int, **fields: Any) -> PartitionChangeRecord:
    return PartitionChangeRecord(topic_id=topic_id_of(7), partition_id=number, **fields)


class Waiting:
    """A node on which a request to partitions 0 and 1 waits for replica 2."""

    def __init__(self, is_prepared: bool) -> None:
        self.node = Node(replicas=(1, 2), isr=(1, 2))
        self.node.broker.node.register(2)
        assert self.node.ask(produce(VERSION, 0, 1)) == b""
        self.acknowledge(0, 1)
        self.acknowledge(1, 1)
        self.node.broker.wake()
        assert [number for number, _ in read(self.node.ask(), VERSION)] == [5]
        # A request with another time-out than the one before is not served as prepared.
        timeout_ms = WAIT_MS if is_prepared else WAIT_MS - 1
        frame = produce(VERSION, 0, 1, correlation_id=8, timeout_ms=timeout_ms)
        assert self.node.ask(frame) == b""
        assert self.node.general == (1 if is_prepared else 2)

    def acknowledge(self, number: int, offset: int) -> None:
        """Replica 2 has everything before `offset`."""
        partition = self.node.broker.replica_manager.find("t", number)
        assert partition is not None
        self.node.broker.node.follower_fetch(partition, offset)

    def apply(self, record: PartitionChangeRecord) -> None:
        self.node.broker.node.apply(record)

    def expire(self) -> None:
        now_ms = self.node.broker.node.now_ms + WAIT_MS
        self.node.broker.purgatory.advance(now_ms)

    def answer(self) -> ProduceResponse | None:
        self.node.broker.wake()
        replies = read(self.node.ask(), VERSION)
        if not replies:
            return None
        ((number, reply),) = replies
        assert number == 8
        return reply


@pytest.fixture(params=[True, False], ids=["prepared", "general"])
def waiting(request: pytest.FixtureRequest) -> Waiting:
    return Waiting(request.param)


def outcome(reply: ProduceResponse | None) -> list[tuple[int, int, int]]:
    assert reply is not None
    return offsets(reply)


def test_all_partitions_are_waited_for(waiting: Waiting) -> None:
    waiting.acknowledge(1, 2)
    assert waiting.answer() is None
    waiting.acknowledge(0, 2)
    assert outcome(waiting.answer()) == [(0, 0, 1), (1, 0, 1)]


def test_what_is_not_acknowledged_in_time_is_told(waiting: Waiting) -> None:
    waiting.acknowledge(1, 2)
    waiting.expire()
    assert outcome(waiting.answer()) == [(0, TIMED_OUT, 1), (1, 0, 1)]


def test_a_lost_leadership_is_told_when_the_others_are_acknowledged(waiting: Waiting) -> None:
    waiting.apply(changed(0, leader=2))
    assert waiting.answer() is None
    waiting.acknowledge(1, 2)
    reply = waiting.answer()
    assert outcome(reply) == [(0, NOT_LEADER, 1), (1, 0, 1)]
    assert reply is not None
    hint = reply.responses[0].partition_responses[0].current_leader
    assert hint is not None
    assert hint.leader_id == 2


def test_what_was_acknowledged_stays_so(waiting: Waiting) -> None:
    waiting.acknowledge(1, 2)
    waiting.apply(changed(1, leader=2))
    assert waiting.answer() is None
    waiting.acknowledge(0, 2)
    assert outcome(waiting.answer()) == [(0, 0, 1), (1, 0, 1)]


def test_what_failed_stays_failed_and_the_deadline_is_the_first_one(waiting: Waiting) -> None:
    waiting.apply(changed(0, leader=2))
    waiting.apply(changed(0, leader=1))
    assert waiting.answer() is None
    waiting.expire()
    assert outcome(waiting.answer()) == [(0, NOT_LEADER, 1), (1, TIMED_OUT, 1)]
