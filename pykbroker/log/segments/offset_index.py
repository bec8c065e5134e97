"""The offset index of a segment: where to start reading the `.log` file for an offset.

    <base offset>.index:  int32 offset - base offset | int32 position     8 bytes an entry, sorted

An entry is the last offset of a batch and the position of that batch, one for about every
`index.interval.bytes` of the log. State, in and out: see entry_index.py.
Source: Kafka's OffsetIndex.java.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from typing import ClassVar

from pykbroker.log.segments.entry_index import EntryIndex


class OffsetIndex(EntryIndex):
    """Maps an offset to the position of a batch at or before it."""

    __slots__ = ()

    ENTRY: ClassVar[struct.Struct] = struct.Struct(">ii")

    def entry(self, index: int) -> tuple[int, int]:
        """Return (offset, position) of one entry."""
        relative, position = self.ENTRY.unpack_from(self._entries, index * 8)
        return self.base_offset + relative, position

    def _offset_at(self, index: int) -> int:
        return self.entry(index)[0]

    @property
    def last_offset(self) -> int:
        """The offset of the last entry; the base offset if there is none."""
        count = self.entry_count
        return self.entry(count - 1)[0] if count else self.base_offset

    def lookup(self, offset: int) -> tuple[int, int]:
        """Return the last entry at or below `offset`; (base offset, 0) if there is none."""
        if self._entries and offset >= self.last_offset:
            return self.entry(self.entry_count - 1)
        slot = self._last_not_above(offset, 0)
        return self.entry(slot) if slot >= 0 else (self.base_offset, 0)

    def upper_bound(self, position: int, fetch_bytes: int) -> tuple[int, int] | None:
        """Return the first entry at or after `position + fetch_bytes`; None if there is none."""
        count = self.entry_count
        slot = bisect_left(
            range(count), position + fetch_bytes, key=lambda index: self.entry(index)[1]
        )
        return self.entry(slot) if slot < count else None

    def append(self, offset: int, position: int) -> bytes:
        """Add an entry; return the bytes for the file. Raises ValueError if the index is
        full, or the offset is not above the last one or too far from the base offset.
        """
        if self.is_full:
            raise ValueError(f"offset index of {self.entry_count} entries is full")
        if self._entries and offset <= self.last_offset:
            raise ValueError(f"offset {offset} is not above {self.last_offset} in an index")
        added = self.ENTRY.pack(self._relative(offset), position)
        self._entries += added
        return added

    def check(self) -> str | None:
        """Return what is wrong with the entries; None if nothing is."""
        last = (-1, -1)
        for relative, position in self.ENTRY.iter_unpack(self._entries):
            if relative <= last[0] or position <= last[1]:
                return f"entry ({relative}, {position}) after {last} in the offset index"
            last = (relative, position)
        return None
