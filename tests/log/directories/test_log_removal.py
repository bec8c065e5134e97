"""Logs that are set aside or deleted, and that they do not come back."""

from __future__ import annotations

import pytest

from pykbroker.config import TopicConfig
from pykbroker.environment.files import LogDirFailure
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, failing, loaded
from tests.log.log_makers import NOW_MS, NothingUnsynced, append


@pytest.fixture
def files() -> MemoryFiles:
    return MemoryFiles()


def test_deleting(files: MemoryFiles) -> None:
    manager = loaded(files)
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    append(log, b"a")
    manager.delete(ORDERS[0])
    assert manager.get(ORDERS[0]) is None
    (name,) = [n for n in files.listdir("/a") if n.endswith("-delete")]
    assert not files.exists("/a/orders-0")
    recreated = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    assert recreated.log_end_offset == 0
    assert manager.chores.due_deletions(NOW_MS) == []
    (deletion,) = manager.chores.due_deletions(NOW_MS + 60_000)
    assert deletion == ((f"/a/{name}",), True)
    files.kill()
    again = loaded(files)
    assert again.chores.pending_deletions == 1
    assert [log.directory for log in again.logs()] == ["/a/orders-0"]


def test_strays_are_set_aside_and_stay(files: MemoryFiles) -> None:
    manager = loaded(files)
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    append(log, b"a")
    manager.make_stray(log)
    manager.make_stray(log)  # it is aside already
    (name,) = [n for n in files.listdir("/a") if n.endswith("-stray")]
    manager.shutdown(NOW_MS)
    again = loaded(files)
    assert list(again.logs()) == []
    assert files.is_dir(f"/a/{name}")


def test_a_stray_log_does_not_come_back(files: MemoryFiles) -> None:
    """Not even after a power failure: a log of its name may be elsewhere by then."""
    manager = loaded(files, "/a", "/b")
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    append(log, b"x")
    for path in ("/", "/a"):
        files.sync_dir(path)
    manager.make_stray(log)
    files.crash(NothingUnsynced())
    (name,) = (name for name in files.listdir("/a") if name.startswith("orders"))
    assert name.endswith("-stray")


def test_a_log_that_cannot_be_deleted_does_not_keep_its_copy(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    manager.moves.create_copy(ORDERS[0], "/b")
    files.fail = failing("/a")
    with pytest.raises(LogDirFailure, match="/a"):
        manager.delete(ORDERS[0])
    assert manager.future(ORDERS[0]) is None
    (name,) = (name for name in files.listdir("/b") if name.startswith("orders"))
    assert name.endswith("-delete")


def test_a_deleted_log_does_not_come_back_beside_one_in_another_directory(
    files: MemoryFiles,
) -> None:
    """A replica that leaves and returns may get another directory; the next start refuses two."""
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    for path in ("/", "/a", "/b"):
        files.sync_dir(path)
    manager.delete(ORDERS[0])
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/b")
    append(log, b"y")
    log.flush()
    files.crash(NothingUnsynced())
    found = loaded(files, "/a", "/b").get(ORDERS[0])
    assert found is not None
    assert (found.log_directory, found.log_end_offset) == ("/b", 1)


def test_a_log_that_is_created_where_another_was_deleted_waits_for_no_sync(
    files: MemoryFiles,
) -> None:
    manager = loaded(files)
    syncs: list[str] = []
    files.fail = lambda name, path: syncs.append(path) if name == "sync" else None
    for _ in range(2):
        manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
        manager.delete(ORDERS[0])
    assert syncs == []
    assert manager.removal.unsynced() == [(manager.directories[0], 2)]


def test_a_deletion_during_a_sync_waits_for_the_next(files: MemoryFiles) -> None:
    manager = loaded(files)
    for tp in ORDERS[:2]:
        manager.create(tp, TOPIC_ID, TopicConfig.default())
    manager.delete(ORDERS[0])
    ((directory, first),) = manager.removal.unsynced()
    manager.delete(ORDERS[1])
    manager.removal.synced(directory.path, first)
    ((directory, second),) = manager.removal.unsynced()
    manager.removal.synced(directory.path, second)
    assert manager.removal.unsynced() == []


def test_a_directory_that_cannot_be_synced_fails_and_the_log_is_created_elsewhere(
    files: MemoryFiles,
) -> None:
    manager = loaded(files, "/a", "/b")
    manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    manager.delete(ORDERS[0])
    files.fail = failing("/a")
    with pytest.raises(LogDirFailure, match="syncing") as caught:
        manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/b")
    assert not files.exists("/b/orders-0")
    manager.on_dir_failure(caught.value.directory, caught.value)
    assert manager.removal.unsynced() == []
    assert manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default()).log_directory == "/b"


def test_an_unopened_log_of_another_topic_does_not_come_back(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    manager.shutdown(NOW_MS)
    files.write_file("/a/orders-0/partition.metadata", b"garbage")
    for path in ("/", "/a"):
        files.sync_dir(path)
    loaded(files, "/a", "/b").create(ORDERS[0], b"another topic id", TopicConfig.default(), "/b")
    files.crash(NothingUnsynced())
    (name,) = (name for name in files.listdir("/a") if name.startswith("orders"))
    assert name.endswith("-stray")
