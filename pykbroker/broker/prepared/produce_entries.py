"""The partitions of one topic in a Produce request: where the records of each are.

    v3-8    count | index size records | index size records | ...
    v9-13   count | index size records tags | ...                  (count and sizes are varints)

In      a request, and where its partitions begin.
Out     (partition index, begin, end) of the records of each partition, and where the last entry
        ends. None if the request needs the general decoder: no partitions or very many, null
        records or tags, for example.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_PARTITIONS = 100

_unpack_i32 = Struct(">i").unpack_from
_unpack_entry = Struct(">ii").unpack_from
_unpack_lone = Struct(">iii").unpack_from

Entry: TypeAlias = tuple[int, int, int]
"""Of one partition: its index, where its records begin and end in the frame."""

EntriesOf: TypeAlias = "Callable[[bytes | bytearray, int, int], tuple[list[Entry], int] | None]"
"""Reads the partitions of a topic; see the module."""


def fixed_entries(
    frame: bytes | bytearray, position: int, end: int
) -> tuple[list[Entry], int] | None:
    """Read the partitions of a topic in versions 3 to 8; see the module."""
    if end - position < 12:
        return None
    count, index, size = _unpack_lone(frame, position)
    if count == 1:
        begin, position = position + 12, position + 12 + size
        return ([(index, begin, position)], position) if begin <= position <= end else None
    if not 0 < count <= MOST_PARTITIONS:
        return None
    position += 4
    entries: list[Entry] = []
    for _ in range(count):
        if end - position < 8:
            return None
        index, size = _unpack_entry(frame, position)
        position += 8 + size
        if size < 0 or position > end:
            return None
        entries.append((index, position - size, position))
    return entries, position


def flexible_entries(
    frame: bytes | bytearray, position: int, end: int
) -> tuple[list[Entry], int] | None:
    """Read the partitions of a topic in versions 9 to 13; see the module."""
    count = frame[position] - 1 if position < end else 0
    if not 0 < count <= MOST_PARTITIONS:
        return None
    position += 1
    entries: list[Entry] = []
    for _ in range(count):
        if end - position < 9:
            return None
        (index,) = _unpack_i32(frame, position)
        position += 4
        size = shift = 0
        while position < end:
            byte = frame[position]
            position += 1
            size |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 28:
                return None
        begin, position = position, position + size - 1
        if size < 1 or position >= end or frame[position]:
            return None
        entries.append((index, begin, position))
        position += 1
    return entries, position
