"""A waiting append: written, acknowledged, failed, expired; what each does to its reply."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.replication.delayed_produce import DelayedProduce
from pykbroker.replication.partition import Partition
from tests.replication.node import Node


class Produce(DelayedProduce):
    """Its reply is a list of error codes."""

    def __init__(self, partitions: list[Partition], acks_all: bool) -> None:
        super().__init__(acks_all, None, Deferred())
        self.reply = []
        for partition in partitions:
            part = [0]
            self.reply.append(part)
            self.add(partition, 1, part)

    def fail_part(self, reply: Any, code: int) -> None:
        reply[0] = code


@pytest.fixture
def partitions() -> list[Partition]:
    """Two partitions with one record each in a log whose high watermark did not move yet."""
    node = Node()
    node.create_topic(partitions=2, replicas=(1, 2))
    found = [node.manager.find("t", p) for p in (0, 1)]
    for partition in found:
        assert partition is not None
        node.append(partition, b"v", acks=1)
    return found  # type: ignore[return-value]


def test_without_acks_all_the_write_is_enough(partitions: list[Partition]) -> None:
    produce = Produce(partitions, acks_all=False)
    assert produce.on_turn_written(()) is None
    assert produce.deferred.value == [[0], [0]]


def test_a_failed_write_fails_its_part_only(partitions: list[Partition]) -> None:
    produce = Produce(partitions, acks_all=False)
    assert produce.on_turn_written({partitions[1]}) is None
    assert produce.deferred.value == [[0], [ErrorCode.KAFKA_STORAGE_ERROR]]


def test_acks_all_waits_for_every_partition(partitions: list[Partition]) -> None:
    produce = Produce(partitions, acks_all=True)
    assert produce.on_turn_written(()) is produce
    partitions[0].high_watermark = 1
    assert not produce.try_complete()
    assert [append.partition for append in produce.pending] == [partitions[1]]
    partitions[1].high_watermark = 1
    assert produce.try_complete()
    assert produce.deferred.value == [[0], [0]]


def test_a_lost_partition_is_not_waited_for(partitions: list[Partition]) -> None:
    produce = Produce(partitions, acks_all=True)
    partitions[0].retire(int(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    partitions[1].high_watermark = 1
    assert produce.on_turn_written(()) is None
    assert produce.deferred.value == [[ErrorCode.NOT_LEADER_OR_FOLLOWER], [0]]


def test_an_isr_that_shrank_below_the_minimum_meanwhile(partitions: list[Partition]) -> None:
    produce = Produce(partitions[:1], acks_all=True)
    partitions[0].high_watermark = 1
    partitions[0]._min_isr = 3
    assert produce.try_complete()
    assert produce.deferred.value == [[ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND]]


def test_expiry_fails_what_is_still_pending(partitions: list[Partition]) -> None:
    produce = Produce(partitions, acks_all=True)
    partitions[0].high_watermark = 1
    assert not produce.try_complete()
    produce.expire()
    assert produce.deferred.value == [[0], [ErrorCode.REQUEST_TIMED_OUT]]
