"""Single records of a batch of magic 2: zigzag varints, one record's bytes, both ways.

    record    varint length of what follows | int8 attributes = 0 | varlong timestamp delta |
              varint offset delta | varint key length (-1 null) | key | varint value length (-1
              null) | value | varint header count | { varint length | header key | varint length
              (-1 null) | header value }          all varints zigzag

Source: Kafka's DefaultRecord.java and ByteUtils.java.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

Headers: TypeAlias = Sequence[tuple[str, bytes | None]]
#: What `build_batch` takes: key, value, timestamp in ms, headers.
NewRecord: TypeAlias = tuple[bytes | None, bytes | None, int, Headers]


#: timestamp delta, offset delta, key, value, headers, position behind the record.
RawRecord: TypeAlias = tuple[int, int, bytes | None, bytes | None, Headers, int]


class CorruptBatch(Exception):
    """Bytes that are not an intact record batch (or a message of an older magic)."""


class CorruptRecord(CorruptBatch):
    """A batch whose records do not fit its header or the record format."""


class Record:
    """One record with its absolute offset and its timestamp in ms; key and value are copies."""

    __slots__ = ("headers", "key", "offset", "timestamp", "value")

    def __init__(
        self,
        offset: int,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers = (),
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return (
            self.offset == other.offset
            and self.timestamp == other.timestamp
            and self.key == other.key
            and self.value == other.value
            and list(self.headers) == list(other.headers)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Record(offset={self.offset}, timestamp={self.timestamp}, key={self.key!r}, "
            f"value={self.value!r}, headers={list(self.headers)!r})"
        )


def read_varint(buf: bytes, pos: int) -> tuple[int, int]:
    """A zigzag varint of up to ten bytes at `pos`: (value, position behind it). Raises IndexError
    at the end of `buf`, CorruptRecord above 64 bits.
    """
    byte = buf[pos]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), pos + 1
    raw = byte & 0x7F
    shift = 7
    while True:
        pos += 1
        byte = buf[pos]
        raw |= (byte & 0x7F) << shift
        if byte < 0x80 and raw < 0x1_0000_0000_0000_0000:
            return (raw >> 1) ^ -(raw & 1), pos + 1
        shift += 7
        if shift > 63:
            raise CorruptRecord("varint of more than 64 bits")


def read_zigzag(buf: bytes, pos: int) -> tuple[int, int]:
    """As `read_varint`, but the bits as they stand: odd where the value is negative."""
    value, pos = read_varint(buf, pos)
    return (value << 1) ^ (value >> 63), pos


def read_records(buf: bytes, count: int, pos: int = 0) -> Iterator[RawRecord]:  # noqa: C901
    """`count` records from `pos` on, one after the other.

    Raises CorruptRecord, and IndexError at the end of `buf`. Malformed UTF-8 in a header's key is
    replaced. Short varints are decoded here: a call for each would take twice as long.
    """
    size = len(buf)
    for _ in range(count):
        raw, pos = buf[pos], pos + 1
        if raw > 0x7F:
            if (byte := buf[pos]) < 0x80:
                raw += (byte - 1) << 7
                pos += 1
            else:
                raw, pos = _read_longer(buf, pos, raw)
        end = pos + (raw >> 1)
        if raw & 1 or raw < 12 or end > size:
            raise CorruptRecord(f"record of {_zigzag(raw)} bytes, {size - pos} are there")
        raw, pos = buf[pos + 1], pos + 2  # behind the attributes, which have no meaning yet
        if raw > 0x7F:
            if (byte := buf[pos]) < 0x80:
                raw += (byte - 1) << 7
                pos += 1
            else:
                raw, pos = _read_longer(buf, pos, raw)
        timestamp_delta = ~(raw >> 1) if raw & 1 else raw >> 1
        raw, pos = buf[pos], pos + 1
        if raw > 0x7F:
            if (byte := buf[pos]) < 0x80:
                raw += (byte - 1) << 7
                pos += 1
            else:
                raw, pos = _read_longer(buf, pos, raw)
        delta = ~(raw >> 1) if raw & 1 else raw >> 1
        raw, pos = buf[pos], pos + 1
        if raw > 0x7F:
            raw, pos = _read_longer(buf, pos, raw)
        key: bytes | None = None
        if not raw & 1:
            start, pos = pos, pos + (raw >> 1)
            if pos > end:
                raise CorruptRecord(
                    f"field of {raw >> 1} bytes in a record with {end - start} left"
                )
            key = buf[start:pos]
        raw, pos = buf[pos], pos + 1
        if raw > 0x7F:
            if (byte := buf[pos]) < 0x80:
                raw += (byte - 1) << 7
                pos += 1
            else:
                raw, pos = _read_longer(buf, pos, raw)
        value: bytes | None = None
        if not raw & 1:
            start, pos = pos, pos + (raw >> 1)
            if pos > end:
                raise CorruptRecord(
                    f"field of {raw >> 1} bytes in a record with {end - start} left"
                )
            value = buf[start:pos]

        headers: Headers = ()
        if buf[pos]:
            headers, pos = _read_headers(buf, pos, end)
        else:
            pos += 1
        if pos != end:
            raise CorruptRecord(f"record ends {end - pos} bytes before its length says")
        yield timestamp_delta, delta, key, value, headers, pos


def _zigzag(raw: int) -> int:
    return (raw >> 1) ^ -(raw & 1)


def _read_longer(buf: bytes, pos: int, first: int) -> tuple[int, int]:
    """The bits, zigzag still, of a varint whose first byte says that there are more from `pos`."""
    byte = buf[pos]
    if byte < 0x80:
        return first + ((byte - 1) << 7), pos + 1
    return read_zigzag(buf, pos - 1)


def _read_headers(buf: bytes, pos: int, end: int) -> tuple[Headers, int]:
    count, pos = read_varint(buf, pos)
    if count < 0 or count > end - pos:
        raise CorruptRecord(f"record of {count} headers in {end - pos} bytes")
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count):
        name, pos = _read_bytes(buf, pos, end)
        if name is None:
            raise CorruptRecord("header without a key")
        header_value, pos = _read_bytes(buf, pos, end)
        headers.append((name.decode("utf-8", "replace"), header_value))
    return headers, pos


def _read_bytes(buf: bytes, pos: int, end: int) -> tuple[bytes | None, int]:
    length, pos = read_varint(buf, pos)
    if length < 0:
        return None, pos
    stop = pos + length
    if stop > end:
        raise CorruptRecord(f"field of {length} bytes in a record with {end - pos} left")
    return buf[pos:stop], stop


_SMALL_VARINTS = tuple(bytes([(n << 1) ^ (n >> 63)]) for n in range(-64, 64))


def encode_varint(value: int) -> bytes:
    """Zigzag, base 128; for 32-bit and 64-bit values alike."""
    if -64 <= value < 64:
        return _SMALL_VARINTS[value + 64]
    if 0 <= value < 8192:
        return bytes((value << 1 & 0x7F | 0x80, value >> 6))
    raw = (value << 1) ^ (value >> 63)
    encoded = bytearray()
    while raw > 0x7F:
        encoded.append(raw & 0x7F | 0x80)
        raw >>= 7
    encoded.append(raw)
    return bytes(encoded)


def encode_record(
    offset_delta: int,
    timestamp_delta: int,
    key: bytes | None,
    value: bytes | None,
    headers: Headers = (),
) -> bytes:
    """One record of a batch, its length in front."""
    body = b"".join(
        (
            b"\x00",
            encode_varint(timestamp_delta),
            encode_varint(offset_delta),
            b"\x01" if key is None else encode_varint(len(key)),
            key or b"",
            b"\x01" if value is None else encode_varint(len(value)),
            value or b"",
            _encode_headers(headers) if headers else b"\x00",
        )
    )
    return encode_varint(len(body)) + body


def _encode_headers(headers: Headers) -> bytes:
    parts = [encode_varint(len(headers))]
    for name, value in headers:
        encoded_name = name.encode()
        parts.append(encode_varint(len(encoded_name)))
        parts.append(encoded_name)
        if value is None:
            parts.append(b"\x01")
        else:
            parts.append(encode_varint(len(value)))
            parts.append(value)
    return b"".join(parts)
