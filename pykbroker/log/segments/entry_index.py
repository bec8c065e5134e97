"""The common base of a segment's offset index and time index: sorted entries of fixed size.

State   the used entries as one bytearray; the file may be longer (the active segment's index is
        preallocated with zeros, which may still be in the constructor's payload).
In      entries in ascending order; offsets to truncate to.
Out     the bytes that an append adds, to be written at `size_bytes` minus their length.
Invariants
    In what is appended, both columns ascend. Offsets are stored relative to the segment's base
    offset, as int32.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from typing import ClassVar

MAX_RELATIVE_OFFSET = 0x7FFF_FFFF


class EntryIndex(ABC):
    """Base of OffsetIndex and TimeIndex."""

    __slots__ = ("_entries", "base_offset", "max_entries")

    ENTRY: ClassVar[struct.Struct]

    def __init__(self, base_offset: int, max_bytes: int, payload: bytes = b"") -> None:
        size = self.ENTRY.size
        self.base_offset = base_offset
        self.max_entries = max_bytes // size
        used = len(payload.rstrip(b"\x00"))
        # An entry may end in zero bytes. One of zeros alone (time 0) is lost, without harm.
        whole = min(-(-used // size), len(payload) // size)
        self._entries = bytearray(payload[: whole * size])

    @property
    def entry_count(self) -> int:
        return len(self._entries) // self.ENTRY.size

    @property
    def size_bytes(self) -> int:
        return len(self._entries)

    @property
    def is_full(self) -> bool:
        return self.entry_count >= self.max_entries

    def to_bytes(self) -> bytes:
        return bytes(self._entries)

    @abstractmethod
    def entry(self, index: int) -> tuple[int, int]:
        """Return the two columns of one entry, with absolute offsets."""

    @abstractmethod
    def _offset_at(self, index: int) -> int:
        """Return the absolute offset of one entry."""

    def entries(self) -> list[tuple[int, int]]:
        return [self.entry(index) for index in range(self.entry_count)]

    def truncate_to(self, offset: int) -> None:
        """Keep the entries with offsets below `offset`."""
        keep = bisect_left(range(self.entry_count), offset, key=self._offset_at)
        del self._entries[keep * self.ENTRY.size :]

    def _last_not_above(self, target: int, column: int) -> int:
        """Return the slot of the last entry whose `column` is not above `target`; -1 if none is."""
        slots = range(self.entry_count)
        return bisect_right(slots, target, key=lambda index: self.entry(index)[column]) - 1

    def _relative(self, offset: int) -> int:
        relative = offset - self.base_offset
        if not 0 <= relative <= MAX_RELATIVE_OFFSET:
            raise ValueError(
                f"offset {offset} does not fit an index that begins at {self.base_offset}"
            )
        return relative
