"""Holes in the middle of a log, and at its end."""

from __future__ import annotations

import errno
import random
from typing import Any

import pytest

from pykbroker.environment.files import LogDirFailure
from pykbroker.log.partition.holes import first_hole
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import DIRECTORY, NOW_MS, append, memory_disk, open_orders, values_of


def three_segments(**overrides: Any) -> tuple[MemoryFiles, PartitionLog]:
    """Of two batches with one record each."""
    files = memory_disk()
    log = open_orders(files, **overrides)
    for number in range(6):
        if number in (2, 4):
            log.roll(NOW_MS)
        append(log, b"v%d" % number)
    assert [segment.base_offset for segment in log.segments] == [0, 2, 4]
    return files, log


def with_hole(recovery_point: int = 0, **overrides: Any) -> PartitionLog:
    """A power failure has taken the second batch of the second segment."""
    files, log = three_segments(**overrides)
    log.close()
    path = f"{DIRECTORY}/{2:020}.log"
    files.resize(path, files.size(path) // 2)
    return open_orders(files, is_clean=False, recovery_point=recovery_point, **overrides)


def test_a_whole_log_has_none() -> None:
    _, log = three_segments()
    assert first_hole(log) is None


def test_a_hole_begins_where_the_segment_before_it_ends() -> None:
    log = with_hole()
    assert log.log_end_offset == 6
    assert first_hole(log) == 3
    log.truncate_to(3, NOW_MS)
    assert first_hole(log) is None


def test_what_was_flushed_is_not_looked_at() -> None:
    assert first_hole(with_hole(recovery_point=5)) is None


def test_a_hole_is_found_after_the_log_was_flushed() -> None:
    log = with_hole(flush_messages="1")
    assert log.recovery_point == 6
    assert first_hole(log) == 3


def test_a_disk_that_fails_takes_the_log_offline() -> None:
    log = with_hole()
    files = log.files
    assert isinstance(files, MemoryFiles)
    files.fail = lambda name, path: OSError(errno.EIO, "bad") if name == "pread" else None
    with pytest.raises(LogDirFailure, match="looking for holes"):
        first_hole(log)
    assert log.is_offline


@pytest.mark.parametrize("cleanup_policy", ["delete", "compact"])
def test_a_log_is_looked_at_once_after_an_unclean_stop(cleanup_policy: str) -> None:
    """A replica that has led or followed since may be in sync: cutting it would lose records."""
    log = with_hole(cleanup_policy=cleanup_policy)
    assert first_hole(log) == 3
    log.local.unsynced_from = None
    assert first_hole(log) is None


def hole_at_the_end() -> MemoryFiles:
    """Records 0 to 2 in segments 0 and 2, an empty segment 4: a power failure has taken record 3
    and what followed it.
    """
    files, log = three_segments()
    log.flush()
    for base, size in ((2, log.segments[1].size // 2), (4, 0)):
        files.resize(f"{DIRECTORY}/{base:020}.log", size)
        files.sync_file(f"{DIRECTORY}/{base:020}.log")
    return files


def bases_in(files: MemoryFiles) -> list[int]:
    return [int(name[:20]) for name in files.listdir(DIRECTORY) if name.endswith(".log")]


@pytest.mark.parametrize("garbage", [b"", b"no batch"])
def test_a_hole_at_the_end_ends_the_log(garbage: bytes) -> None:
    """Followers cannot reach an end behind the last record, and would never be in sync."""
    for seed in range(5):
        files = hole_at_the_end()
        files.write_file(f"{DIRECTORY}/{4:020}.log", garbage, sync=True)
        log = open_orders(files, is_clean=False, recovery_point=2)
        assert log.log_end_offset == 3
        assert first_hole(log) is None
        assert append(log, b"new", b"newer") == 3
        log.flush()
        files.crash(random.Random(seed), reorder=True)
        assert bases_in(files) == [0, 2]
        again = open_orders(files, is_clean=False, recovery_point=5)
        assert values_of(again) == [b"v0", b"v1", b"v2", b"new", b"newer"]


@pytest.mark.parametrize(
    "unlike",
    [
        {"is_clean": True},
        {"is_contiguous": False},
        {"log_start_offset": 4},
        {"recovery_point": 4},
    ],
    ids=str,
)
def test_an_empty_end_is_kept(unlike: dict[str, Any]) -> None:
    """Without a hole that a power failure has left, its offset was the end of the log."""
    files = hole_at_the_end()
    log = open_orders(files, **{"is_clean": False, "recovery_point": 2, **unlike})
    assert log.log_end_offset == 4
    assert bases_in(files) == [0, 2, 4]


@pytest.mark.parametrize("cut_bytes", [5, 60])
def test_a_damaged_segment_below_the_recovery_point_keeps_no_log_from_opening(
    cut_bytes: int,
) -> None:
    """It was closed and synced, and something has damaged it since: what is left is served."""
    files = hole_at_the_end()
    path = f"{DIRECTORY}/{2:020}.log"
    files.resize(path, files.size(path) - cut_bytes)
    log = open_orders(files, is_clean=False, recovery_point=4)
    assert log.log_end_offset == 4
    assert bases_in(files) == [0, 2, 4]


def test_an_empty_segment_behind_a_whole_one_is_kept() -> None:
    files, log = three_segments()
    log.roll(NOW_MS)
    assert open_orders(files, is_clean=False).log_end_offset == 6
    assert bases_in(files) == [0, 2, 4, 6]
