"""The order of segments."""

from __future__ import annotations

from pykbroker.config import TopicConfig
from pykbroker.log.segments.segment import Segment
from pykbroker.log.segments.segment_list import SegmentList
from tests.log.log_makers import NOW_MS, memory_disk


def segments_at(*base_offsets: int) -> SegmentList:
    files = memory_disk()
    config = TopicConfig.default()
    return SegmentList(Segment.create(files, "/d", base, config, NOW_MS) for base in base_offsets)


def bases(found: list[Segment]) -> list[int]:
    return [segment.base_offset for segment in found]


def test_neighbours() -> None:
    segments = segments_at(30, 0, 10)
    assert segments.base_offsets == [0, 10, 30]
    assert (segments.first.base_offset, segments.last.base_offset, len(segments)) == (0, 30, 3)
    floors = {offset: segments.floor(offset) for offset in (-1, 0, 9, 10, 29, 30, 99)}
    assert {offset: s and s.base_offset for offset, s in floors.items()} == {
        -1: None,
        0: 0,
        9: 0,
        10: 10,
        29: 10,
        30: 30,
        99: 30,
    }
    higher = [segments.higher(base) for base in (-1, 0, 10, 30)]
    assert [s and s.base_offset for s in higher] == [0, 10, 30, None]
    lower = [segments.lower(base) for base in (0, 10, 31)]
    assert [s and s.base_offset for s in lower] == [None, 0, 30]


def test_ranges() -> None:
    segments = segments_at(0, 10, 30)
    assert bases(segments.within(5, 30)) == [0, 10]
    assert bases(segments.within(10, 31)) == [10, 30]
    assert bases(segments.within(12, 12)) == [10]
    assert bases(segments.within(99, 100)) == [30]
    assert bases(segments.above(9)) == [10, 30]
    assert bases(segments.above(30)) == []


def test_adding_and_removing() -> None:
    segments = segments_at(0, 10)
    (other,) = segments_at(10)
    segments.add(other)
    assert len(segments) == 2
    assert segments.last is other
    segments.remove(segments_at(10)[0])
    assert len(segments) == 2
    segments.remove(other)
    assert segments.base_offsets == [0]
    assert segments.size_bytes == 0
