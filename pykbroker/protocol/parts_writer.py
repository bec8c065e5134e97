"""Outgoing bytes as a list of parts, so that large records and file slices are not copied.

State: the list itself. A generated encoder appends small fields to one growing bytearray, and gives
a large `records` buffer or a file slice a place of its own between two such bytearrays::

    [bytearray: length, header, fields] [FileSlice: 1 MiB] [bytearray: fields] [memoryview] ...

In: messages and records. Out: a list of bytearray, bytes, memoryview and `Part` objects, in wire
order. Invariants: `put_part` copies no buffer of 2 KiB or more; the sum of the sizes is the size on
the wire.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeAlias

# Below this size a copy into the growing bytearray costs less than one more iovec.
SMALL_PART_BYTES = 2048


class Part(Protocol):
    """Bytes that are somewhere else, e.g. a slice of a segment file."""

    def part_size(self) -> int:
        """How many bytes this part puts on the wire."""


Buffer: TypeAlias = bytes | bytearray | memoryview
AnyPart: TypeAlias = bytes | bytearray | memoryview | Part
Parts: TypeAlias = list[AnyPart]


def part_size(part: AnyPart) -> int:
    """The size of one part in bytes."""
    if isinstance(part, (bytes, bytearray)):
        return len(part)
    if isinstance(part, memoryview):
        return part.nbytes
    return part.part_size()


def parts_size(parts: Iterable[AnyPart]) -> int:
    """The size of all the parts in bytes."""
    return sum(map(part_size, parts))


def open_tail(out: Parts) -> bytearray:
    """The bytearray at the end of `out` that encoders append to; a new one if there is none."""
    if out:
        tail = out[-1]
        if type(tail) is bytearray:
            return tail
    tail = bytearray()
    out.append(tail)
    return tail


def put_part(out: Parts, tail: bytearray, part: AnyPart, size: int) -> bytearray:
    """Append `part` of `size` bytes after `tail` (the end of `out`).

    Answers the bytearray to go on with.
    """
    if size < SMALL_PART_BYTES:
        if size == 0:
            return tail
        if isinstance(part, (bytes, bytearray, memoryview)):
            tail += part
            return tail
    out.append(part)
    tail = bytearray()
    out.append(tail)
    return tail


def join_parts(out: Iterable[AnyPart]) -> bytes:
    """All the parts as one bytes object.

    A foreign part takes part if it has a method ``read() -> bytes``.
    """
    joined = []
    for part in out:
        if isinstance(part, (bytes, bytearray, memoryview)):
            joined.append(bytes(part))
        else:
            joined.append(bytes(part.read()))  # type: ignore[attr-defined]
    return b"".join(joined)
