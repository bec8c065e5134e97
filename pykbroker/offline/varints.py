"""Zigzag varints of many records at once.

One table look-up by the 16-bit word at a varint gives its value and its width, if it has one or two
bytes; longer ones are few, and are decoded byte by byte for just those records.

Invariant: values are those of `protocol.record.read_varint`; whatever that rejects raises Doubt (or
IndexError, after the end of the area). So may other unusual bytes: the caller then decodes the
batch the slow way.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint16]
Longs = NDArray[np.uint64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Bytes that must follow the last record in an area, so that words can be read anywhere in it.
PADDING_BYTES: Final = 16
MAX_LENGTH: Final = 0x7FFF_FFFF


class Doubt(Exception):
    """These batches cannot be decoded in lock-step: decode them one by one."""


_word = np.arange(65536, dtype=np.int64)
_low, _high = _word & 255, _word >> 8
_one, _two = _low < 128, (_low >= 128) & (_high < 128)
_raw = np.where(_one, _low, (_low & 127) | (_high << 7))
_value = (_raw >> 1) ^ -(_raw & 1)
_width = np.where(_one, 1, np.where(_two, 2, 0))

#: word -> value << 2 | width; 0: three bytes or more.
PACKED: Final[NDArray[np.int32]] = np.where(_width > 0, (_value << 2) | _width, 0).astype(np.int32)
#: word -> width in bits.
BITS: Final[NDArray[np.uint64]] = (_width * 8).astype(np.uint64)
ONE_BYTE: Final[NDArray[np.int32]] = _value[:256].astype(np.int32)

#: The numbers 0 to MOST_SHORT take one or two bytes: their varint as a word, which of its bits are
#: those of the varint, and its width in bits.
MOST_SHORT: Final = 8191
_short = np.arange(MOST_SHORT + 1) << 1
_is_narrow = _short < 128
SHORT_WORD: Final[Words] = np.where(
    _is_narrow, _short, (_short & 127) | 128 | (_short >> 7 << 8)
).astype(np.uint16)
SHORT_MASK: Final[Words] = np.where(_is_narrow, 0xFF, 0xFFFF).astype(np.uint16)
SHORT_BITS: Final[Longs] = np.where(_is_narrow, 8, 16).astype(np.uint64)

#: word -> width + value: from the start of a record to the next; 0: stay (long, or impossible).
ADVANCE: Final[Integers] = np.where((_width > 0) & (_value >= 0), _value + _width, 0)


def words_of(area: bytearray | bytes) -> Words:
    """Return the little-endian word at every byte but the last: an unaligned view, no copy."""
    return np.ndarray((len(area) - 1,), "<u2", area, 0, (1,))


def longs_of(area: bytearray | bytes) -> Longs:
    """Return the little-endian 64-bit word at every byte that is followed by seven more."""
    return np.ndarray((len(area) - 7,), "<u8", area, 0, (1,))


def decode(area: Bytes, positions: Integers) -> tuple[Integers, Integers | int]:
    """Return (values, widths) of the varints at `positions`: lengths and counts.

    The widths are the number 1 if all are that, else an array. Raises Doubt for a value above
    MAX_LENGTH.
    """
    low = area[positions]
    if int(low.max()) < 128:
        return ONE_BYTE.take(low), 1  # type: ignore[return-value]
    # Two gathers of bytes take half as long as one of unaligned words.
    packed = PACKED.take(low | (area[positions + 1].astype(np.uint16) << 8))
    values, widths = packed >> 2, packed & 3
    if widths.all():
        return values, widths
    long = np.flatnonzero(widths == 0)
    values = values.astype(np.int64)
    long_values, long_widths = decode_long(area, positions[long])
    if long_values.max() > MAX_LENGTH:
        raise Doubt
    values[long] = long_values
    widths[long] = long_widths
    return values, widths


def decode_long(area: Bytes, positions: Integers) -> tuple[Integers, Integers]:
    """Return (values, widths) of varints, one byte of each per step; raises Doubt for more than 64
    bits.
    """
    raw = np.zeros(positions.size, np.uint64)
    widths = np.zeros(positions.size, np.int64)
    active = np.arange(positions.size)
    at = positions.copy()
    for shift in range(0, 70, 7):
        byte = area[at[active]]
        if shift == 63 and (byte > 1).any():
            raise Doubt  # more than 64 bits
        raw[active] |= (byte & 127).astype(np.uint64) << np.uint64(shift)
        widths[active] += 1
        at[active] += 1
        active = active[byte >= 128]
        if not active.size:
            break
    values = (raw >> np.uint64(1)).astype(np.int64) ^ -(raw & np.uint64(1)).astype(np.int64)
    return values, widths
