"""A waiting fetch: answered once, by enough bytes or by the end of its time."""

from __future__ import annotations

from pykbroker.environment.files import LogDirFailure
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication.delayed_fetch import DelayedFetch
from pykbroker.replication.fetch_request import FetchParams, FetchPartition, FetchResult
from tests.replication.node import Node, batch


class Fetch(DelayedFetch):
    answers = 0

    def answer(self) -> None:
        self.answers += 1


def waiting(node: Node) -> Fetch:
    partition = node.manager.find("t", 0)
    assert partition is not None
    asked = FetchPartition("t", ZERO_UUID, 0, 0, 100)
    fetch = Fetch(node.manager, FetchParams(min_bytes=1), FetchResult([asked]))
    assert not fetch.try_complete()
    fetch.wait_until(node.now_ms + 500)
    return fetch


def test_bytes_end_the_wait() -> None:
    node = Node()
    partition = node.create_topic()
    fetch = waiting(node)
    node.append(partition, b"v")
    node.append(partition, b"w")
    node.purgatory.advance(node.now_ms + 1000)
    assert fetch.answers == 1


def test_time_ends_the_wait() -> None:
    node = Node()
    node.create_topic()
    fetch = waiting(node)
    node.purgatory.advance(node.now_ms + 500)
    node.append(node.manager.find("t", 0), b"v")  # type: ignore[arg-type]
    assert fetch.answers == 1


def test_of_many_partitions_only_the_written_one_is_looked_at() -> None:
    node = Node()
    node.create_topic(partitions=20)
    partitions = [node.manager.find("t", p) for p in range(20)]
    wanted = [FetchPartition("t", ZERO_UUID, p, 0, 100) for p in range(20)]
    fetch = Fetch(node.manager, FetchParams(min_bytes=1), FetchResult(wanted))
    assert not fetch.try_complete()
    fetch.wait_until(node.now_ms + 500)
    node.append(partitions[13], b"v")  # type: ignore[arg-type]
    assert fetch.answers == 1


def test_min_bytes_are_gathered_from_all_of_many_partitions() -> None:
    node = Node()
    node.create_topic(partitions=20)
    partitions = [node.manager.find("t", p) for p in range(20)]
    wanted = [FetchPartition("t", ZERO_UUID, p, 0, 1000) for p in range(20)]
    size = len(batch(b"v"))
    fetch = Fetch(node.manager, FetchParams(min_bytes=3 * size), FetchResult(wanted))
    assert not fetch.try_complete()
    fetch.wait_until(node.now_ms + 500)
    for number, answers in ((13, 0), (2, 0), (7, 1)):
        node.append(partitions[number], b"v")  # type: ignore[arg-type]
        assert fetch.answers == answers, number


def test_two_bytes_are_more_than_any_byte() -> None:
    """The smallest `min_bytes` for which the written partition alone is not enough to look at."""
    node = Node()
    node.create_topic(partitions=20)
    partitions = [node.manager.find("t", p) for p in range(20)]
    wanted = [FetchPartition("t", ZERO_UUID, p, 0, 1) for p in range(20)]  # one byte counts of each
    fetch = Fetch(node.manager, FetchParams(min_bytes=2), FetchResult(wanted))
    assert not fetch.try_complete()
    fetch.wait_until(node.now_ms + 500)
    node.append(partitions[3], b"v")  # type: ignore[arg-type]
    assert fetch.answers == 0
    node.append(partitions[4], b"v")  # type: ignore[arg-type]
    assert fetch.answers == 1


class Failing(Fetch):
    """Its disk fails when it reads what it was woken for."""

    def answer(self) -> None:
        super().answer()
        self._manager.on_directory_failure(LogDirFailure("/data", "reading", OSError(5, "broken")))


def test_a_fetch_that_finds_its_disk_failed_answers_once() -> None:
    """Then the other partitions of the directory are checked, for which it waits, too."""
    node = Node()
    node.create_topic(partitions=3)
    wanted = [FetchPartition("t", ZERO_UUID, number, 0, 100) for number in range(3)]
    fetch = Failing(node.manager, FetchParams(min_bytes=1), FetchResult(wanted))
    assert not fetch.try_complete()
    fetch.wait_until(node.now_ms + 500)
    partition = node.manager.find("t", 1)
    assert partition is not None
    node.append(partition, b"v")
    node.purgatory.advance(node.now_ms + 1000)
    assert fetch.answers == 1
    assert [node.manager.find("t", number).hosted for number in range(3)] == [False] * 3  # type: ignore[union-attr]
