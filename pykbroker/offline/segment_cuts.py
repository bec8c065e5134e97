"""Determines where to start, cut and stop reading a segment: by its indexes, or by walking headers.

Invariants
    A wrong offset index makes the reader read more, but loses no record: its entries are checked
    against the log. Time index entries are not: those that ascend are trusted.
    There is no cut between two batches whose offsets do not ascend, so that a reader sees both and
    detects which one is wrong.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import itemgetter

from pykbroker.offline.partition_files import SegmentFiles
from pykbroker.offline.segment_index import (
    entry_batch,
    is_entry_true,
    offset_entries,
    sound_batch,
    time_entries,
)
from pykbroker.offline.segment_walk import walk_headers
from pykbroker.offline.storage import SegmentFile, open_file

_offset_of = _time_of = itemgetter(0)
_position_of = itemgetter(1)


class SegmentCuts:
    """The cuts of an open segment, up to position `end`.

    last_before   the last offset of the batch before a position found, where there is one
    """

    def __init__(self, opened: SegmentFile, segment: SegmentFiles, end: int) -> None:
        self._opened = opened
        self._segment = segment
        self._end = end
        self.last_before: dict[int, int] = {}
        self._entries = offset_entries(segment.index_path, segment.base_offset, end)

    def start(self, offset: int, time_ms: int | None) -> int:
        """Return where to start, so that nothing from an offset (and time) on is missed, provided
        that the time index is right.
        """
        if time_ms is not None:
            times = time_entries(self._segment.time_index_path, self._segment.base_offset)
            slot = bisect_left(times, time_ms, key=_time_of) - 1
            if slot >= 0:
                offset = max(offset, times[slot][1])
        before = bisect_right(self._entries, offset, key=_offset_of)
        return self._first_in_place(range(before - 1, -1, -1)) or 0

    def stop(self, offset: int) -> int:
        """Return a position after all batches that have offsets below this one."""
        # An entry contains the last offset of its batch.
        above = bisect_left(self._entries, offset, key=_offset_of)
        found = self._first_in_place(range(above + 1, len(self._entries)), offset)
        return self._end if found is None else found

    def between(self, start: int, stop: int, piece_bytes: int) -> list[int]:
        """Return positions to cut at, about `piece_bytes` apart; the last piece may be half as long
        again.
        """
        cuts: list[int] = []
        last = start
        while stop - last > piece_bytes * 3 // 2:
            slot = bisect_left(self._entries, last + piece_bytes, key=_position_of)
            cut = self._first_in_place(range(slot, len(self._entries)))
            if cut is None:
                return cuts + self._walked(last, stop, piece_bytes)
            if cut >= stop:
                break
            cuts.append(cut)
            last = cut
        return cuts

    def _first_in_place(self, slots: Iterable[int], least: int = 0) -> int | None:
        """Return the position of the first entry that names a batch of offsets >= `least`, in its
        place: it is separated from the batches before it, and no reader sees them together any
        more. None if there is none.
        """
        for slot in slots:
            header = entry_batch(self._opened, self._entries[slot], self._end)
            if header is None or header.base_offset < least:
                continue
            if self._goes_on(slot, header.base_offset):
                return self._entries[slot][1]
        return None

    def _goes_on(self, slot: int, base_offset: int) -> bool:
        """Return whether the batches from the preceding entry on end where this one begins, with
        offsets below its own.
        """
        position = self._entries[slot][1]
        reached = self._entries[slot - 1][1] if slot else 0
        header = None
        for at, header in walk_headers(self._opened, self._segment, position, reached):
            if header is None or header.last_offset >= base_offset:
                return False
            reached = at + header.size_bytes
        if header is not None and reached == position:
            self.last_before[position] = header.last_offset
        return reached == position

    def _walked(self, start: int, stop: int, piece_bytes: int) -> list[int]:
        """Return cuts found by walking the headers, where no index covers the segment."""
        cuts: list[int] = []
        last = start
        before: int | None = None
        for position, header in walk_headers(self._opened, self._segment, stop, start):
            offset_before, before = before, None
            if header is None:
                continue
            before = header.last_offset
            if position - last < piece_bytes or stop - position <= piece_bytes // 2:
                continue
            if offset_before is not None and offset_before < header.base_offset:
                self.last_before[position] = offset_before
                cuts.append(position)
                last = position
        return cuts


def is_older(segment: SegmentFiles, behind: int, time_ms: int) -> bool:
    """Return whether all of a closed segment, whose offsets are below `behind`, is before a time,
    according to its time index and the batches from its last entry on.
    """
    entries = time_entries(segment.time_index_path, segment.base_offset)
    if not entries or entries[-1][1] >= behind:
        return False
    # Closing a segment adds the entry of its largest timestamp; one that is missing may be any
    # number of records short, so the last batches have the word.
    return entries[-1][0] < time_ms and _is_tail_older(segment, entries[-1][1], time_ms)


def _is_tail_older(segment: SegmentFiles, offset: int, time_ms: int) -> bool:
    """Return whether all batches after the last time index entry are older, and intact."""
    with open_file(segment.path) as opened:
        position = 0
        entries = offset_entries(segment.index_path, segment.base_offset, opened.size)
        slot = bisect_right(entries, offset, key=_offset_of) - 1
        if slot >= 0 and is_entry_true(opened, entries[slot], opened.size):
            position = entries[slot][1]
        return all(
            header is not None
            and header.max_timestamp < time_ms
            and sound_batch(opened, at, header.size_bytes) is not None
            for at, header in walk_headers(opened, segment, opened.size, position)
        )
