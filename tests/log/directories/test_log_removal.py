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
