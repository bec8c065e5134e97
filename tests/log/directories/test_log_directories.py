"""The log directories of a node: locks, look-ups, and those that fail."""

from __future__ import annotations

import pytest

from pykbroker.config import TopicConfig
from pykbroker.environment.files import LogDirFailure
from pykbroker.log.directories.checkpoints import MetaProperties
from pykbroker.log.directories.log_directories import LogDirectories
from pykbroker.log.directories.log_directory import DirectoryRefused
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, failing, loaded
from tests.log.log_makers import NOW_MS


@pytest.fixture
def files() -> MemoryFiles:
    return MemoryFiles()


def test_directories_are_locked(files: MemoryFiles) -> None:
    manager = loaded(files)
    with pytest.raises(DirectoryRefused, match="Failed to acquire lock on file"):
        loaded(files)
    manager.shutdown(NOW_MS)
    loaded(files)


def test_whose_directory_it_is(files: MemoryFiles) -> None:
    manager = loaded(files)
    (directory,) = manager.directories
    assert directory.directory_id is None
    meta = MetaProperties("cluster", 1, TOPIC_ID)
    files.write_file("/a/meta.properties", meta.to_bytes(NOW_MS))
    manager.shutdown(NOW_MS)
    again = loaded(files)
    assert again.directories[0].directory_id == TOPIC_ID
    assert again.directories.with_id(TOPIC_ID) is again.directories[0]
    assert again.directories.with_id(b"x" * 16) is None
    again.directories.unlock()
    files.write_file("/a/meta.properties", b"version=1\nnode.id=x\n")
    with pytest.raises(DirectoryRefused, match=r"/a/meta.properties, line 2"):
        loaded(files)
    assert files.lock("/a/.lock") is not None


def test_new_logs_go_where_the_fewest_are(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    homes = [manager.create(tp, TOPIC_ID, TopicConfig.default()).log_directory for tp in ORDERS]
    assert homes == ["/a", "/b", "/a", "/b"]


def test_no_directory_at_all_is_refused(files: MemoryFiles) -> None:
    files.fail = failing("/a")
    with pytest.raises(DirectoryRefused, match="None of the log directories /a can be used"):
        loaded(files)


def test_without_an_online_directory_a_new_log_fails_with_what_failed(files: MemoryFiles) -> None:
    manager = loaded(files)
    files.fail = failing("/a")
    with pytest.raises(LogDirFailure) as first:
        manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    manager.on_dir_failure("/a", first.value)
    with pytest.raises(LogDirFailure) as second:
        manager.create(ORDERS[1], TOPIC_ID, TopicConfig.default())
    assert second.value is first.value


def test_a_node_needs_its_metadata_and_one_directory(files: MemoryFiles) -> None:
    directories = loaded(files, "/a", "/b").directories
    first, second = directories
    directories.fail("/b")
    with pytest.raises(LogDirFailure, match="/b"):
        directories.at("/b")
    assert directories.loss_of(second, "/a") is None
    assert directories.loss_of(second, "/b") == "the metadata log is in /b, which failed"
    directories.fail("/a")
    assert directories.loss_of(first, "/c") == "/a, the last log directory, failed"


@pytest.mark.parametrize("metadata", ["/b", "/elsewhere"])
def test_a_clean_shutdown_is_forgotten_where_a_log_changes_before_all_are_loaded(
    files: MemoryFiles, metadata: str
) -> None:
    def opened() -> LogDirectories:
        directories = LogDirectories(files, ["/a", "/b"])
        directories.open()
        return directories

    for directory in opened():
        directory.write_clean_shutdown(17)
        directory.close()
    again = opened()
    assert again.take_clean_shutdown(metadata) == 17
    taken, other = ("/b", "/a") if metadata == "/b" else ("/a", "/b")
    assert not files.exists(f"{taken}/.kafka_cleanshutdown")
    assert files.exists(f"{other}/.kafka_cleanshutdown")
    assert [each.was_clean for each in again] == [taken == "/a", taken == "/b"]
    again.unlock()
    assert opened().take_clean_shutdown(metadata) is None


def test_a_directory_that_fails_at_that_is_offline(files: MemoryFiles) -> None:
    directories = LogDirectories(files, ["/a", "/b"])
    directories.open()
    files.fail = failing("/a")
    assert directories.take_clean_shutdown("/a") is None
    assert [each.is_online for each in directories] == [False, True]
