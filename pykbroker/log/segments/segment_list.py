"""The segments of one log in the order of their base offsets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from pykbroker.log.segments.segment import Segment


class SegmentList:
    """The segments of a log, as parallel lists of base offsets and segments:
    ascending, no duplicates.
    """

    __slots__ = ("_bases", "_segments")

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self._segments = sorted(segments, key=lambda segment: segment.base_offset)
        self._bases = [segment.base_offset for segment in self._segments]

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    def __getitem__(self, index: int) -> Segment:
        return self._segments[index]

    @property
    def first(self) -> Segment:
        return self._segments[0]

    @property
    def last(self) -> Segment:
        return self._segments[-1]

    @property
    def base_offsets(self) -> list[int]:
        return list(self._bases)

    @property
    def size_bytes(self) -> int:
        return sum(segment.size for segment in self._segments)

    def add(self, segment: Segment) -> None:
        """Add a segment, replacing one with the same base offset."""
        index = bisect_left(self._bases, segment.base_offset)
        if index < len(self._bases) and self._bases[index] == segment.base_offset:
            self._segments[index] = segment
        else:
            self._bases.insert(index, segment.base_offset)
            self._segments.insert(index, segment)

    def remove(self, segment: Segment) -> None:
        index = bisect_left(self._bases, segment.base_offset)
        if index < len(self._bases) and self._segments[index] is segment:
            del self._bases[index], self._segments[index]

    def floor(self, offset: int) -> Segment | None:
        """Return the segment for an offset: the last one with a base offset <= `offset`."""
        index = bisect_right(self._bases, offset) - 1
        return self._segments[index] if index >= 0 else None

    def higher(self, base_offset: int) -> Segment | None:
        """Return the first segment with a greater base offset; None if there is none."""
        index = bisect_right(self._bases, base_offset)
        return self._segments[index] if index < len(self._segments) else None

    def lower(self, base_offset: int) -> Segment | None:
        index = bisect_left(self._bases, base_offset) - 1
        return self._segments[index] if index >= 0 else None

    def within(self, start: int, end: int) -> list[Segment]:
        """Return the segments that may hold offsets of [start, end)
        (LogSegments.values(from, to)).
        """
        low = max(bisect_right(self._bases, start) - 1, 0)
        return self._segments[low : bisect_left(self._bases, end)]

    def above(self, offset: int) -> list[Segment]:
        """Return the segments whose base offset is greater."""
        return self._segments[bisect_right(self._bases, offset) :]
