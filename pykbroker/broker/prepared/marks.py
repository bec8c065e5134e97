"""Marks: 64-bit numbers that are found again in an encoded sample.

So one encoding tells where each of its numbers is. The marks are no text in UTF-8, and no numbers
that responses have otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

FIRST_MARK = 0x7A_F8_C1_FF_9B_00_00_00

_mark = Struct(">q")
MARK_BYTES = _mark.size
encoded_mark = _mark.pack


def marks(count: int, after: Sequence[int] = ()) -> range:
    """Return `count` marks, other ones than those in `after`."""
    first = after[-1] + 1 if after else FIRST_MARK
    return range(first, first + count)


def positions_of(wanted: Sequence[int], sample: bytes) -> list[tuple[int, int]]:
    """Return (position, index in `wanted`) of the marks that are in the sample, which has them in
    this order. The others are left out.
    """
    found = []
    behind = 0
    for index, mark in enumerate(wanted):
        position = sample.find(encoded_mark(mark), behind)
        if position >= 0:
            found.append((position, index))
            behind = position + MARK_BYTES
    return found
