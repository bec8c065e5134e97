"""The messages about bytes that recovery removes."""

from __future__ import annotations

import pytest

from pykbroker.log.recovery.damage import CutReport, report_cut, sound_header_at
from pykbroker.log.segments.segment import Segment
from pykbroker.protocol.record_batch import assign_offset
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.harness.old_messages import Old, message
from tests.log.log_makers import batch_of, memory_disk
from tests.log.segments.test_segment import new_segment


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def new(offset: int) -> bytes:
    batch = batch_of(b"v" * 50)
    assign_offset(batch, offset, 0)
    return bytes(batch)


def old(offset: int) -> bytes:
    return message(offset, Old(b"k", b"v"), magic=0)


def segment_of(files: MemoryFiles, content: bytes) -> Segment:
    segment = new_segment(files, 10)
    segment.size = segment.file.pwritev([content], 0)
    return segment


def test_a_torn_tail_hides_nothing(files: MemoryFiles) -> None:
    segment = segment_of(files, new(10) + new(11)[:-5])
    report = report_cut(segment, 119, 11)
    assert report == CutReport(119, 114, 11, 0, -1, -1)
    assert str(report) == "removing 114 bytes from position 119 on, offset 11 and up"


@pytest.mark.parametrize("make", [new, old])
def test_sound_batches_behind_a_wrong_checksum(make: object, files: MemoryFiles) -> None:
    assert callable(make)
    bad = make(10)[:-1] + b"\xff"
    segment = segment_of(files, bad + make(11) + make(12) + make(13)[:-1])
    report = report_cut(segment, 0, 10)
    assert (report.sound_batches, report.sound_first, report.sound_last) == (2, 11, 12)
    assert str(report).endswith(
        "; among them are 2 intact batches after the bad one, offsets 11 to 12"
    )


@pytest.mark.parametrize("make", [new, old])
@pytest.mark.parametrize("bad", [b"\xff" * 30, bytes(5_000), b"\0\0" * 7 + b"\1", b"x" * 2_500_000])
def test_sound_batches_behind_a_length_that_leads_nowhere(
    bad: bytes, make: object, files: MemoryFiles
) -> None:
    assert callable(make)
    segment = segment_of(files, bad + make(11) + make(12))
    report = report_cut(segment, 0, 10)
    assert (report.sound_batches, report.sound_first, report.sound_last) == (2, 11, 12)


def test_batches_from_before_are_not_what_follows(files: MemoryFiles) -> None:
    """Stale bytes of the disk, say."""
    segment = segment_of(files, b"\xff" * 30 + new(3) + new(4))
    assert report_cut(segment, 0, 10).sound_batches == 0


def test_zeros_are_passed_over(files: MemoryFiles) -> None:
    segment = segment_of(files, bytes(70 << 20) + new(11))
    assert report_cut(segment, 0, 10).sound_batches == 0  # it is not looked for that far
    segment = segment_of(files, bytes(20 << 20) + new(11))
    assert report_cut(segment, 0, 10).sound_batches == 1


def test_a_sound_header(files: MemoryFiles) -> None:
    content = new(10) + old(11)
    segment = segment_of(files, content)
    found = [sound_header_at(segment, at) for at in (0, len(new(10)))]
    assert [header and header.base_offset for header in found] == [10, 11]
    assert sound_header_at(segment, 1) is None
    assert sound_header_at(segment, len(content)) is None
    assert sound_header_at(segment_of(files, content[:-1]), len(new(10))) is None
