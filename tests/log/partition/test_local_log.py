"""What happens to a log when its disk or its bytes fail it, and how it takes new settings."""

from __future__ import annotations

import errno
import logging

import pytest

from pykbroker.environment.files import LogDirFailure
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.segments.index_files import CorruptIndex
from tests.log.log_makers import (
    DIRECTORY,
    NOW_MS,
    NothingUnsynced,
    append,
    memory_disk,
    open_orders,
    values_of,
)


def test_an_error_of_the_disk_is_a_failure_of_its_directory() -> None:
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a")
    log.active.hints.clear()
    files.fail = lambda name, path: OSError(errno.EIO, "bad") if name == "pread" else None
    with pytest.raises(LogDirFailure, match="reading orders-3 in log directory /d"):
        log.read(0, 100, 1)
    assert log.is_offline


def test_bytes_that_are_no_batch_are_a_corrupt_message(caplog: pytest.LogCaptureFixture) -> None:
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a")
    log.active.hints.clear()
    log.active.file.pwritev([b"\xff" * 30], 0)
    with caplog.at_level(logging.ERROR), pytest.raises(KafkaError) as caught:
        log.read(0, 100, 1)
    assert caught.value.code == ErrorCode.CORRUPT_MESSAGE
    assert f"{DIRECTORY}/{0:020d}.log is corrupt at position 0" in caplog.text
    assert not log.is_offline


def test_an_index_that_cannot_be_mended_is_not_tried_for_ever() -> None:
    log = open_orders(memory_disk())
    tries = []

    def broken() -> None:
        tries.append(1)
        raise CorruptIndex(f"{DIRECTORY}/elsewhere", "always")

    with pytest.raises(CorruptIndex):
        log.local.guarded("asking", broken)
    assert len(tries) == 3


def test_new_settings_count_at_once() -> None:
    from pykbroker.config import TopicConfig

    log = open_orders(memory_disk())
    append(log, b"a", timestamp=NOW_MS)
    log.update_config(TopicConfig.default(segment_ms="10", index_interval_bytes="1"))
    append(log, b"b", timestamp=NOW_MS + 11)
    assert log.segments.base_offsets == [0, 1]
    assert log.active.index_interval_bytes == 1


def test_a_segment_that_was_cut_off_does_not_come_back() -> None:
    """It would overlap what was appended in its place, and the log could not be opened."""
    files = memory_disk()
    log = open_orders(files)
    for value in (b"a", b"cut off"):
        append(log, value)
    log.roll(NOW_MS)
    append(log, b"cut off")
    log.flush()
    log.truncate_to(1)
    append(log, b"b", b"c")
    for name in files.list_sizes(DIRECTORY):
        if name.endswith(".log"):
            files.sync_file(f"{DIRECTORY}/{name}")  # the kernel writes contents back at any time
    files.crash(NothingUnsynced())
    again = open_orders(files, is_clean=False, recovery_point=1)
    assert values_of(again) == [b"a", b"b", b"c"]
