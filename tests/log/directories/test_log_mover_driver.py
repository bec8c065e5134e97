"""Partitions on their way from one log directory to another."""

from __future__ import annotations

import errno
from collections.abc import Awaitable, Callable, Sequence

import pytest

from pykbroker.config import TopicConfig
from pykbroker.deferred import Deferred
from pykbroker.environment.background import Threads
from pykbroker.environment.files import LogDirFailure
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.directories import log_mover_driver
from pykbroker.log.directories.log_mover_driver import LogMover
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.record_batch import iter_batches
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import TopicPartition
from tests.harness.environments import environment_at, run
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, loaded
from tests.log.log_makers import NOW_MS, append, batch_of, values_of


class Moving:
    """A manager of several directories, one log with some records in /a, and a mover."""

    def __init__(
        self, files: MemoryFiles | None = None, directories: Sequence[str] = ("/a", "/b")
    ) -> None:
        self.files = files or MemoryFiles()
        self.manager = loaded(self.files, *directories)
        self.failures: list[LogDirFailure] = []
        self.moved: list[PartitionLog] = []
        self.manager.follow_moves(lambda tp, log: self.moved.append(log))

    def fill(self, records: int = 20) -> PartitionLog:
        log = self.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
        for number in range(records):
            append(log, b"%d" % number, epoch=number // 8)
            if number % 7 == 6:
                log.roll(NOW_MS)
        return log

    def on_failure(self, failure: LogDirFailure) -> None:
        self.failures.append(failure)
        self.manager.on_dir_failure(failure.directory, failure)

    def run(self, story: Callable[[LogMover], Awaitable[None]]) -> None:
        async def main() -> None:
            mover = LogMover(self.manager, environment_at(lambda: NOW_MS), self.on_failure)
            try:
                await story(mover)
            finally:
                await mover.stop()

        run(main)

    def move(self) -> PartitionLog:
        """Move the log to "/b"; return the copy that has replaced it."""

        async def story(mover: LogMover) -> None:
            mover.move(ORDERS[0], "/b")
            await finished(mover)

        return self._moved(story)

    def resume(self) -> PartitionLog:
        """Let the move that the previous run had begun end; return what is the log then."""

        async def story(mover: LogMover) -> None:
            mover.resume()
            await finished(mover)

        return self._moved(story)

    def _moved(self, story: Callable[[LogMover], Awaitable[None]]) -> PartitionLog:
        self.run(story)
        moved = self.manager.get(ORDERS[0])
        assert moved is not None
        return moved


class Overtaken:
    """Threads before whose first job something else happens."""

    def __init__(self, threads: Threads, before: Callable[[], object]) -> None:
        self._threads = threads
        self._before: Callable[[], object] | None = before

    def run(self, job: Callable[[], object]) -> Deferred:
        before, self._before = self._before, None
        if before is not None:
            before()
        return self._threads.run(job)

    def close(self) -> None:
        self._threads.close()


async def finished(mover: LogMover) -> None:
    while mover.moving:
        await mover._scheduler.sleep(0)


async def begin_move(moving: Moving, mover: LogMover, until: int) -> None:
    """Move a log to "/b"; return when its copy ends at `until` or later."""
    mover.move(ORDERS[0], "/b")
    future = moving.manager.future(ORDERS[0])
    assert future is not None
    while future.log_end_offset < until:
        await mover._scheduler.sleep(0)


def offsets(log: PartitionLog) -> list[int]:
    found: list[int] = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        outcome = log.read(offset, 1 << 20, log.log_end_offset)
        assert outcome.slice is not None
        for header, _ in iter_batches(outcome.slice.read(), partial_tail=True):
            found.append(header.base_offset)
            offset = header.next_offset
    return found


def test_a_move_while_the_partition_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_mover_driver, "CHUNK_BYTES", 200)
    moving = Moving()
    log = moving.fill()
    log.append_as_leader(batch_of(b"p", producer=(5, 0, 0)), 2, NOW_MS)
    log.write_pending()

    async def story(mover: LogMover) -> None:
        mover.move(ORDERS[0], "/b")
        for number in range(10):
            append(log, b"more %d" % number, epoch=3)
            await mover._scheduler.sleep(0)
        await finished(mover)

    moving.run(story)
    new = moving.manager.get(ORDERS[0])
    assert new is not None
    assert moving.moved == [new]
    assert new.local.identity is log.local.identity
    assert (new.directory, log.is_offline) == ("/b/orders-0", True)
    assert offsets(new) == list(range(31))
    assert new.leader_epochs.epochs.entries == [(0, 0), (1, 8), (2, 16), (3, 21)]
    assert new.producers.producers[5].last_sequence == 0
    assert new.topic_id == TOPIC_ID
    assert [name for name in moving.files.listdir("/a") if name.endswith("-delete")]
    assert append(new, b"next", epoch=3) == 31


def test_records_that_are_deleted_before_the_copy_gets_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DeleteRecords within a segment: its base offset says nothing of where the log starts."""
    monkeypatch.setattr(log_mover_driver, "CHUNK_BYTES", 200)
    moving = Moving()
    log = moving.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    for number in range(40):
        append(log, b"%d" % number)

    async def story(mover: LogMover) -> None:
        mover.move(ORDERS[0], "/b")
        await mover._scheduler.sleep(0)
        log.advance_log_start_offset(35)
        await finished(mover)

    moving.run(story)
    new = moving.manager.get(ORDERS[0])
    assert new is not None
    assert (new.log_directory, new.log_start_offset, new.log_end_offset) == ("/b", 35, 40)
    assert offsets(new) == list(range(35, 40))


def test_a_log_start_that_was_durable_still_is(monkeypatch: pytest.MonkeyPatch) -> None:
    moving = Moving()
    log = moving.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    append(log, b"a", b"b", b"c")
    append(log, b"d")
    log.advance_log_start_offset(1)
    moving.manager.checkpoint_log_start_offsets(moving.manager.directories.at("/a"))

    moving.move()
    moving.files.kill()
    again = loaded(moving.files, "/a", "/b").get(ORDERS[0])
    assert again is not None
    assert (again.log_directory, again.log_start_offset) == ("/b", 1)


def test_log_start_within_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    moving = Moving()
    log = moving.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    append(log, b"a", b"b", b"c")
    append(log, b"d")
    log.advance_log_start_offset(1)

    new = moving.move()
    assert (new.log_start_offset, new.log_end_offset) == (1, 4)


def test_what_cannot_be_moved() -> None:
    moving = Moving()
    moving.fill()

    async def story(mover: LogMover) -> None:
        long = TopicPartition("t" * 249, 0)
        for partition, path, code in (
            (ORDERS[0], "/c", ErrorCode.LOG_DIR_NOT_FOUND),
            (ORDERS[1], "/b", ErrorCode.REPLICA_NOT_AVAILABLE),
            (long, "/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ):
            with pytest.raises(KafkaError) as caught:
                mover.move(partition, path)
            assert caught.value.code == code
        mover.move(ORDERS[0], "/a")
        assert mover.moving == []
        moving.manager.on_dir_failure("/b")
        with pytest.raises(KafkaError) as caught:
            mover.move(ORDERS[0], "/b")
        assert caught.value.code == ErrorCode.KAFKA_STORAGE_ERROR

    moving.run(story)


def test_a_move_survives_a_restart_and_can_be_called_back() -> None:
    moving = Moving()
    moving.fill()

    async def begin(mover: LogMover) -> None:
        mover.move(ORDERS[0], "/b")
        await mover._scheduler.sleep(0)

    moving.run(begin)
    assert moving.manager.future(ORDERS[0]) is not None
    moving.files.kill()
    again = Moving(moving.files)
    new = again.resume()
    assert new.directory == "/b/orders-0"

    async def regret(mover: LogMover) -> None:
        mover.move(ORDERS[0], "/a")
        assert mover.moving == [ORDERS[0]]
        mover.move(ORDERS[0], "/b")
        assert mover.moving == []
        assert again.manager.future(ORDERS[0]) is None

    again.run(regret)
    assert offsets(new) == list(range(20))


def test_a_copy_that_cannot_be_dropped_takes_its_directory_offline() -> None:
    moving = Moving(directories=("/a", "/b", "/c"))
    log = moving.fill()

    async def story(mover: LogMover) -> None:
        mover.move(ORDERS[0], "/b")
        moving.files.fail = lambda name, path: (
            OSError(errno.EIO, "broken") if path.startswith("/b") else None
        )
        with pytest.raises(KafkaError) as raised:
            mover.move(ORDERS[0], "/c")
        assert raised.value.code == ErrorCode.KAFKA_STORAGE_ERROR
        await finished(mover)

    moving.run(story)
    assert [failure.directory for failure in moving.failures] == ["/b"]
    assert moving.manager.get(ORDERS[0]) is log
    assert moving.manager.future(ORDERS[0]) is None


def test_a_log_that_ends_with_a_gap() -> None:
    """As after a power failure: the last segment is empty, and begins behind the last batch."""
    moving = Moving()
    moving.fill().skip_to(25, NOW_MS)

    log = moving.move()
    assert (log.directory, log.log_end_offset, log.recovery_point) == ("/b/orders-0", 25, 25)
    assert append(log, b"next", epoch=3) == 25
    moving.files.kill()
    again = loaded(moving.files, "/a", "/b").get(ORDERS[0])
    assert again is not None
    assert offsets(again) == [*range(20), 25]


def test_a_target_that_fails_leaves_the_partition_where_it_was() -> None:
    moving = Moving()
    log = moving.fill()

    async def story(mover: LogMover) -> None:
        mover.move(ORDERS[0], "/b")
        moving.files.fail = lambda name, path: (
            OSError(errno.ENOSPC, "full") if path.startswith("/b") else None
        )
        await finished(mover)

    moving.run(story)
    assert [failure.directory for failure in moving.failures] == ["/b"]
    assert moving.manager.get(ORDERS[0]) is log
    assert moving.manager.future(ORDERS[0]) is None
    assert not log.is_offline


def test_truncation_of_the_log_while_it_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_mover_driver, "CHUNK_BYTES", 100)
    moving = Moving()
    log = moving.fill()

    async def story(mover: LogMover) -> None:
        await begin_move(moving, mover, 9)
        log.truncate_to(5)
        append(log, b"other", epoch=7)
        await finished(mover)

    moving.run(story)
    new = moving.manager.get(ORDERS[0])
    assert new is not None
    assert offsets(new) == [0, 1, 2, 3, 4, 5]
    assert new.leader_epochs.latest_epoch == 7


def test_truncation_of_the_log_before_a_move_is_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its node may stop between the truncation and the next look at the copy."""
    monkeypatch.setattr(log_mover_driver, "CHUNK_BYTES", 100)
    moving = Moving()
    log = moving.fill()

    async def begin(mover: LogMover) -> None:
        await begin_move(moving, mover, 18)

    moving.run(begin)
    log.truncate_to(10)
    for number in range(15):
        append(log, b"other %d" % number, epoch=7)
    moving.manager.shutdown(NOW_MS)
    again = Moving(moving.files)
    new = again.resume()
    assert new.log_directory == "/b"
    expected = [b"%d" % number for number in range(10)]
    assert values_of(new) == expected + [b"other %d" % number for number in range(15)]
    assert new.leader_epochs.epochs.entries == [(0, 0), (1, 8), (7, 10)]


def test_a_copy_that_shares_no_epoch_with_the_log_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_mover_driver, "CHUNK_BYTES", 100)
    moving = Moving()
    log = moving.fill()

    async def story(mover: LogMover) -> None:
        await begin_move(moving, mover, 18)
        log.truncate_fully_and_start_at(15)
        for number in range(10):
            append(log, b"other %d" % number, epoch=9)
        await finished(mover)

    moving.run(story)
    new = moving.manager.get(ORDERS[0])
    assert new is not None
    assert (new.log_start_offset, new.log_end_offset) == (15, 25)
    assert values_of(new, 15) == [b"other %d" % number for number in range(10)]
    assert new.leader_epochs.epochs.entries == [(9, 15)]


def test_truncation_of_the_log_while_it_is_read() -> None:
    """What the thread wants to read is not there any more."""
    moving = Moving()
    log = moving.fill()

    async def story(mover: LogMover) -> None:
        mover._threads = Overtaken(mover._threads, lambda: log.truncate_to(5))
        mover.move(ORDERS[0], "/b")
        await finished(mover)

    moving.run(story)
    new = moving.manager.get(ORDERS[0])
    assert new is not None
    assert new.log_directory == "/b"
    assert moving.failures == []
    assert values_of(new) == [b"0", b"1", b"2", b"3", b"4"]


def test_a_log_that_cannot_be_read() -> None:
    moving = Moving()
    log = moving.fill()

    def fail() -> None:
        raise OSError(errno.EIO, "broken")

    async def story(mover: LogMover) -> None:
        mover._threads = Overtaken(mover._threads, fail)
        mover.move(ORDERS[0], "/b")
        await finished(mover)

    moving.run(story)
    assert [failure.directory for failure in moving.failures] == ["/a"]
    assert log.is_offline


def test_a_log_that_is_deleted_while_it_cannot_be_read() -> None:
    moving = Moving()
    moving.fill()

    def delete_and_fail() -> None:
        moving.manager.delete(ORDERS[0])
        raise OSError(errno.EIO, "broken")

    async def story(mover: LogMover) -> None:
        mover._threads = Overtaken(mover._threads, delete_and_fail)
        mover.move(ORDERS[0], "/b")
        await finished(mover)

    moving.run(story)
    assert moving.failures == []


def test_a_deleted_partition_is_not_moved_on() -> None:
    moving = Moving()
    moving.fill()

    async def story(mover: LogMover) -> None:
        mover.move(ORDERS[0], "/b")
        moving.manager.delete(ORDERS[0])
        await finished(mover)

    moving.run(story)
    assert moving.moved == []
    assert moving.failures == []
    assert moving.manager.get(ORDERS[0]) is None


def test_a_copy_is_not_continued_for_a_topic_of_the_same_name() -> None:
    """The directory of the log fails during the move; then the topic is deleted and recreated."""
    moving = Moving(directories=("/a", "/b", "/c"))
    moving.fill()

    async def story(mover: LogMover) -> None:
        mover.move(ORDERS[0], "/b")
        copy = moving.manager.future(ORDERS[0])
        assert copy is not None
        while copy.log_end_offset < 20:
            await mover._scheduler.sleep(0)
        moving.manager.on_dir_failure("/a")
        await finished(mover)
        new = moving.manager.create(ORDERS[0], bytes(16), TopicConfig.default(), "/c")
        append(new, b"other")
        assert moving.manager.future(ORDERS[0]) is None
        with pytest.raises(KafkaError):
            mover.move(ORDERS[0], "/b")

    moving.run(story)
    new = moving.manager.get(ORDERS[0])
    assert new is not None
    assert values_of(new) == [b"other"]
