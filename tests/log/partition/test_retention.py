"""Old segments: by time, by size, by log start offset."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import DIRECTORY, NOW_MS, append, memory_disk, open_orders


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def five_segments(files: MemoryFiles, **overrides: Any) -> PartitionLog:
    """Ten records, one a second, two in a segment: 0, 2, 4, 6, 8."""
    log = open_orders(files, segment_ms="1500", **overrides)
    for step in range(10):
        append(log, b"v", timestamp=NOW_MS + 1000 * step)
    assert log.segments.base_offsets == [0, 2, 4, 6, 8]
    return log


def test_by_time(files: MemoryFiles) -> None:
    log = five_segments(files, retention_ms="5000")
    assert log.delete_old_segments(NOW_MS + 6000, 10) == 0
    assert log.delete_old_segments(NOW_MS + 6001, 10) == 1
    assert log.delete_old_segments(NOW_MS + 8001, 10) == 1
    assert (log.log_start_offset, log.segments.base_offsets) == (4, [4, 6, 8])


def test_the_active_segment_rolls_and_goes_too(files: MemoryFiles) -> None:
    log = five_segments(files, retention_ms="5000")
    assert log.delete_old_segments(NOW_MS + 100_000, 10) == 5
    assert (log.log_start_offset, log.log_end_offset, log.segments.base_offsets) == (10, 10, [10])
    assert log.delete_old_segments(NOW_MS + 200_000, 10) == 0
    assert append(log, b"next") == 10


def test_nothing_at_or_above_the_high_watermark(files: MemoryFiles) -> None:
    log = five_segments(files, retention_ms="5000")
    assert log.delete_old_segments(NOW_MS + 100_000, 5) == 2
    assert log.log_start_offset == 4


def test_by_size(files: MemoryFiles) -> None:
    log = five_segments(files, retention_ms="-1", retention_bytes="1")
    size = log.segments.first.size
    log.config.retention_bytes = log.size_bytes - size - 1
    assert log.delete_old_segments(NOW_MS, 10) == 1
    assert log.delete_old_segments(NOW_MS, 10) == 0
    log.config.retention_bytes = 0
    assert log.delete_old_segments(NOW_MS, 10) == 4
    assert log.segments.base_offsets == [10]


def test_by_log_start_offset_even_when_only_compacted(files: MemoryFiles) -> None:
    log = five_segments(files, cleanup_policy="compact", retention_ms="1", retention_bytes="1")
    log.advance_log_start_offset(5)
    assert log.delete_old_segments(NOW_MS + 100_000, 10) == 2
    assert (log.log_start_offset, log.segments.base_offsets) == (5, [4, 6, 8])


def test_records_without_a_time_count_from_the_last_write(files: MemoryFiles) -> None:
    files.now_ms = NOW_MS
    log = open_orders(files, retention_ms="5000")
    append(log, b"v", timestamp=-1)
    log.roll(NOW_MS)
    assert log.delete_old_segments(NOW_MS + 5000, 1) == 0
    assert log.delete_old_segments(NOW_MS + 5001, 1) == 1


def test_records_from_the_future_stay(files: MemoryFiles) -> None:
    log = open_orders(files, retention_ms="1000")
    append(log, b"v", timestamp=NOW_MS + 3_000_000)
    assert log.delete_old_segments(NOW_MS, 1) == 0


def test_what_is_deleted_can_still_be_read_by_who_holds_it(files: MemoryFiles) -> None:
    log = five_segments(files, retention_ms="5000")
    held = log.read(0, 1 << 20, 10).slice
    assert held is not None
    before = held.read()
    log.delete_old_segments(NOW_MS + 6001, 10)
    for deletion in log.chores.due_deletions(0) + log.chores.due_deletions(60_000):
        for path in deletion.paths:
            files.unlink(path)
    assert not [name for name in files.listdir(DIRECTORY) if name.endswith(".deleted")]
    assert held.read() == before


def test_snapshots_go_with_their_segments(files: MemoryFiles) -> None:
    log = five_segments(files, retention_ms="5000")
    log.delete_old_segments(NOW_MS + 8001, 10)
    names = files.listdir(DIRECTORY)
    assert f"{2:020d}.snapshot.deleted" in names
    assert [n for n in names if n.endswith(".snapshot")] == [
        f"{n:020d}.snapshot" for n in (4, 6, 8)
    ]


def test_a_damaged_segment_gets_old_too(files: MemoryFiles) -> None:
    log = five_segments(files, retention_ms="5000")
    segment = log.segments.first
    segment.largest = None
    segment.file.pwritev([b"\xff" * 8], 8)
    files.set_modified_ms(segment.file.path, NOW_MS)
    assert log.delete_old_segments(NOW_MS + 3000, 10) == 0
    assert log.delete_old_segments(NOW_MS + 7000, 10) == 1
    assert log.log_start_offset == 2
