"""The contents of DescribeLogDirs responses."""

from __future__ import annotations

import errno
import os

from pykbroker.config import TopicConfig
from pykbroker.errors import ErrorCode
from pykbroker.log.directories.directory_report import DirectoryReport, LogReport, absolute_path
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, loaded
from tests.log.log_makers import append


def test_sizes_and_lags() -> None:
    files = MemoryFiles()
    files.capacity_bytes = 1 << 30
    manager = loaded(files, "/a", "/b")
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    append(log, b"x")
    append(log, b"y")
    manager.moves.create_copy(ORDERS[0], "/b")
    here, there = manager.reports()
    assert here.logs == [LogReport(ORDERS[0], log.size_bytes, 0, False)]
    assert there.logs == [LogReport(ORDERS[0], 0, 2, True)]
    assert here.total_bytes == 1 << 30
    assert here.usable_bytes == (1 << 30) - files.used_bytes()
    manager.on_dir_failure("/a")
    assert manager.reports()[1].logs == [LogReport(ORDERS[0], 0, -1, True)]


def test_absolute_paths() -> None:
    here = os.getcwd()
    assert absolute_path("./data") == absolute_path("data") == f"{here}/data"
    assert absolute_path("a/./b") == f"{here}/a/b"
    assert absolute_path("../b") == f"{here}/../b"  # where that leads may depend on a link
    assert absolute_path("/var/lib") == "/var/lib"


def test_a_directory_that_cannot_be_asked_is_offline() -> None:
    files = MemoryFiles()
    manager = loaded(files)

    def refuse(path: str) -> tuple[int, int]:
        raise OSError(errno.EIO, "bad")

    files.disk_usage = refuse  # type: ignore[method-assign]
    assert manager.reports() == [DirectoryReport("/a", ErrorCode.KAFKA_STORAGE_ERROR, -1, -1, [])]
