"""pykbroker.log.directories.log_promotion: the two renames, and the disks that refuse them."""

from __future__ import annotations

import errno

import pytest

from pykbroker.config import TopicConfig
from pykbroker.environment.files import LogDirFailure
from pykbroker.log.directories.log_promotion import put_in_place
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, loaded
from tests.log.log_makers import NothingUnsynced, append, values_of

ASIDE = f"orders-0.{'0' * 32}-delete"


def log_and_copy(files: MemoryFiles) -> tuple[PartitionLog, PartitionLog]:
    manager = loaded(files, "/a", "/b")
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    copy = manager.moves.create_copy(ORDERS[0], "/b")
    for each in (log, copy):
        append(each, b"a", b"b")
        each.flush()
    return log, copy


def test_the_copy_gets_the_name() -> None:
    files = MemoryFiles()
    log, copy = log_and_copy(files)
    put_in_place(log, ASIDE, copy)
    assert (log.directory, copy.directory) == (f"/a/{ASIDE}", "/b/orders-0")
    files.kill()
    found = loaded(files, "/a", "/b").get(ORDERS[0])
    assert found is not None
    assert found.directory == "/b/orders-0"


@pytest.mark.parametrize("call", ["rename", "sync"])
def test_a_copy_that_cannot_have_it(call: str) -> None:
    """The log must not keep the name of one to be deleted, with records that follow."""
    files = MemoryFiles()
    log, copy = log_and_copy(files)

    def fail(name: str, path: str) -> OSError | None:
        is_target = path.startswith("/b") and name == call
        return OSError(errno.EIO, "broken") if is_target else None

    files.fail = fail
    with pytest.raises(LogDirFailure) as caught:
        put_in_place(log, ASIDE, copy)
    assert caught.value.directory == "/b"
    files.fail = None
    append(log, b"after it")
    log.close()
    copy.release()
    files.kill()
    found = loaded(files, "/a", "/b").get(ORDERS[0])
    assert found is not None
    assert found.directory == "/a/orders-0"
    assert values_of(found) == [b"a", b"b", b"after it"]


def test_a_log_that_cannot_be_set_aside() -> None:
    files = MemoryFiles()
    log, copy = log_and_copy(files)
    files.fail = lambda name, path: (
        OSError(errno.EIO, "broken") if path.startswith("/a") and name == "rename" else None
    )
    with pytest.raises(LogDirFailure) as caught:
        put_in_place(log, ASIDE, copy)
    assert caught.value.directory == "/a"
    assert copy.directory.endswith("-future")
    assert not copy.is_offline


def test_a_log_that_was_set_aside_does_not_come_back() -> None:
    """The process ended before that was synced; the next one gives the copy the name of the log,
    and then the power fails.
    """
    files = MemoryFiles()
    log, copy = log_and_copy(files)
    for path in ("/", "/a", "/b"):
        files.sync_dir(path)
    files.fail = lambda name, path: (
        OSError(errno.EIO, "broken") if (name, path) == ("sync", "/a") else None
    )
    with pytest.raises(LogDirFailure):
        put_in_place(log, ASIDE, copy)
    files.kill()
    loaded(files, "/a", "/b")
    files.crash(NothingUnsynced())
    found = loaded(files, "/a", "/b").get(ORDERS[0])
    assert found is not None
    assert found.directory == "/b/orders-0"
    assert values_of(found) == [b"a", b"b"]
