"""Copies of logs in other directories, and how they replace the logs."""

from __future__ import annotations

import pytest

from pykbroker.config import TopicConfig
from pykbroker.log.directories.log_directory import PartitionUnidentified
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, loaded
from tests.log.log_makers import NOW_MS, NothingUnsynced, append


@pytest.fixture
def files() -> MemoryFiles:
    return MemoryFiles()


def test_moving_a_partition_to_another_directory(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    for _ in range(3):
        append(log, b"x")
    future = manager.moves.create_copy(ORDERS[0], "/b")
    assert manager.future(ORDERS[0]) is future
    report = manager.reports()[1].logs[0]
    assert (report.is_future, report.offset_lag, report.size_bytes) == (True, 3, 0)
    outcome = log.read(0, 1 << 20, 3)
    assert outcome.slice is not None
    future.append_as_follower(outcome.slice.read(), NOW_MS)
    future.write_pending()
    moved = manager.moves.promote(ORDERS[0])
    assert manager.get(ORDERS[0]) is moved
    assert manager.future(ORDERS[0]) is None
    assert (moved.directory, moved.log_end_offset, moved.topic_id) == ("/b/orders-0", 3, TOPIC_ID)
    assert [name for name in files.listdir("/a") if name.endswith("-delete")]
    append(moved, b"y")
    manager.shutdown(NOW_MS)
    again = loaded(files, "/a", "/b")
    found = again.get(ORDERS[0])
    assert found is not None
    assert found.log_end_offset == 4


def test_a_future_copy_survives_a_restart_and_can_be_dropped(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    manager.moves.create_copy(ORDERS[0], "/b")
    manager.shutdown(NOW_MS)
    again = loaded(files, "/a", "/b")
    future = again.future(ORDERS[0])
    assert future is not None
    assert future.directory.startswith("/b/orders-0.")
    again.moves.drop_copy(ORDERS[0])
    assert again.future(ORDERS[0]) is None
    assert again.get(ORDERS[0]) is not None


def test_a_copy_that_was_dropped_does_not_come_back(files: MemoryFiles) -> None:
    """Not even after a power failure: beside the next one it would be a duplicate."""
    for path in ("/a", "/b", "/c"):
        files.mkdir(path)
    manager = loaded(files, "/a", "/b", "/c")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    for path in ("/b", "/c"):
        manager.moves.drop_copy(ORDERS[0])
        append(manager.moves.create_copy(ORDERS[0], path), b"x")
        files.sync_dir("/")
        files.sync_dir(path)
    files.crash(NothingUnsynced())
    names = [name for path in ("/b", "/c") for name in files.listdir(path)]
    assert [name.rpartition("-")[2] for name in names if name.startswith("orders")] == [
        "delete",
        "future",
    ]


def test_a_copy_whose_topic_id_was_never_synced_is_deleted(files: MemoryFiles) -> None:
    """If it replaced the log, the next start could not tell which topic the log belongs to."""
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    copy = manager.moves.create_copy(ORDERS[0], "/b")
    files.write_file(f"{copy.directory}/partition.metadata", b"")
    files.kill()
    again = loaded(files, "/a", "/b")
    assert again.future(ORDERS[0]) is None
    assert again.get(ORDERS[0]) is not None
    again.chores.due_deletions(NOW_MS)
    (deletion,) = again.chores.due_deletions(NOW_MS + again.config.log_segment_delete_delay_ms)
    assert deletion.paths == (copy.directory,)


def test_a_verification_survives_a_move(files: MemoryFiles) -> None:
    """Its guard is presented to the log that has taken the place of the one that issued it."""
    manager = loaded(files, "/a", "/b")
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    guard = log.producers.start_verification(7, 0, 0, True, NOW_MS)
    assert guard is not None
    manager.moves.create_copy(ORDERS[0], "/b")
    moved = manager.moves.promote(ORDERS[0])
    assert moved is not log
    moved.producers.verifications.check_guard(7, guard)


def test_a_crash_while_promoting_is_finished_by_the_next_start(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    manager.moves.create_copy(ORDERS[0], "/b")
    files.rename("/a/orders-0", f"/a/orders-0.{'1' * 32}-delete")
    files.kill()
    again = loaded(files, "/a", "/b")
    found = again.get(ORDERS[0])
    assert found is not None
    assert found.directory == "/b/orders-0"
    assert again.future(ORDERS[0]) is None


def test_the_copy_of_a_log_that_cannot_be_identified_does_not_replace_it(
    files: MemoryFiles,
) -> None:
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    manager.moves.create_copy(ORDERS[0], "/b")
    manager.shutdown(NOW_MS)
    files.write_file("/a/orders-0/partition.metadata", b"garbage")
    again = loaded(files, "/a", "/b")
    assert again.get(ORDERS[0]) is None
    with pytest.raises(PartitionUnidentified, match="/a/orders-0"):
        again.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), is_new=False)
    assert again.future(ORDERS[0]) is not None
