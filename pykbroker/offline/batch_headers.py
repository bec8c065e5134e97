"""Headers of record batches: many at once as a numpy table, and the checks for impossible ones.

    base offset i64 | length i32 | leader epoch i32 | magic i8 | crc u32 | attributes i16 |
    last offset delta i32 | base timestamp i64 | max timestamp i64 | producer id i64 |
    producer epoch i16 | base sequence i32 | record count i32          61 bytes, big endian

Both decoders use the same two functions, so that they reject the same batches with the same
messages: `framing_fault` (where does the next batch begin?) and `header_fault`.
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pykbroker.protocol.compression import CODEC_NAMES
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    DELETE_HORIZON_BIT,
    LOG_APPEND_TIME_BIT,
    LOG_OVERHEAD,
    MAGIC_AT,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
)

#: A table of headers: structured array of HEADER_DTYPE.
HeaderTable = NDArray[np.void]
Integers = NDArray[np.int64]

HEADER_DTYPE: Final = np.dtype(
    [
        ("base_offset", ">i8"),
        ("length", ">i4"),
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("record_count", ">i4"),
    ]
)
_LEAST_OLD_BYTES: Final = 26
_HEADER_BYTES: Final = np.dtype((np.void, RECORD_BATCH_OVERHEAD))
_MAX_CODEC: Final = len(CODEC_NAMES) - 1
_MAX_OFFSET: Final = 0x7FFF_FFFF_FFFF_FFFF
_LENGTH: Final = struct.Struct(">8xi").unpack_from


def walk(buffer: bytearray, filled: int) -> tuple[list[int], int]:
    """Return the positions of the complete batches at the start of a buffer,
    and the end of the last.
    """
    positions: list[int] = []
    found = positions.append
    position = 0
    last = filled - RECORD_BATCH_OVERHEAD
    while position <= last:
        size = _LENGTH(buffer, position)[0] + LOG_OVERHEAD
        if size < RECORD_BATCH_OVERHEAD or position + size > filled:
            break
        found(position)
        position += size
    return positions, position


def gather(area: NDArray[np.uint8], positions: Integers) -> HeaderTable:
    """Return the headers at these positions as one table."""
    room = max(0, area.size - RECORD_BATCH_OVERHEAD + 1)
    everywhere: NDArray[np.void] = np.ndarray((room,), _HEADER_BYTES, area, 0, (1,))
    return everywhere[positions].view(HEADER_DTYPE)


def chosen(table: HeaderTable, indices: Integers) -> HeaderTable:
    """Return some rows of a table, copied as a whole, ten times as fast as field by field."""
    return table.view(_HEADER_BYTES)[indices].view(HEADER_DTYPE)


def table_of(headers: bytes) -> HeaderTable:
    """Return the table of consecutive headers."""
    return np.frombuffer(headers, HEADER_DTYPE)


def framing_fault(head: bytes | bytearray | memoryview, remaining: int) -> tuple[int, str | None]:
    """Return (size of the batch, None), or (0, why the next batch cannot be located).

    `head`: the first bytes of the batch; `remaining`: how many bytes there are up to the end.
    """
    old = old_magic(head, remaining)
    if old is not None and _LENGTH(head)[0] + LOG_OVERHEAD < RECORD_BATCH_OVERHEAD:
        return 0, f"record batch of magic {old}"
    if len(head) < RECORD_BATCH_OVERHEAD:
        remaining = min(remaining, len(head))
    if remaining < RECORD_BATCH_OVERHEAD:
        return 0, f"{remaining} bytes are too few for a record batch"
    size: int = _LENGTH(head)[0] + LOG_OVERHEAD
    if size < RECORD_BATCH_OVERHEAD:
        return 0, f"record batch of {size} bytes, less than its header"
    if size > remaining:
        return 0, f"record batch of {size} bytes, only {remaining} are there"
    return size, None


def old_magic(head: bytes | bytearray | memoryview, remaining: int) -> int | None:
    """Return the magic of what looks like a complete message written before Kafka 0.11 (KIP-98), or
    None.

    offset i64 | size i32 | crc u32 | magic i8 (0 or 1) | attributes i8 | [timestamp i64] |
    key length i32 | key | value length i32 | value          no less than 26 bytes
    """
    if len(head) <= MAGIC_AT or head[MAGIC_AT] not in (0, 1):
        return None
    size = _LENGTH(head)[0] + LOG_OVERHEAD
    return head[MAGIC_AT] if _LEAST_OLD_BYTES <= size <= remaining else None


def header_fault(header: BatchHeader) -> str | None:
    """Return what makes a header impossible, apart from the checksum; None if nothing does."""
    if header.magic != MAGIC_V2:
        return f"record batch of magic {header.magic}"
    codec = header.attributes & CODEC_MASK
    if codec > _MAX_CODEC:
        return f"unknown compression codec {codec}"
    delta, count = header.last_offset_delta, header.record_count
    if header.base_offset < 0 or header.base_offset + delta > _MAX_OFFSET:
        return f"base offset {header.base_offset} with a last offset delta of {delta}"
    if count < 0 or delta < count - 1:
        return f"{count} records with a last offset delta of {delta}"
    return None


def possible(table: HeaderTable) -> NDArray[np.bool_]:
    """Return which headers have no `header_fault`."""
    base: Integers = table["base_offset"]
    delta = table["last_offset_delta"].astype(np.int64)
    count = table["record_count"]
    sane: NDArray[np.bool_] = table["magic"] == MAGIC_V2
    sane &= (table["attributes"] & CODEC_MASK) <= _MAX_CODEC
    sane &= (base >= 0) & (base <= _MAX_OFFSET - np.maximum(delta, 0))
    sane &= (count >= 0) & (delta >= count.astype(np.int64) - 1)
    return sane


def header_at(table: HeaderTable, index: int) -> BatchHeader:
    """Return one row as the protocol's header class."""
    return BatchHeader(*table[index].item())


def first_times(table: HeaderTable) -> tuple[Integers, NDArray[np.bool_]]:
    """Return (time of each batch's first record, where that is known).

    Compaction overwrites the base timestamp with a delete horizon (KIP-534), or with -1 if no
    record is left. With log append time all records have the batch's time, whatever the producer's
    base.
    """
    attributes = table["attributes"]
    append_time = (attributes & LOG_APPEND_TIME_BIT) != 0
    known = ((attributes & DELETE_HORIZON_BIT) == 0) | append_time
    known &= table["record_count"] > 0
    times = np.where(append_time, table["max_timestamp"], table["base_timestamp"])
    return times.astype(np.int64), known
