"""The fields at the start of a record: length, attributes, deltas of time and offset.

They are in the first bytes of a record, so one 64-bit word of each record usually contains all of
them: after each read, the rest of the word is shifted down. This takes a third of the time of
looking up each varint in the area.

State   `at`: the position of every record's next varint; the word of each, and how much of it is
        left.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pykbroker.offline.varints import (
    BITS,
    ONE_BYTE,
    PACKED,
    SHORT_BITS,
    SHORT_MASK,
    SHORT_WORD,
    Bytes,
    Integers,
    Longs,
    Words,
    decode_long,
    longs_of,
)

_WORD_BYTES: Final = 8


class RecordFront:
    """Reads one varint of all records after another; raises Doubt or IndexError."""

    __slots__ = ("_area", "_left", "_longs", "_rest", "at")

    def __init__(self, area: bytearray, records: Integers) -> None:
        self.at = records
        self._area: Bytes = np.frombuffer(area, np.uint8)
        self._longs = longs_of(area)
        self._load()

    def _load(self) -> None:
        self._rest: Longs = self._longs[self.at]
        self._left = _WORD_BYTES

    def words(self) -> Words:
        """Return the next two bytes of every record."""
        if self._left < 2:
            self._load()
        return self._rest.astype(np.uint16)

    def skip(self, width: int) -> None:
        """Skip this many bytes of every record, at most two."""
        self.at = self.at + width
        self._rest = self._rest >> np.uint64(8 * width)
        self._left -= width

    def skip_varint(self) -> None:
        bits = BITS.take(self.words())
        if bits.all():
            self._skip_bits(bits)
        else:
            self.varint()

    def skip_values(self, values: Integers) -> bool:
        """Skip the varints if they have these values, none above MOST_SHORT; otherwise stay."""
        differ = self.words()
        differ ^= SHORT_WORD.take(values)
        differ &= SHORT_MASK.take(values)
        if differ.any():
            return False
        self._skip_bits(SHORT_BITS.take(values))
        return True

    def _skip_bits(self, bits: Longs) -> None:
        """Skip one or two bytes, individually for each record."""
        self.at = self.at + (bits >> np.uint64(3)).view(np.int64)
        self._rest = self._rest >> bits
        self._left -= 2

    def varint(self) -> Integers:
        """Read the values, of up to 64 bits."""
        words = self.words()
        low = words.astype(np.uint8)
        if int(low.max()) < 128:
            self.skip(1)
            return ONE_BYTE.take(low)  # type: ignore[return-value]
        packed = PACKED.take(words)
        values, widths = packed >> 2, packed & 3
        if widths.all():
            self._skip_bits(widths.astype(np.uint64) << np.uint64(3))
            return values
        long = np.flatnonzero(widths == 0)
        values = values.astype(np.int64)
        values[long], widths[long] = decode_long(self._area, self.at[long])
        self.at = self.at + widths
        self._left = 0
        return values
