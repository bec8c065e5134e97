"""What the generated messages stand on: the base class, errors, varints and slow paths.

The generated code reads fixed fields with precompiled structs and slices; a slice past the end
silently shortens, so each message checks once at its end that it did not run over.

Varints are base 128, least significant group first, and as in Kafka's ByteUtils at most five bytes
long and a *signed* 32-bit number once read (a "negative" length means null).
"""

from __future__ import annotations

import base64
import binascii
import codecs
import struct
from typing import Any, ClassVar, Final, Self

from pykbroker.protocol.parts_writer import Parts

struct_error = struct.error

ZERO_UUID: Final = bytes(16)
METADATA_TOPIC_ID: Final = bytes(15) + b"\x01"
MAX_STRING_BYTES: Final = 0x7FFF
MAX_TAGS: Final = 10000
NEVER_FLEXIBLE: Final = 32767

# Arrays of int32 are mostly short: precompiled for up to 15 elements.
READ_INT32S: Final = [struct.Struct(f">{n}i").unpack_from for n in range(16)]
PACK_INT32S: Final = [struct.Struct(f">{n}i").pack for n in range(16)]

_unpack_uuids = struct.Struct("16s").iter_unpack


class ProtocolError(Exception):
    """Bytes and messages that do not fit Kafka's protocol."""


class DecodeError(ProtocolError):
    """Bytes that are not the message they should be."""


class TooManyElements(DecodeError):
    """An array, or all inner arrays together, with more elements than the reader takes."""


class EncodeError(ProtocolError):
    """A message that its version cannot carry, or with a value outside its type."""


class _Fresh:
    """The type of `FRESH`."""

    def __repr__(self) -> str:
        return "FRESH"


# The default of constructor arguments for which every message needs a new list or struct.
FRESH: Any = _Fresh()


class Message:
    """Base of all generated messages and structs: equality and repr over the slots.

    A whole message has the class constants below; structs inside a message leave them as here.
    `unknown_tags` holds tagged fields of a later version of Kafka, which are written back.
    """

    __slots__: tuple[str, ...] = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]

    API_KEY: ClassVar[int] = -1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    LATEST_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = NEVER_FLEXIBLE

    unknown_tags: dict[int, bytes] | None

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        """Read one message at `pos`; answers it and the position behind it. TypeError: a part."""
        raise TypeError(f"{cls.__name__} is a part of messages, not a whole one")

    def encode(self, out: Parts, version: int) -> None:
        """Append the message to `out`. TypeError: a part of messages has no frame of its own."""
        raise TypeError(f"{type(self).__name__} is a part of messages, not a whole one")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __repr__(self) -> str:
        shown = []
        for name in self.__slots__:
            value = getattr(self, name, None)
            if name == "unknown_tags" and value is None:
                continue
            if isinstance(value, memoryview):
                shown.append(f"{name}=<{value.nbytes} bytes>")
            else:
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def read_uvarint(buf: bytes | memoryview, pos: int) -> tuple[int, int]:
    """An unsigned varint as Kafka reads it: the low 32 bits, taken as a signed number."""
    value = 0
    shift = 0
    while True:
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise DecodeError("varint is longer than five bytes")
    value &= 0xFFFFFFFF
    if value > 0x7FFFFFFF:
        value -= 0x100000000
    return value, pos


def put_uvarint(tail: bytearray, value: int) -> None:
    """Append `value` (0 <= value < 2**32) as an unsigned varint."""
    while value > 0x7F:
        tail.append(value & 0x7F | 0x80)
        value >>= 7
    tail.append(value)


def read_string_length(buf: bytes | memoryview, pos: int) -> tuple[int, int]:
    """The length plus one of a compact string, for lengths of two bytes and more."""
    value, pos = read_uvarint(buf, pos)
    if value > MAX_STRING_BYTES + 1:
        raise DecodeError(f"string has the invalid length {value - 1}")
    return value, pos


def put_string_length(tail: bytearray, value: int) -> None:
    """Append the length plus one of a compact string."""
    if value > MAX_STRING_BYTES + 1:
        raise EncodeError(f"string of {value - 1} bytes is longer than {MAX_STRING_BYTES}")
    put_uvarint(tail, value)


def read_length(buf: bytes | memoryview, pos: int) -> tuple[int, int]:
    """The length plus one of a compact array or bytes field, for lengths of two bytes and more."""
    low, high = buf[pos], buf[pos + 1]
    if high < 0x80:
        return (low & 0x7F) | high << 7, pos + 2
    value, pos = read_uvarint(buf, pos)
    if value == -0x80000000:  # minus one overflows to a huge length in Java: never null
        raise DecodeError("length is out of range")
    return value, pos


def read_tag_count(buf: bytes | memoryview, pos: int) -> tuple[int, int]:
    """The number of tagged fields, within the limits of Kafka 4.4."""
    count, pos = read_uvarint(buf, pos)
    if not 0 <= count <= min(len(buf) - pos, MAX_TAGS):
        raise DecodeError(f"{count} tagged fields, {len(buf) - pos} bytes are left")
    return count, pos


def read_unknown_tag(buf: bytes | memoryview, pos: int, size: int) -> tuple[bytes, int]:
    """The raw bytes of a tagged field."""
    if size < 0 or size > len(buf) - pos:
        raise DecodeError(f"tagged field of {size} bytes, {len(buf) - pos} are left")
    return bytes(buf[pos : pos + size]), pos + size


def read_unknown_tags(
    buf: bytes | memoryview, pos: int, count: int
) -> tuple[dict[int, bytes] | None, int]:
    """`count` tagged fields of a struct that knows none of them."""
    tags: dict[int, bytes] = {}
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return tags or None, pos


def put_tags(tail: bytearray, known: dict[int, bytes], unknown: dict[int, bytes] | None) -> None:
    """Append the count and all tagged fields, in the order of their tags; `known` is in order."""
    tags = known
    if unknown:
        tags = dict(sorted((known | unknown).items()))
        if len(tags) != len(known) + len(unknown):
            raise EncodeError(f"unknown tags {sorted(unknown)} clash with known {sorted(known)}")
    put_uvarint(tail, len(tags))
    for tag, content in tags.items():
        size = len(content)
        if tag < 128 and size < 128:
            tail.append(tag)
            tail.append(size)
        else:
            put_uvarint(tail, tag)
            put_uvarint(tail, size)
        tail += content


def read_uuids(buf: bytes | memoryview, pos: int, count: int) -> tuple[list[bytes], int]:
    """`count` uuids in a row."""
    end = pos + 16 * count
    if end > len(buf):
        raise DecodeError(f"{count} uuids do not fit into {len(buf) - pos} bytes")
    return [row[0] for row in _unpack_uuids(buf[pos:end])], end


def put_uuids(tail: bytearray, uuids: list[bytes]) -> None:
    """Append uuids in a row."""
    for uuid in uuids:
        if len(uuid) != 16:
            raise EncodeError(f"uuid of {len(uuid)} bytes")
        tail += uuid


def refuse_version(name: str, version: int) -> DecodeError:
    """The error of a version that `name` does not have."""
    return DecodeError(f"{name} has no version {version}")


def refuse_null(name: str) -> DecodeError:
    """The error of a null where the version has none."""
    return DecodeError(f"non-nullable field {name} was serialized as null")


def refuse_count(name: str, count: int, left: int) -> DecodeError:
    """The error of an array that claims more elements than its frame can hold, or than it may."""
    kind = DecodeError if count > left else TooManyElements
    return kind(f"{name} claims {count} elements, {left} bytes are left")


def refuse_total(name: str) -> TooManyElements:
    """The error of a request whose inner arrays have too many elements together."""
    return TooManyElements(f"too many elements in all {name} of one request")


def refuse_field(name: str, version: int) -> EncodeError:
    """The error of a set field that its version does not have and that is not ignorable."""
    return EncodeError(f"attempted to write a non-default {name} at version {version}")


def uuid_to_str(uuid: bytes) -> str:
    """Kafka's text form of a uuid: url-safe base64 without padding."""
    return base64.urlsafe_b64encode(uuid).decode("ascii").rstrip("=")


def uuid_from_str(text: str) -> bytes:
    """The inverse of `uuid_to_str`; raises ValueError for what is not 16 bytes in base64, padded or
    not.
    """
    if len(text) > 24:
        raise ValueError(f"{text!r} is too long for a base64 uuid")
    try:
        uuid = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{text!r} is not a base64 uuid") from error
    if len(uuid) != 16:
        raise ValueError(f"{text!r} is not 16 bytes of base64")
    return uuid


def _replace_as_java(error: UnicodeError) -> tuple[str, int]:
    """Java's decoder sees one mistake in an encoded surrogate (ED A0..BF xx), Python three."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    seen, start, end = error.object, error.start, error.end
    if seen[start] == 0xED and start + 1 < len(seen) and 0xA0 <= seen[start + 1] <= 0xBF:
        end = start + 2
        if end < len(seen) and 0x80 <= seen[end] <= 0xBF:
            end += 1
    return "\ufffd", end


codecs.register_error("java", _replace_as_java)
