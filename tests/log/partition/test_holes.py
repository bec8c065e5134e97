"""Holes in the middle of a log."""

from __future__ import annotations

from typing import Any

from pykbroker.environment.files import Files
from pykbroker.log.partition.holes import first_hole
from pykbroker.log.partition.partition_log import PartitionLog
from tests.log.log_makers import DIRECTORY, NOW_MS, append, memory_disk, open_orders


def three_segments(**overrides: Any) -> tuple[Files, PartitionLog]:
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


def test_compacted_logs_have_gaps() -> None:
    """Only the first leader after a recovery tells gaps from what a power failure took."""
    log = with_hole(cleanup_policy="compact")
    assert first_hole(log) == 3
    log.local.may_have_holes = False
    assert first_hole(log) is None
