"""Closing many logs: in which order, and how often the event loop may have a turn meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pykbroker.config import TopicConfig
from pykbroker.deferred import Deferred, spawn
from pykbroker.environment.files import LogDirFailure
from pykbroker.log.directories.checkpoints import (
    CLEAN_SHUTDOWN,
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
)
from pykbroker.log.directories.closing import (
    LOGS_CLOSED_AT_ONCE,
    Closing,
    Job,
    run_in_place,
)
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import TopicPartition
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, failing, loaded
from tests.log.log_makers import append

CLEAN = f"/a/{CLEAN_SHUTDOWN}"
HIGH_WATERMARKS = REPLICATION_OFFSET_CHECKPOINT
MARKS = {
    HIGH_WATERMARKS,
    RECOVERY_POINT_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    CLEAN_SHUTDOWN,
}


@pytest.fixture
def files() -> MemoryFiles:
    return MemoryFiles()


def many_logs(files: MemoryFiles, count: int) -> LogManager:
    manager = loaded(files)
    for number in range(count):
        partition = TopicPartition("many", number)
        append(manager.create(partition, TOPIC_ID, TopicConfig.default()), b"a")
    return manager


def test_the_loop_may_have_a_turn_before_and_after_each_log(files: MemoryFiles) -> None:
    count = LOGS_CLOSED_AT_ONCE + 3
    manager = many_logs(files, count)
    rests: list[Deferred] = []

    def rest() -> Deferred:
        rests.append(Deferred())
        return rests[-1]

    closing = spawn(manager.close_logs(17, None, Closing(run_in_place, rest)))
    while not closing.done:
        assert not files.exists(CLEAN)
        rests[-1].resolve(None)
    assert len(rests) == 2 * count
    assert files.exists(CLEAN)


def test_what_waits_for_the_disk_comes_in_the_order_of_durability(files: MemoryFiles) -> None:
    manager = many_logs(files, LOGS_CLOSED_AT_ONCE + 3)
    offsets = {TopicPartition("many", 0): 1}
    seen: list[tuple[int, set[str]]] = []

    def run_jobs(jobs: Sequence[Job]) -> Deferred:
        done = run_in_place(jobs)
        seen.append((len(jobs), {*files.listdir("/a")} & MARKS))
        return done

    closing = spawn(manager.close_logs(17, offsets, Closing(run_jobs, lambda: None)))
    assert closing.done
    assert seen == [
        (1, {HIGH_WATERMARKS}),
        (LOGS_CLOSED_AT_ONCE, {HIGH_WATERMARKS}),
        (3, {HIGH_WATERMARKS}),
        (2, MARKS - {CLEAN_SHUTDOWN}),
        (1, MARKS),
    ]
    again = loaded(files)
    assert again.directories[0].was_clean
    assert len(list(again.logs())) == LOGS_CLOSED_AT_ONCE + 3


def test_a_disk_that_fails_meanwhile_leaves_no_clean_mark(
    files: MemoryFiles, caplog: pytest.LogCaptureFixture
) -> None:
    manager = loaded(files, "/a", "/b")
    for partition, directory in ((ORDERS[0], "/a"), (ORDERS[1], "/b")):
        append(manager.create(partition, TOPIC_ID, TopicConfig.default(), directory), b"a")
    waiting: list[tuple[Sequence[Job], Deferred]] = []

    def run_jobs(jobs: Sequence[Job]) -> Deferred:
        waiting.append((jobs, Deferred()))
        return waiting[-1][1]

    offsets = {ORDERS[1]: 1}
    closing = spawn(manager.close_logs(17, offsets, Closing(run_jobs, lambda: None)))
    _, writing = waiting.pop()
    writing.resolve(LogDirFailure("/a", "writing", OSError("no space")))
    files.fail = failing("/a/")
    while not closing.done:
        jobs, done = waiting.pop()
        done.resolve(run_in_place(jobs).value)
    assert "The high watermarks were not written" in caplog.text
    assert "The shutdown was not clean: closing orders-0 in log directory /a" in caplog.text
    assert not files.exists(CLEAN)
    assert files.exists("/b/.kafka_cleanshutdown")
    assert files.read_file(f"/b/{HIGH_WATERMARKS}") == b"0\n1\norders 1 1\n"
