"""Messages and segments of Kafka before 0.11 (magic 0 and 1), built from the format's description.

    offset i64 | size i32 | crc u32 | magic i8 | attributes i8 | [timestamp i64] |
    key length i32 | key | value length i32 | value

The crc is CRC-32 of all from the magic on. Nothing of pykbroker writes them, so nothing of it is
used here but the codecs.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from pykbroker.protocol import compression

OLD_MS = 1_460_000_000_000
"""A time of 2016."""

LOG_APPEND_TIME = 0x08


class Old(NamedTuple):
    """A record of an old message; magic 0 has no timestamp."""

    key: bytes | None
    value: bytes | None
    timestamp: int = OLD_MS


def message(
    offset: int, record: Old, *, magic: int, attributes: int = 0, crc: int | None = None
) -> bytes:
    """One message."""
    body = struct.pack(">bb", magic, attributes)
    if magic:
        body += struct.pack(">q", record.timestamp)
    for field in (record.key, record.value):
        if field is None:
            body += struct.pack(">i", -1)
        else:
            body += struct.pack(">i", len(field)) + field
    checksum = zlib.crc32(body) if crc is None else crc
    return struct.pack(">qiI", offset, len(body) + 4, checksum) + body


def compressed(
    offset: int,
    records: Sequence[Old],
    *,
    magic: int,
    codec: int,
    attributes: int = 0,
    wrapper_offset: int | None = None,
) -> bytes:
    """A message whose value holds `records`, the first of them at `offset`.

    The wrapper has the last offset. Inside, magic 1 counts from 0 and magic 0 counts on.
    """
    first = 0 if magic else offset
    inner = b"".join(
        message(first + number, record, magic=magic) for number, record in enumerate(records)
    )
    packed = compression.compress(codec, inner)
    if codec == compression.LZ4 and magic == 0:
        packed = with_wrong_lz4_checksum(packed)
    last = offset + len(records) - 1 if wrapper_offset is None else wrapper_offset
    newest = max(record.timestamp for record in records)
    return message(last, Old(None, packed, newest), magic=magic, attributes=attributes | codec)


def with_wrong_lz4_checksum(frame: bytes) -> bytes:
    """As Kafka's writer of magic 0 left it, which took in four bytes too many."""
    at = 6  # no content size, no dictionary
    return frame[:at] + bytes([frame[at] ^ 0x5A]) + frame[at + 1 :]


def old_segment(
    magic: int, codec: int, first: int = 10, count: int = 20, keys: int = 1000
) -> bytes:
    """Offsets `first` to `first + count - 1`, key `k<offset % keys>`, value `v<offset>`, a record a
    millisecond from OLD_MS on: five in each message when they are compressed."""
    records = [
        Old(b"k%d" % (offset % keys), b"v%d" % offset, OLD_MS + offset - first)
        for offset in range(first, first + count)
    ]
    if codec == compression.NONE:
        return b"".join(message(first + n, record, magic=magic) for n, record in enumerate(records))
    return b"".join(
        compressed(first + n, records[n : n + 5], magic=magic, codec=codec)
        for n in range(0, count, 5)
    )
