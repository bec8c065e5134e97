"""The time index of a segment: the offset from which on records may have a timestamp.

    <base offset>.timeindex:  int64 timestamp | int32 offset - base offset    12 bytes, sorted

An entry (t, o) means that no record up to offset o is later than t. Timestamps strictly ascend.
State, in and out: see entry_index.py. Source: Kafka's TimeIndex.java.
"""

from __future__ import annotations

import struct
from typing import ClassVar

from pykbroker.log.segments.entry_index import EntryIndex
from pykbroker.protocol.record_batch import NO_TIMESTAMP


class TimeIndex(EntryIndex):
    """Maps the largest timestamp so far to the offset of its batch."""

    __slots__ = ()

    ENTRY: ClassVar[struct.Struct] = struct.Struct(">qi")

    def entry(self, index: int) -> tuple[int, int]:
        """Return (timestamp, offset) of one entry."""
        timestamp, relative = self.ENTRY.unpack_from(self._entries, index * 12)
        return timestamp, self.base_offset + relative

    def _offset_at(self, index: int) -> int:
        return self.entry(index)[1]

    @property
    def is_full(self) -> bool:
        """Whether only the slot is left that is reserved for closing the segment."""
        return self.entry_count >= self.max_entries - 1

    @property
    def last_entry(self) -> tuple[int, int]:
        """Return (timestamp, offset) of the last entry; (-1, base offset) if there is none."""
        count = self.entry_count
        return self.entry(count - 1) if count else (NO_TIMESTAMP, self.base_offset)

    def lookup(self, timestamp: int) -> tuple[int, int]:
        """Return the last entry not later than `timestamp`; (-1, base offset) if there is none."""
        slot = self._last_not_above(timestamp, 0)
        return self.entry(slot) if slot >= 0 else (NO_TIMESTAMP, self.base_offset)

    def append(self, timestamp: int, offset: int, *, force: bool = False) -> bytes:
        """Add an entry if it is later than the last one; return the bytes for the file.

        `force` uses the reserved slot. Raises ValueError if full or not ascending.
        """
        if not force and self.is_full:
            raise ValueError(f"time index of {self.entry_count} entries is full")
        last_timestamp, last_offset = self.last_entry
        if self._entries and (offset < last_offset or timestamp < last_timestamp):
            raise ValueError(
                f"({timestamp}, {offset}) is before ({last_timestamp}, {last_offset}) in an index"
            )
        if timestamp <= last_timestamp:
            return b""
        added = self.ENTRY.pack(timestamp, self._relative(offset))
        self._entries += added
        return added

    def check(self) -> str | None:
        """Return what is wrong with the entries; None if nothing is."""
        last = (NO_TIMESTAMP, -1)
        for timestamp, relative in self.ENTRY.iter_unpack(self._entries):
            if timestamp <= last[0] or relative < last[1] or relative < 0:
                return f"entry ({timestamp}, {relative}) after {last} in the time index"
            last = (timestamp, relative)
        return None
