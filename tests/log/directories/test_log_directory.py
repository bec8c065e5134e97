"""One log directory and its small files."""

from __future__ import annotations

import errno

import pytest

from pykbroker.environment.files import LogDirFailure
from pykbroker.log.directories.checkpoints import RECOVERY_POINT_CHECKPOINT, MetaProperties
from pykbroker.log.directories.log_directory import DirectoryRefused, LogDirectory
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import TopicPartition

ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def files() -> MemoryFiles:
    return MemoryFiles()


def test_opened_twice(files: MemoryFiles) -> None:
    first = LogDirectory(files, "/a")
    first.open()
    with pytest.raises(DirectoryRefused, match="another process or thread"):
        LogDirectory(files, "/a").open()
    first.close()
    LogDirectory(files, "/a").open()


def test_identity(files: MemoryFiles) -> None:
    directory = LogDirectory(files, "/a")
    directory.open()
    assert directory.meta is None
    files.write_file("/a/meta.properties", MetaProperties("c", 3, b"i" * 16).to_bytes(0))
    again = LogDirectory(files, "/a")
    again.read_meta()
    assert again.meta == MetaProperties("c", 3, b"i" * 16)
    assert again.directory_id == b"i" * 16


def test_formatted_by_somebody_else_after_it_was_locked(files: MemoryFiles) -> None:
    directory = LogDirectory(files, "/a")
    directory.open()
    assert directory.directory_id is None
    files.write_file("/a/meta.properties", MetaProperties("c", 3, b"i" * 16).to_bytes(0))
    assert directory.directory_id == b"i" * 16


@pytest.mark.parametrize("content", [b'{"version":0,"brokerEpoch":9}', b"", b"nonsense"])
def test_the_mark_of_a_clean_stop_is_taken_once(content: bytes, files: MemoryFiles) -> None:
    files.mkdir("/a")
    files.write_file("/a/.kafka_cleanshutdown", content)
    directory = LogDirectory(files, "/a")
    directory.take_clean_shutdown()
    assert directory.was_clean
    again = LogDirectory(files, "/a")
    again.take_clean_shutdown()
    assert not again.was_clean


def test_what_was_cleaned_before(files: MemoryFiles) -> None:
    files.mkdir("/a")
    directory = LogDirectory(files, "/a")
    directory.checkpoints.read(["orders-0", "orders-1"])
    assert directory.was_never_cleaned(ORDERS)
    files.write_file("/a/cleaner-offset-checkpoint", b"0\n1\norders 0 12\n")
    directory.checkpoints.read(["orders-0", "orders-1"])
    assert not directory.was_never_cleaned(ORDERS)
    assert directory.was_never_cleaned(TopicPartition("orders", 1))
    files.write_file("/a/cleaner-offset-checkpoint", b"garbage")
    directory.checkpoints.read(["orders-0", "orders-1"])
    assert not directory.was_never_cleaned(TopicPartition("orders", 1))


def test_every_failure_of_the_disk_names_the_directory(files: MemoryFiles) -> None:
    files.mkdir("/a")
    directory = LogDirectory(files, "/a")
    files.fail = lambda name, path: OSError(errno.EROFS, "read-only")
    for attempt in (
        lambda: directory.checkpoints.write(RECOVERY_POINT_CHECKPOINT, {ORDERS: 1}),
        lambda: directory.write_clean_shutdown(1),
        directory.take_clean_shutdown,
        lambda: directory.checkpoints.read(()),
        directory.read_meta,
    ):
        with pytest.raises(LogDirFailure, match="/a"):
            attempt()
