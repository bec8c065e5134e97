"""The one timer: what it does when, and that a failing directory stops nothing else."""

from __future__ import annotations

import errno
from collections.abc import Awaitable, Callable

import pytest

from pykbroker.config import TopicConfig
from pykbroker.environment.files import LogDirFailure
from pykbroker.log.directories.housekeeping_driver import HousekeepingDriver
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import TopicPartition
from tests.harness.environments import environment_at, run
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, loaded
from tests.log.log_makers import NOW_MS, NothingUnsynced, append, batch_of

SECOND = 1000


class House:
    """A manager, its driver, and a clock that the test moves."""

    def __init__(self, *directories: str) -> None:
        self.files = MemoryFiles()
        self.manager: LogManager = loaded(self.files, *directories)
        self.now_ms = NOW_MS
        self.wall_ahead_ms = 0
        self.high_watermarks: dict[TopicPartition, int] = {}
        self.failures: list[LogDirFailure] = []

    def on_failure(self, failure: LogDirFailure) -> None:
        self.failures.append(failure)
        self.manager.on_dir_failure(failure.directory, failure)

    def run(self, story: Callable[[HousekeepingDriver], Awaitable[None]]) -> None:
        async def main() -> None:
            driver = HousekeepingDriver(
                self.manager,
                environment_at(
                    now_ms=lambda: self.now_ms,
                    wall_ms=lambda: self.now_ms + self.wall_ahead_ms,
                ),
                high_watermarks=lambda: self.high_watermarks,
                on_failure=self.on_failure,
            )
            driver.start()
            try:
                await story(driver)
            finally:
                await driver.stop()

        run(main)


@pytest.fixture
def house() -> House:
    return House()


def test_retention_goes_by_the_wall(house: House) -> None:
    """It was set back an hour: what is due goes on, what is young by the wall stays."""
    log = house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(retention_ms="1000"))
    append(log, b"a", timestamp=NOW_MS - 5000)
    house.high_watermarks = {ORDERS[0]: 1}
    house.wall_ahead_ms = -3600 * SECOND

    async def story(driver: HousekeepingDriver) -> None:
        house.now_ms += 31 * SECOND
        await driver.run_due()
        assert log.log_start_offset == 0
        house.wall_ahead_ms = 0
        house.now_ms += 301 * SECOND
        await driver.run_due()
        assert log.log_start_offset == 1

    house.run(story)


def test_producers_survive_the_retention_of_all_their_records(house: House) -> None:
    """The snapshot is then all that is left of them."""
    log = house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(retention_ms="1"))
    batch = batch_of(b"a", producer=(7, 0, 0), timestamp=NOW_MS - 5000)
    assert log.append_as_leader(batch, 0, NOW_MS).error == 0
    log.write_pending()
    log.flush()
    house.files.sync_dir("/")
    house.high_watermarks = {ORDERS[0]: 1}

    async def story(driver: HousekeepingDriver) -> None:
        await driver.apply_retention()
        assert log.log_start_offset == 1

    house.run(story)
    house.files.sync_dir("/a/orders-0")  # at worst, the deletion is durable
    house.files.crash(NothingUnsynced())
    again = loaded(house.files).get(ORDERS[0])
    assert again is not None
    assert (again.log_end_offset, sorted(again.producers.producers)) == (1, [7])


def test_retention_comes_first_after_thirty_seconds(house: House) -> None:
    log = house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(retention_ms="1000"))
    append(log, b"a", timestamp=NOW_MS - 5000)
    house.high_watermarks = {ORDERS[0]: 1}

    async def story(driver: HousekeepingDriver) -> None:
        house.now_ms += 29 * SECOND
        await driver.run_due()
        assert log.log_start_offset == 0
        house.now_ms += 2 * SECOND
        await driver.run_due()
        assert log.log_start_offset == 1
        append(log, b"b", timestamp=NOW_MS - 5000)
        house.high_watermarks = {ORDERS[0]: 2}
        house.now_ms += 200 * SECOND
        await driver.run_due()
        assert log.log_start_offset == 1
        house.now_ms += 101 * SECOND
        await driver.run_due()
        assert log.log_start_offset == 2

    house.run(story)


def test_closed_segments_are_synced_and_deleted_files_unlinked(house: House) -> None:
    log = house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    append(log, b"a")
    log.roll(NOW_MS)
    append(log, b"b")

    async def story(driver: HousekeepingDriver) -> None:
        house.now_ms += SECOND
        await driver.run_due()
        assert log.recovery_point == 1
        log.truncate_to(0)
        house.now_ms += SECOND
        await driver.run_due()
        assert [n for n in house.files.listdir("/a/orders-0") if n.endswith(".deleted")]
        house.now_ms += 61 * SECOND
        await driver.run_due()
        assert not [n for n in house.files.listdir("/a/orders-0") if n.endswith(".deleted")]

    house.run(story)


def test_a_deleted_log_does_not_come_back_after_a_power_failure(house: House) -> None:
    house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    for path in ("/", "/a"):
        house.files.sync_dir(path)

    async def story(driver: HousekeepingDriver) -> None:
        house.manager.delete(ORDERS[0])
        house.now_ms += SECOND
        await driver.run_due()

    house.run(story)
    assert house.manager.removal.unsynced() == []
    house.files.crash(NothingUnsynced())
    (name,) = (name for name in house.files.listdir("/a") if name.startswith("orders"))
    assert name.endswith("-delete")


def test_a_directory_that_cannot_be_synced_does_not_keep_the_others_from_it() -> None:
    house = House("/a", "/b")
    for tp, path in zip(ORDERS[:2], ("/a", "/b"), strict=True):
        house.manager.create(tp, TOPIC_ID, TopicConfig.default(), path)
        house.manager.delete(tp)

    async def story(driver: HousekeepingDriver) -> None:
        house.files.fail = lambda name, path: OSError(errno.EIO, "bad") if path == "/a" else None
        house.now_ms += SECOND
        await driver.run_due()

    house.run(story)
    assert [failure.directory for failure in house.failures] == ["/a"]
    assert house.manager.removal.unsynced() == []


def test_checkpoints(house: House) -> None:
    log = house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    for _ in range(3):
        append(log, b"a")
    log.flush()
    log.advance_log_start_offset(1)
    house.high_watermarks = {ORDERS[0]: 3}

    async def story(driver: HousekeepingDriver) -> None:
        house.now_ms += 5 * SECOND
        await driver.run_due()
        assert house.files.read_file("/a/replication-offset-checkpoint") == b"0\n1\norders 0 3\n"
        assert not house.files.exists("/a/recovery-point-offset-checkpoint")
        house.now_ms += 26 * SECOND
        await driver.run_due()
        assert house.files.read_file("/a/recovery-point-offset-checkpoint") == b"0\n1\norders 0 3\n"
        assert house.files.read_file("/a/log-start-offset-checkpoint") == b"0\n1\norders 0 1\n"

    house.run(story)


def test_a_recovery_point_that_a_truncation_lowered_is_soon_on_disk(house: House) -> None:
    """After a power failure the start checks what has replaced the truncated records."""
    log = house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    append(log, b"a")
    append(log, b"b", b"c")
    path = "/a/recovery-point-offset-checkpoint"

    async def story(driver: HousekeepingDriver) -> None:
        log.flush()
        await driver.checkpoint_recovery_points()
        assert house.files.read_file(path) == b"0\n1\norders 0 3\n"
        log.truncate_to(1)
        house.now_ms += SECOND
        await driver.run_due()
        assert house.files.read_file(path) == b"0\n1\norders 0 1\n"
        append(log, b"d")
        log.flush()
        house.now_ms += SECOND
        await driver.run_due()
        assert house.files.read_file(path) == b"0\n1\norders 0 1\n"  # written once

    house.run(story)


def test_an_interval_of_zero_means_once(house: House) -> None:
    name = "log_flush_start_offset_checkpoint_interval_ms"
    setattr(house.manager.config, name, 0)
    log = house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    for _ in range(3):
        append(log, b"a")
    house.high_watermarks = {ORDERS[0]: 3}
    path = "/a/log-start-offset-checkpoint"

    async def story(driver: HousekeepingDriver) -> None:
        log.advance_log_start_offset(1)
        house.now_ms += 31 * SECOND
        await driver.run_due()
        assert house.files.read_file(path) == b"0\n1\norders 0 1\n"
        log.advance_log_start_offset(2)
        for _ in range(3):
            house.now_ms += 3600 * SECOND
            await driver.run_due()
        assert house.files.read_file(path) == b"0\n1\norders 0 1\n"

    house.run(story)


def test_unchanged_checkpoints_are_not_written_again(house: House) -> None:
    house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    house.high_watermarks = {ORDERS[0]: 0}

    async def story(driver: HousekeepingDriver) -> None:
        await driver.checkpoint_high_watermarks()
        calls = house.files.calls
        await driver.checkpoint_high_watermarks()
        assert house.files.calls == calls

    house.run(story)


def test_flush_ms(house: House) -> None:
    eager = house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(flush_ms="5000"))
    lazy = house.manager.create(ORDERS[1], TOPIC_ID, TopicConfig.default())
    append(eager, b"a")
    append(lazy, b"a")

    async def story(driver: HousekeepingDriver) -> None:
        await driver.flush_old()
        eager.flusher.last_flush_ms = house.now_ms
        house.now_ms += 5 * SECOND
        await driver.flush_old()
        assert (eager.recovery_point, lazy.recovery_point) == (1, 0)

    house.run(story)


def test_producers_expire(house: House) -> None:
    log = house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    log.append_as_leader(batch_of(b"x", producer=(7, 0, 0)), 0, NOW_MS)
    log.write_pending()

    async def story(driver: HousekeepingDriver) -> None:
        await driver.expire_producers()
        assert list(log.producers.producers) == [7]
        house.now_ms += 86_400 * SECOND
        await driver.expire_producers()
        assert log.producers.producers == {}

    house.run(story)


def test_a_failing_directory_is_reported_and_the_rest_goes_on() -> None:
    house = House("/a", "/b")
    logs = [house.manager.create(tp, TOPIC_ID, TopicConfig.default()) for tp in ORDERS[:2]]
    for log in logs:
        append(log, b"a")
        log.roll(NOW_MS)

    async def story(driver: HousekeepingDriver) -> None:
        house.files.fail = lambda name, path: (
            OSError(errno.EIO, "bad") if path.startswith("/a/") else None
        )
        house.now_ms += SECOND
        await driver.run_due()
        assert [failure.directory for failure in house.failures] == ["/a"]
        assert [log.recovery_point for log in logs] == [0, 1]
        assert [d.is_online for d in house.manager.directories] == [False, True]

    house.run(story)


def test_a_failing_directory_does_not_keep_the_others_from_their_checkpoints() -> None:
    house = House("/a", "/b")
    logs = [house.manager.create(tp, TOPIC_ID, TopicConfig.default()) for tp in ORDERS[:2]]
    path = "/b/recovery-point-offset-checkpoint"

    async def story(driver: HousekeepingDriver) -> None:
        for log in logs:
            append(log, b"a")
            append(log, b"b")
            log.flush()
        await driver.checkpoint_recovery_points()
        assert house.files.read_file(path) == b"0\n1\norders 1 2\n"
        for log in logs:
            log.truncate_to(1)
        house.files.fail = lambda name, path: (
            OSError(errno.EIO, "bad") if path.startswith("/a/") else None
        )
        house.now_ms += SECOND
        await driver.run_due()
        assert [failure.directory for failure in house.failures] == ["/a"]
        assert house.files.read_file(path) == b"0\n1\norders 1 1\n"

    house.run(story)


def test_a_checkpoint_that_cannot_be_repeated_does_not_keep_the_others_either() -> None:
    """A log is deleted while the file is written, so it is written once more."""
    house = House("/a", "/b")
    for topic_partition in ORDERS[:2]:
        house.manager.create(topic_partition, TOPIC_ID, TopicConfig.default())
    path = "/a/recovery-point-offset-checkpoint.tmp"
    renamed: list[str] = []

    def fail(call: str, at: str) -> OSError | None:
        if at != path:
            return None
        if call == "rename":
            renamed.append(at)
            house.manager.directories[0].checkpoints.forget(ORDERS[0])
        elif renamed:
            return OSError(errno.EIO, "bad")
        return None

    async def story(driver: HousekeepingDriver) -> None:
        house.files.fail = fail
        await driver.checkpoint_recovery_points()
        assert [failure.directory for failure in house.failures] == ["/a"]
        assert house.files.read_file("/b/recovery-point-offset-checkpoint") == b"0\n1\norders 1 0\n"

    house.run(story)


def test_a_damaged_log_does_not_keep_the_others_from_retention(house: House) -> None:
    config = TopicConfig.default(retention_ms="1")
    logs = [house.manager.create(tp, TOPIC_ID, config) for tp in ORDERS[:2]]
    for log in logs:
        append(log, b"a")
        log.roll(NOW_MS)
        log.segments.first.largest = None
        house.high_watermarks[log.topic_partition] = 1
    # Neither the index nor the log of the first one can be read.
    house.files.resize(logs[0].segments.first.time_index.path, 0)
    damaged = logs[0].segments.first
    damaged.time_index.unload()
    damaged.time_index.drop()
    house.files.write_file(damaged.time_index.path, b"\x00\x00\x01" * 4)
    damaged.file.pwritev([b"\xff" * 8], 8)

    async def story(driver: HousekeepingDriver) -> None:
        house.now_ms += 3600 * SECOND
        await driver.apply_retention()
        assert logs[1].log_start_offset == 1
        assert house.failures == []

    house.run(story)


def test_a_truncation_during_a_flush_keeps_the_recovery_point_back(house: House) -> None:
    log = house.manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    for _ in range(3):
        append(log, b"a")
    job = log.prepare_flush()
    assert job is not None
    job.run()
    log.truncate_to(1)
    for _ in range(5):
        append(log, b"b")
    log.complete_flush(job)
    assert log.recovery_point == 0
