"""Messages of the formats before Kafka 0.11 (magic 0 and 1): read from old logs, never built.

    pos size  field                    (big endian)
      0   8   offset                   of a compressed message: that of the last one inside
      8   4   size                     counts from byte 12
     12   4   CRC-32 of all bytes from 16 on
     16   1   magic = 0 or 1
     17   1   attributes   0-2 codec, 3 timestamp type (magic 1 only; 1 = log append time)
     18   8   timestamp                (magic 1 only) of a compressed message: the largest inside
          4   key length               -1 null
              key
          4   value length             -1 null
              value                    of a compressed message: messages of this same form,
                                       numbered 0, 1, 2 ... in magic 1, absolutely in magic 0

State   none: functions over bytes-like objects.
In      bytes of a log, positions in them.
Out     each message as a BatchHeader of one record (`record_count` -1: compressed, not known), and
        its records with absolute offsets.
Invariants
    Bytes that are not a whole message have no header (None); malformed content raises
    CorruptRecord, nothing else.
    The base offset of a compressed message is not in its header: `base_offset` is its last offset.
Source: Kafka's LegacyRecord.java and AbstractLegacyRecordBatch.java.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Final

from pykbroker.protocol import compression
from pykbroker.protocol.crc32c import BytesLike
from pykbroker.protocol.record import CorruptRecord, Record
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    LOG_APPEND_TIME_BIT,
    LOG_OVERHEAD,
    MAGIC_AT,
    MAX_DECOMPRESSED_BYTES,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    BatchHeader,
)

#: The least whole messages of magic 0 and 1; the head of either is in its first 26 bytes.
LEAST_BYTES: Final = (26, 34)
HEAD_BYTES: Final = 26
UNKNOWN_COUNT: Final = -1

_HEAD = struct.Struct(">qiIbbq")
_I32 = struct.Struct(">i")
_KEY_AT: Final = (18, 26)
_MAX_CODEC: Final = compression.LZ4


def is_old_frame(magic: int, length: int) -> bool:
    """Whether a message of magic 0 or 1 may have this length (what its `size` field says)."""
    return 0 <= magic <= 1 and length + LOG_OVERHEAD >= LEAST_BYTES[magic]


def old_header(buf: BytesLike, pos: int, remaining: int) -> BatchHeader | None:
    """The header of the whole message at `pos`; None when there is none.

    `remaining`: the bytes from `pos` to the end of the log, of which `buf` may hold the first only.
    """
    if len(buf) - pos < HEAD_BYTES:
        return None
    offset, length, crc, magic, attributes, timestamp = _HEAD.unpack_from(buf, pos)
    if not is_old_frame(magic, length) or LOG_OVERHEAD + length > remaining:
        return None
    if magic == 0:
        attributes, timestamp = attributes & CODEC_MASK, NO_TIMESTAMP
    else:
        attributes &= CODEC_MASK | LOG_APPEND_TIME_BIT
    return BatchHeader(
        offset,
        length,
        NO_LEADER_EPOCH,
        magic,
        crc,
        attributes,
        0,
        timestamp,
        timestamp,
        NO_PRODUCER_ID,
        NO_PRODUCER_EPOCH,
        NO_SEQUENCE,
        UNKNOWN_COUNT if attributes & CODEC_MASK else 1,
    )


def check_old_crc(message: BytesLike, header: BatchHeader) -> bool:
    """Whether the checksum is right; `message` is exactly one message."""
    return zlib.crc32(memoryview(message)[MAGIC_AT:]) == header.crc


def old_records(
    message: BytesLike, header: BatchHeader, max_decompressed: int = MAX_DECOMPRESSED_BYTES
) -> list[Record]:
    """The record of a message, or the records of a compressed one; CorruptRecord."""
    raw = bytes(message)
    key, value = _key_and_value(raw, 0, len(raw), header.magic)
    codec = header.attributes & CODEC_MASK
    if codec == compression.NONE:
        return [Record(header.base_offset, header.max_timestamp, key, value)]
    if value is None:
        raise CorruptRecord("a compressed message without a value")
    records = _records_inside(_decompressed(header, codec, value, max_decompressed), header)
    if header.magic and header.base_offset:  # some clients left the offset of the wrapper at 0
        shift = header.base_offset - records[-1].offset
        if shift < 0:
            raise CorruptRecord(
                f"a compressed message at offset {header.base_offset} holds offset "
                f"{records[-1].offset}"
            )
        for record in records:
            record.offset += shift
    return records


def _decompressed(header: BatchHeader, codec: int, value: bytes, max_bytes: int) -> bytes:
    if codec > _MAX_CODEC:
        raise CorruptRecord(f"a message of magic {header.magic} with codec {codec}")
    try:
        if codec == compression.LZ4 and header.magic == 0:
            value = with_lz4_checksum(value)
        return compression.decompress(codec, value, max_bytes)
    except compression.CorruptCompression as fault:
        raise CorruptRecord(str(fault)) from None


def _records_inside(payload: bytes, header: BatchHeader) -> list[Record]:
    """With the offsets that they were written with."""
    records: list[Record] = []
    for pos, inner in _messages_inside(payload):
        timestamp = inner.max_timestamp
        if inner.magic and header.attributes & LOG_APPEND_TIME_BIT:
            timestamp = header.max_timestamp
        key, value = _key_and_value(payload, pos, pos + inner.size_bytes, inner.magic)
        records.append(Record(inner.base_offset, timestamp, key, value))
    if not records:
        raise CorruptRecord("a compressed message with no message inside")
    return records


def _messages_inside(payload: bytes) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of each; a cut-off last one is none."""
    pos, end = 0, len(payload)
    while end - pos >= LOG_OVERHEAD:
        (length,) = _I32.unpack_from(payload, pos + 8)
        following = pos + LOG_OVERHEAD + length
        if length + LOG_OVERHEAD >= LEAST_BYTES[0] and following > end:
            return
        inner = old_header(payload, pos, end - pos)
        if inner is None:
            raise CorruptRecord("no message inside a compressed message")
        if inner.attributes & CODEC_MASK:
            raise CorruptRecord("a compressed message inside a compressed message")
        yield pos, inner
        pos = following


def old_checksums(message: BytesLike, header: BatchHeader) -> list[tuple[int, bool]]:
    """(checksum, whether it is right) of the message of each record, as `old_records` has them;
    CorruptRecord.
    """
    codec = header.attributes & CODEC_MASK
    if codec == compression.NONE:
        return [(header.crc, check_old_crc(message, header))]
    raw = bytes(message)
    _, value = _key_and_value(raw, 0, len(raw), header.magic)
    payload = _decompressed(header, codec, value or b"", MAX_DECOMPRESSED_BYTES)
    return [
        (inner.crc, check_old_crc(payload[pos : pos + inner.size_bytes], inner))
        for pos, inner in _messages_inside(payload)
    ]


def _key_and_value(buf: bytes, pos: int, end: int, magic: int) -> tuple[bytes | None, bytes | None]:
    key, pos = _field(buf, pos + _KEY_AT[magic], end)
    value, _ = _field(buf, pos, end)
    return key, value


def _field(buf: bytes, pos: int, end: int) -> tuple[bytes | None, int]:
    if pos + 4 > end:
        raise CorruptRecord("a message ends within its fields")
    (length,) = _I32.unpack_from(buf, pos)
    pos += 4
    if length < 0:
        return None, pos
    if pos + length > end:
        raise CorruptRecord(f"field of {length} bytes in a message with {end - pos} left")
    return buf[pos : pos + length], pos + length


# -- lz4 of magic 0 -----------------------------------------------------------------------------

_PRIMES: Final = (2654435761, 2246822519, 3266489917, 668265263, 374761393)
_U32_MAX: Final = 0xFFFF_FFFF


def with_lz4_checksum(frame: bytes) -> bytes:
    """The lz4 frame with the right checksum of its header.

    What wrote magic 0 took in the frame's magic number too; readers have to overlook it.
    """
    if len(frame) < 7:
        raise compression.CorruptCompression("lz4: not a frame")
    flags = frame[4]
    at = 6 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
    checksum = _short_xxh32(frame[4:at]) >> 8 & 0xFF
    return frame[:at] + bytes([checksum]) + frame[at + 1 :]


def _short_xxh32(payload: bytes) -> int:
    """xxHash-32 with seed 0 of less than 16 bytes."""
    first, second, third, fourth, fifth = _PRIMES
    state = fifth + len(payload)
    whole = len(payload) // 4 * 4
    for (word,) in struct.iter_unpack("<I", payload[:whole]):
        state = (state + word * third) & _U32_MAX
        state = (state << 17 | state >> 15) & _U32_MAX
        state = state * fourth & _U32_MAX
    for byte in payload[whole:]:
        state = (state + byte * fifth) & _U32_MAX
        state = (state << 11 | state >> 21) & _U32_MAX
        state = state * first & _U32_MAX
    state ^= state >> 15
    state = state * second & _U32_MAX
    state ^= state >> 13
    state = state * third & _U32_MAX
    return state ^ state >> 16
