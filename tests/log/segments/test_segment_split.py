"""Splitting segments whose offsets are more than 31 bits apart."""

from __future__ import annotations

import pytest

from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.damage import OffsetsOutOfPlace
from pykbroker.log.segments.segment import Segment
from pykbroker.log.segments.segment_split import plan_parts, split_segment
from pykbroker.protocol.compression import GZIP
from pykbroker.protocol.control_records import ABORT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import assign_offset, build_batch
from pykbroker.protocol.stored_batch import iter_stored
from pykbroker.testing.world.memory_files import MemoryFiles, SimulatedCrash
from tests.harness.old_messages import Old, compressed, message
from tests.log.log_makers import DIRECTORY, NOW_MS, append, batch_of, memory_disk, open_orders

FAR = 1 << 31
OFFSETS = [0, 3, FAR - 1, FAR, FAR + 1, 3 * FAR, 3 * FAR + 7]
BASES = [0, FAR, 3 * FAR]


def batch_at(offset: int) -> bytes:
    batch = batch_of(b"v%d" % offset, timestamp=NOW_MS + offset % 1000)
    assign_offset(batch, offset, 0)
    return bytes(batch)


def directory_with(content: bytes, base_offset: int = 0) -> MemoryFiles:
    files = memory_disk()
    files.mkdir(DIRECTORY)
    files.write_file(f"{DIRECTORY}/{base_offset:020d}.log", content, sync=True)
    files.sync_dir("/d")
    files.sync_dir(DIRECTORY)
    return files


def wide_directory() -> MemoryFiles:
    return directory_with(b"".join(map(batch_at, OFFSETS)))


def content_of(log: PartitionLog) -> bytes:
    return b"".join(segment.file.slice(0, segment.size).read() for segment in log.segments)


def segment_in(files: MemoryFiles, base_offset: int = 0) -> Segment:
    log = open_orders(memory_disk())
    return Segment(files, DIRECTORY, base_offset, log.config, NOW_MS)


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("has_indexes", [True, False])
def test_every_record_is_kept(is_clean: bool, has_indexes: bool) -> None:
    files = wide_directory()
    path = f"{DIRECTORY}/{0:020d}"
    content = files.read_file(path + ".log")
    files.set_modified_ms(path + ".log", 12345)
    if has_indexes:
        for suffix in (".index", ".timeindex"):
            files.write_file(path + suffix, b"")
    log = open_orders(files, is_clean=is_clean)
    assert log.segments.base_offsets == BASES
    assert content_of(log) == content
    assert log.log_end_offset == OFFSETS[-1] + 1
    for offset in OFFSETS:
        outcome = log.read(offset, 1, log.log_end_offset)
        assert outcome.slice is not None
        assert outcome.slice.read() == batch_at(offset)
    assert {files.modified_ms(s.file.path) for s in log.segments} == {12345}
    assert append(log, b"new") == log.log_end_offset - 1
    log.close()
    again = open_orders(files, recovery_point=log.recovery_point)
    assert again.segments.base_offsets == BASES
    assert [n for n in files.listdir(DIRECTORY) if n.endswith((".cleaned", ".swap"))] == []


def test_a_closed_one_is_found_by_the_way_to_the_next() -> None:
    """Also below the recovery point, where nothing is checked."""
    files = wide_directory()
    later = OFFSETS[-1] + 10
    files.write_file(f"{DIRECTORY}/{later:020d}.log", batch_at(later))
    for base in (0, later):
        for suffix in (".index", ".timeindex"):
            files.write_file(f"{DIRECTORY}/{base:020d}{suffix}", b"")
    for is_clean in (False, True):
        log = open_orders(files, is_clean=is_clean, recovery_point=later + 1)
        assert log.segments.base_offsets == [*BASES, later]
        assert log.log_end_offset == later + 1


def test_a_wide_gap_between_segments_is_none_inside() -> None:
    files = directory_with(batch_at(0))
    files.write_file(f"{DIRECTORY}/{3 * FAR:020d}.log", batch_at(3 * FAR))
    log = open_orders(files, is_clean=True)
    assert log.segments.base_offsets == [0, 3 * FAR]


def test_a_first_batch_far_from_the_name_of_its_segment() -> None:
    log = open_orders(directory_with(batch_at(2 * FAR) + batch_at(2 * FAR + 1)))
    assert log.segments.base_offsets == [2 * FAR]
    assert (log.log_start_offset, log.log_end_offset) == (2 * FAR, 2 * FAR + 2)


def test_old_messages_are_split() -> None:
    wrapper = compressed(FAR - 1, [Old(b"k", b"v")] * 3, magic=1, codec=GZIP)
    content = message(5, Old(b"k", b"v"), magic=0) + wrapper
    log = open_orders(directory_with(content))
    assert log.segments.base_offsets == [0, FAR - 1]
    assert content_of(log) == content
    assert log.log_end_offset == FAR + 2


def test_a_torn_end_is_cut_after_the_split() -> None:
    whole = b"".join(map(batch_at, OFFSETS))
    files = directory_with(whole + batch_at(3 * FAR + 8)[:-1])
    log = open_orders(files, is_clean=False)
    assert content_of(log) == whole


def test_aborted_transactions_stay_aborted() -> None:
    parts = [batch_at(0)]
    for first in (5, 2 * FAR):
        records = build_batch(
            [(b"k", b"t", NOW_MS, ())],
            base_offset=first,
            producer_id=7,
            producer_epoch=0,
            base_sequence=0,
            is_transactional=True,
        )
        marker = build_marker_batch(
            EndTxnMarker(ABORT, 1), producer_id=7, producer_epoch=0, timestamp_ms=NOW_MS
        )
        assign_offset(marker, first + 1, 0)
        parts += [bytes(records), bytes(marker)]
    log = open_orders(directory_with(b"".join(parts)))
    assert log.segments.base_offsets == [0, 2 * FAR]
    assert log.aborted_transactions(0, log.log_end_offset) == [(7, 5), (7, 2 * FAR)]


def test_offsets_that_do_not_ascend_are_left_to_a_person() -> None:
    content = batch_at(0) + batch_at(FAR + 5) + batch_at(1)
    files = directory_with(content)
    for is_clean in (True, False):
        with pytest.raises(OffsetsOutOfPlace, match="1 to 1 do not follow 2147483653"):
            open_orders(files, is_clean=is_clean)
        assert files.read_file(f"{DIRECTORY}/{0:020d}.log") == content


def test_a_part_does_not_replace_another_segment() -> None:
    files = wide_directory()
    files.write_file(f"{DIRECTORY}/{FAR:020d}.log", batch_at(FAR))
    with pytest.raises(OffsetsOutOfPlace, match=f"overlap the segment {FAR}"):
        split_segment(files, segment_in(files))
    assert files.read_file(f"{DIRECTORY}/{FAR:020d}.log") == batch_at(FAR)


def test_the_plan() -> None:
    places = [len(b"".join(map(batch_at, OFFSETS[:count]))) for count in (0, 3, 5)]
    plan = plan_parts(segment_in(wide_directory()))
    assert plan == list(zip(BASES, places, strict=True))
    short = directory_with(batch_at(7), 7)
    assert plan_parts(segment_in(short, 7)) == [(7, 0)]


def test_a_crash_at_any_call_loses_nothing() -> None:
    content = b"".join(map(batch_at, OFFSETS))
    crashes = 0
    for crash_after in range(1, 400):
        files = wide_directory()
        files.crash_at = files.calls + crash_after
        try:
            open_orders(files, is_clean=False).close()
            done = True
        except SimulatedCrash:
            done = False
        files.kill()
        log = open_orders(files, is_clean=False)
        assert content_of(log) == content
        assert log.segments.base_offsets == BASES
        if done:
            break
        crashes += 1
    assert 20 < crashes < 399


def test_what_is_split_reads_as_before() -> None:
    log = open_orders(wide_directory())
    found: list[int] = []
    offset = 0
    while offset < log.log_end_offset:
        outcome = log.read(offset, 1 << 20, log.log_end_offset)
        assert outcome.slice is not None
        for header, _ in iter_stored(outcome.slice.read()):
            found.append(header.base_offset)
            offset = header.next_offset
    assert found == OFFSETS
