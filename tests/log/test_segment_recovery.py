"""Checking a segment batch by batch, and building again what lies beside it."""

from __future__ import annotations

import pytest

from pykbroker.log.epoch_checkpoint import EpochCheckpoint
from pykbroker.log.producer_snapshots import ProducerSnapshots
from pykbroker.log.segment import CorruptSegment, Segment
from pykbroker.log.segment_recovery import (
    CHUNK_BYTES,
    rebuild_indexes,
    recover_segment,
    valid_batches,
)
from pykbroker.protocol.record_batch import assign_offset, read_header
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import NOW_MS, batch_of, memory_disk
from tests.log.test_segment import new_segment, put


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def bases(segment: Segment) -> list[int]:
    return [header.base_offset for _, header, _ in valid_batches(segment)]


def recover(files: MemoryFiles, segment: Segment) -> int:
    snapshots = ProducerSnapshots(files, "/d/p-0", "p-0", 86_400_000)
    return recover_segment(segment, snapshots, EpochCheckpoint(files, "/d/p-0"))


def test_batches_larger_than_a_chunk(files: MemoryFiles) -> None:
    segment = new_segment(files, 0)
    for offset in range(4):
        put(segment, offset, bytes([offset]) * (CHUNK_BYTES // 2 + 1000))
    put(segment, 4, b"x" * (CHUNK_BYTES + 77))
    put(segment, 5, b"small")
    assert bases(segment) == [0, 1, 2, 3, 4, 5]


def test_gaps_end_nothing(files: MemoryFiles) -> None:
    segment = new_segment(files, 0)
    for offset in (0, 1, 5):
        put(segment, offset, b"x")
    assert bases(segment) == [0, 1, 5]


@pytest.mark.parametrize("offset", [0, 1, 1 + (1 << 31)])
def test_offsets_that_cannot_be_end_it(offset: int, files: MemoryFiles) -> None:
    segment = new_segment(files, 0)
    for ok in (0, 1):
        put(segment, ok, b"x")
    good = segment.size
    batch = batch_of(b"bad")
    assign_offset(batch, offset, 0)
    segment.file.pwritev([batch], good)
    segment.size += len(batch)
    assert recover(files, segment) == len(batch)
    assert (segment.size, files.size("/d/p-0/00000000000000000000.log")) == (good, good)


def test_recovery_makes_the_indexes_that_appending_made(files: MemoryFiles) -> None:
    segment = new_segment(files, 0, index_interval_bytes="150")
    for offset in range(20):
        put(segment, offset, b"x" * 40, timestamp=NOW_MS + offset * 7 % 50)
    segment.become_inactive()
    paths = segment.paths()[1:3]
    before = [files.read_file(path) for path in paths]
    largest = segment.largest_timestamp()
    assert recover(files, segment) == 0
    assert [files.read_file(path) for path in paths] == before
    assert segment.largest_timestamp() == largest
    rebuild_indexes(segment)
    assert [files.read_file(path) for path in paths] == before


def test_indexes_of_a_segment_that_is_written_to(files: MemoryFiles) -> None:
    segment = new_segment(files, 0, index_interval_bytes="0")
    for offset in range(5):
        put(segment, offset, b"x")
    rebuild_indexes(segment)
    put(segment, 5, b"x")
    put(segment, 6, b"x")
    assert segment.offset_index.lookup(9)[0] == 6
    assert files.size("/d/p-0/00000000000000000000.index") == 10485760


def test_indexes_cannot_be_built_over_garbage(files: MemoryFiles) -> None:
    segment = new_segment(files, 0)
    put(segment, 0, b"x")
    put(segment, 1, b"x")
    segment.file.pwritev([b"\x00" * 8], segment.size // 2)
    with pytest.raises(CorruptSegment, match="out of order"):
        rebuild_indexes(segment)


def test_an_empty_segment(files: MemoryFiles) -> None:
    segment = new_segment(files, 7)
    assert recover(files, segment) == 0
    assert segment.next_offset() == 7
    assert segment.largest_timestamp() == (-1, 7)
    batch = batch_of(b"x")
    assign_offset(batch, 7, 0)
    segment.append([batch], [read_header(batch)])
    assert segment.next_offset() == 8
