"""Checking a segment batch by batch, and building again what lies beside it."""

from __future__ import annotations

import random

import pytest

from pykbroker.log.directories.epoch_checkpoint import EpochCheckpoint
from pykbroker.log.producers.producer_snapshots import ProducerSnapshots
from pykbroker.log.recovery.damage import OffsetsOutOfPlace, OffsetsOverflow
from pykbroker.log.recovery.segment_recovery import (
    CHUNK_BYTES,
    rebuild_indexes,
    recover_segment,
    valid_batches,
)
from pykbroker.log.segments.segment import CorruptSegment, Segment, placed
from pykbroker.protocol.compression import GZIP, LZ4, NONE, SNAPPY
from pykbroker.protocol.record_batch import assign_offset, read_header
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.harness.old_messages import OLD_MS, Old, message, old_segment
from tests.log.log_makers import NOW_MS, batch_of, memory_disk
from tests.log.segments.test_segment import new_segment, put


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


def with_offset(offset: int) -> bytearray:
    batch = batch_of(b"odd")
    assign_offset(batch, offset, 0)
    return batch


@pytest.mark.parametrize("offset", [10, 11])
def test_sound_offsets_out_of_place_are_left_to_a_person(offset: int, files: MemoryFiles) -> None:
    segment = new_segment(files, 10)
    for ok in (10, 11):
        put(segment, ok, b"x")
    good = segment.size
    segment.size += segment.file.pwritev([with_offset(offset)], good)
    with pytest.raises(OffsetsOutOfPlace, match=f"at position {good} .*{offset} to {offset} do"):
        recover(files, segment)
    assert files.size("/d/p-0/00000000000000000010.log") == segment.size > good


def test_sound_offsets_before_the_segment_are_left_to_a_person(files: MemoryFiles) -> None:
    segment = new_segment(files, 10)
    segment.size += segment.file.pwritev([with_offset(9)], 0)
    with pytest.raises(OffsetsOutOfPlace, match="9 to 9 do not follow 9"):
        recover(files, segment)


@pytest.mark.parametrize("limit", [11, 12])
def test_a_segment_ends_before_the_next_one_begins(limit: int, files: MemoryFiles) -> None:
    segment = new_segment(files, 10)
    for offset in (10, 11):
        put(segment, offset, b"x")
    if limit > 11:
        assert len(list(valid_batches(segment, limit))) == 2
        return
    with pytest.raises(OffsetsOutOfPlace, match="11 to 11 overlap the next segment, 11"):
        list(valid_batches(segment, limit))


def test_offsets_too_far_apart_are_told(files: MemoryFiles) -> None:
    segment = new_segment(files, 10)
    put(segment, 10, b"x")
    put(segment, 10 + 0x7FFF_FFFF, b"x")
    assert recover(files, segment) == 0
    segment.size += segment.file.pwritev([with_offset(10 + (1 << 31))], segment.size)
    before = files.read_file(segment.file.path)
    with pytest.raises(OffsetsOverflow) as told:
        recover(files, segment)
    assert told.value.segment is segment
    assert files.read_file(segment.file.path) == before


def test_what_is_cut_is_synced() -> None:
    """Else a power failure brings it back below the recovery point."""
    for seed in range(10):
        files = memory_disk()
        segment = new_segment(files, 0)
        put(segment, 0, b"x")
        good = segment.size
        segment.size += segment.file.pwritev([b"no batch" * 20], good)
        segment.file.sync()
        for directory in ("/d", "/d/p-0"):
            files.sync_dir(directory)
        assert recover(files, segment) == 160
        files.crash(random.Random(seed))
        assert files.size(segment.file.path) == good


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4])
@pytest.mark.parametrize("magic", [0, 1])
def test_old_messages_are_kept(magic: int, codec: int, files: MemoryFiles) -> None:
    segment = new_segment(files, 10, index_interval_bytes="0")
    put_old(segment, old_segment(magic, codec))
    put(segment, 30, b"new", timestamp=OLD_MS + 500)
    before = files.read_file(segment.file.path)
    assert recover(files, segment) == 0
    assert files.read_file(segment.file.path) == before
    assert segment.next_offset() == 31
    assert bases(segment)[-1] == 30
    last = [header.last_offset for _, header in segment.headers_from(0)]
    assert [segment.translate(offset) for offset in last] == [
        position for position, _ in segment.headers_from(0)
    ]
    assert segment.largest_timestamp() == (OLD_MS + 500, 30)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_bad_old_message_is_cut_with_what_follows(
    magic: int, files: MemoryFiles, caplog: pytest.LogCaptureFixture
) -> None:
    segment = new_segment(files, 10)
    messages = [message(10 + n, Old(b"k", b"v%d" % n), magic=magic) for n in range(5)]
    put_old(segment, b"".join(messages))
    segment.file.pwritev([b"\xff"], len(messages[0]) * 3 - 1)
    cut = 3 * len(messages[0])
    assert recover(files, segment) == cut
    assert segment.next_offset() == 12
    assert (
        f"removing {cut} bytes from position {2 * len(messages[0])} on, offset 12 and up; among "
        "them are 2 intact batches after the bad one, offsets 13 to 14"
    ) in caplog.text


@pytest.mark.parametrize("cut", range(1, 30))
def test_a_torn_old_message_is_cut(cut: int, files: MemoryFiles) -> None:
    segment = new_segment(files, 10)
    first, second = (message(10 + n, Old(b"key", b"v"), magic=0) for n in range(2))
    put_old(segment, (first + second)[:-cut])
    assert recover(files, segment) == len(second) - cut
    assert segment.size == len(first)


def put_old(segment: Segment, content: bytes) -> None:
    segment.size += segment.file.pwritev([content], segment.size)


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
    segment.append([batch], [placed(read_header(batch))])
    assert segment.next_offset() == 8
