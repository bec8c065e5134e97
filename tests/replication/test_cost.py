"""What replication costs, counted: calls, steps, entries that are read, system calls.

One replica costs nothing for the others' sake; a session costs by what changed in it, not by its
partitions; large records are not read for a follower.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType

import pytest

from pykbroker.broker.requests.fetching import SMALL_BYTES
from pykbroker.environment.files import FileSlice
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication import fetch_reader
from pykbroker.replication.delayed_fetch import DelayedFetch
from pykbroker.replication.fetch_request import FetchParams, FetchPartition, FetchResult
from pykbroker.replication.partition import (
    LOG_END,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    Partition,
)
from tests.harness.stretches import StepCounter
from tests.replication.node import Node, batch
from tests.replication.test_follower_session import Follower, numbers

END_OF_A_TURN = Counter(
    {
        "replica_manager.end_turn": 1,
        "replica_manager._answer_waiting": 1,
        "partition.on_written": 1,
        "partition.is_lone": 1,
        "watchers.on_committed": 1,
    }
)


def calls_in_replication(step: Callable[[], object]) -> Counter[str]:
    """The functions of replication/ and of the purgatory that `step` calls."""
    found: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        module = code.co_filename.rpartition("pykbroker/")[2]
        if event == "call" and module.startswith(("replication/", "purgatory")):
            found[f"{module.rpartition('/')[2].removesuffix('.py')}.{code.co_name}"] += 1

    sys.setprofile(note)
    try:
        step()
    finally:
        sys.setprofile(None)
    return found


def turn_of(node: Node, name: str) -> Counter[str]:
    """What the end of a turn calls in which one batch was appended."""
    partition = node.manager.find(name, 0)
    assert partition is not None
    node.append(partition, b"first")
    node.manager.append(partition, batch(b"v"), 1, node.now_ms)
    return calls_in_replication(lambda: node.manager.end_turn(node.now_ms))


def test_one_replica_pays_for_no_other() -> None:
    node = Node()
    node.create_topic()
    assert turn_of(node, "t") == END_OF_A_TURN


def test_one_replica_pays_for_no_other_partitions_followers() -> None:
    follower = Follower()
    follower.broker.node.create_topic("lone", number=9)
    call = follower.fetch()
    assert turn_of(follower.broker.node, "lone") == END_OF_A_TURN
    assert call.is_waiting


def test_partitions_of_a_turn_share_its_end() -> None:
    node = Node()
    node.create_topic(partitions=3)
    partitions = [node.manager.find("t", number) for number in range(3)]
    for partition in partitions:
        assert partition is not None
        node.append(partition, b"first")
    for partition in partitions:
        assert partition is not None
        node.manager.append(partition, batch(b"v"), 1, node.now_ms)
    found = calls_in_replication(lambda: node.manager.end_turn(node.now_ms))
    each = {"partition.on_written": 3, "partition.is_lone": 3}
    assert found == END_OF_A_TURN | Counter(each)


@pytest.mark.parametrize("replicas", [(1,), (1, 2, 3)])
def test_a_turn_is_one_write_whatever_the_replicas(replicas: tuple[int, ...]) -> None:
    node = Node()
    partition = node.create_topic(replicas=replicas)
    node.append(partition, b"first")
    seen: Counter[str] = Counter()

    def note(call: str, path: str) -> None:
        seen[call] += 1

    node.files.fail = note
    for _ in range(5):
        node.manager.append(partition, batch(b"v"), 1, node.now_ms)
    node.end_turn()
    assert seen == {"write": 1}


def steps_of_an_idle_fetch(partitions: int) -> int:
    follower = Follower(partitions)
    follower.fetch(wait_ms=0)

    def idle() -> None:
        call = follower.fetch()
        follower.expire()
        assert numbers(call) == []

    return StepCounter().steps_of(idle)


def test_an_idle_fetch_costs_the_same_for_any_number_of_partitions() -> None:
    assert steps_of_an_idle_fetch(5) == steps_of_an_idle_fetch(300)


def test_an_append_has_a_session_look_at_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    follower = Follower()
    call = follower.fetch()
    looked_at: list[int] = []
    look = fetch_reader.is_follower_at_end

    def counted(partition: Partition, replica_id: int, asked: FetchPartition) -> bool:
        looked_at.append(partition.index)
        return look(partition, replica_id, asked)

    monkeypatch.setattr(fetch_reader, "is_follower_at_end", counted)
    follower.broker.node.append(follower.partition(7), b"a", acks=1)
    assert numbers(call) == [7]
    follower.fetch(7)
    assert looked_at == [7, 7]


def test_large_records_for_a_follower_are_not_read() -> None:
    """They go from the file to the socket."""
    follower = Follower()
    call = follower.fetch()
    files = follower.broker.node.files
    seen: Counter[str] = Counter()

    def note(name: str, path: str) -> None:
        seen[name] += 1

    files.fail = note
    follower.broker.node.append(follower.partition(7), b"a" * SMALL_BYTES, acks=1)
    files.fail = None
    entry = call.outcome.value.responses[0].partitions[0]
    assert isinstance(entry.records, FileSlice)
    assert seen == {"write": 1}


# ---- consumers' polls


class Poll(DelayedFetch):
    """It waits for more than comes, and counts how often it is looked at."""

    def __init__(self, node: Node, isolation: int) -> None:
        partition = node.manager.find("t", 0)
        assert partition is not None
        asked = FetchPartition("t", ZERO_UUID, 0, partition.log.log_end_offset, 1 << 20)
        asked.partition = partition
        replica_id = 2 if isolation == LOG_END else -1
        params = FetchParams(
            replica_id, min_bytes=1 << 20, isolation=0 if isolation == LOG_END else isolation
        )
        super().__init__(node.manager, params, FetchResult([asked]))
        self.looks = 0
        self.wait_until(node.now_ms + 1000)

    def is_enough(self) -> bool:
        self.looks += 1
        return super().is_enough()

    def answer(self) -> None:
        raise AssertionError("it has not got so many bytes")


def test_polls_are_looked_at_when_there_is_more_to_read_for_them() -> None:
    node = Node()
    node.register(2)
    partition = node.create_topic(replicas=(1, 2))
    follower, consumer = Poll(node, LOG_END), Poll(node, READ_UNCOMMITTED)
    node.append(partition, b"a")
    assert (follower.looks, consumer.looks) == (1, 0)
    node.append(partition, b"b")
    assert (follower.looks, consumer.looks) == (2, 0)
    node.follower_fetch(partition, 2)
    assert partition.high_watermark == 2
    assert (follower.looks, consumer.looks) == (3, 1)


def test_read_committed_polls_are_looked_at_when_the_last_stable_offset_moves() -> None:
    node = Node()
    partition = node.create_topic()
    consumer, committed = Poll(node, READ_UNCOMMITTED), Poll(node, READ_COMMITTED)
    node.append(partition, b"a")
    assert (consumer.looks, committed.looks) == (1, 1)
    transaction = {"producer_id": 5, "producer_epoch": 0, "is_transactional": True}
    for sequence in range(3):
        node.append(partition, b"t", base_sequence=sequence, **transaction)
    assert (consumer.looks, committed.looks) == (4, 1)
