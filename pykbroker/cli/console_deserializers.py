"""Keys and values as text, by the names of Kafka's deserializers."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable
from typing import Final

from pykbroker.cli.command import CommandError
from pykbroker.config.definition import double_text

Deserializer = Callable[[bytes], bytes]

PACKAGE: Final = "org.apache.kafka.common.serialization."


class DeserializerError(Exception):
    """The bytes are not of that type; the text is Apache's."""


def deserializer_of(class_name: str) -> Deserializer:
    """Return the function that turns bytes into what Kafka's console consumer prints for them."""
    short = class_name.removeprefix(PACKAGE)
    if short not in _DESERIALIZERS:
        known = ", ".join(_DESERIALIZERS)
        raise CommandError(
            f"Unknown deserializer {class_name}: known are {known} of {PACKAGE[:-1]}"
        )
    sizes, convert = _DESERIALIZERS[short]

    def deserialize(content: bytes) -> bytes:
        if sizes and len(content) not in sizes:
            expected = " or ".join(map(str, sizes))
            raise DeserializerError(f"Size of data received by {short} is not {expected}")
        return convert(content).encode("utf-8", "surrogateescape")

    return deserialize


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _integer(content: bytes) -> str:
    return str(int.from_bytes(content, "big", signed=True))


def _float(content: bytes) -> str:
    """Format like java.lang.Float.toString: the fewest digits that denote the same four bytes."""
    value = struct.unpack(">f", content)[0]
    if value != value or value in (float("inf"), float("-inf")):
        return double_text(value)
    near = (float(f"{value:.{digits}g}") for digits in range(1, 10))
    return double_text(next(each for each in near if _is_float(each, content)))


def _is_float(value: float, content: bytes) -> bool:
    try:
        return struct.pack(">f", value) == content
    except OverflowError:
        return False


def _double(content: bytes) -> str:
    return double_text(struct.unpack(">d", content)[0])


def _boolean(content: bytes) -> str:
    if content not in (b"\0", b"\1"):
        number = int.from_bytes(content, signed=True)
        raise DeserializerError(f"Unexpected byte received by BooleanDeserializer: {number}")
    return "true" if content == b"\1" else "false"


def _uuid(content: bytes) -> str:
    try:
        return str(uuid.UUID(content.decode("utf-8")))
    except ValueError as error:
        raise DeserializerError(f"Error parsing data into UUID: {error}") from error


def _escaped(content: bytes) -> str:
    """Format like org.apache.kafka.common.utils.Bytes."""
    return "".join(
        chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02X}" for byte in content
    )


def _as_it_is(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


_DESERIALIZERS: Final[dict[str, tuple[tuple[int, ...], Callable[[bytes], str]]]] = {
    "StringDeserializer": ((), _text),
    "ByteArrayDeserializer": ((), _as_it_is),
    "BytesDeserializer": ((), _escaped),
    "ShortDeserializer": ((2,), _integer),
    "IntegerDeserializer": ((4,), _integer),
    "LongDeserializer": ((8,), _integer),
    "FloatDeserializer": ((4,), _float),
    "DoubleDeserializer": ((8,), _double),
    "BooleanDeserializer": ((1,), _boolean),
    "UUIDDeserializer": ((), _uuid),
}
