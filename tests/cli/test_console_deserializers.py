from __future__ import annotations

import struct

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.console_deserializers import PACKAGE, DeserializerError, deserializer_of


@pytest.mark.parametrize(
    "name, content, shown",
    [
        ("StringDeserializer", "für".encode(), "für"),
        ("StringDeserializer", b"\xff", "\ufffd"),
        ("ShortDeserializer", b"\xff\xfe", "-2"),
        ("IntegerDeserializer", b"\0\0\1\0", "256"),
        ("LongDeserializer", b"\x80" + bytes(7), "-9223372036854775808"),
        ("FloatDeserializer", struct.pack(">f", 0.1), "0.1"),
        ("FloatDeserializer", struct.pack(">f", 3.4028235e38), "3.4028235E38"),
        ("FloatDeserializer", struct.pack(">f", float("-inf")), "-Infinity"),
        ("DoubleDeserializer", struct.pack(">d", 1e7), "1.0E7"),
        ("BooleanDeserializer", b"\1", "true"),
        ("BytesDeserializer", b"a\\\n\x7f~", "a\\x5C\\x0A\\x7F~"),
        (
            "UUIDDeserializer",
            b"B5A6C0A8-3B5C-4D6E-8F70-1A2B3C4D5E6F",
            "b5a6c0a8-3b5c-4d6e-8f70-1a2b3c4d5e6f",
        ),
    ],
)
def test_what_is_shown(name: str, content: bytes, shown: str) -> None:
    assert deserializer_of(PACKAGE + name)(content) == shown.encode()
    assert deserializer_of(name)(content) == shown.encode()


def test_bytes_as_they_are() -> None:
    assert deserializer_of("ByteArrayDeserializer")(b"\xff\0") == b"\xff\0"


@pytest.mark.parametrize(
    "name, content, why",
    [
        ("LongDeserializer", b"abc", "Size of data received by LongDeserializer is not 8"),
        ("BooleanDeserializer", b"\2", "Unexpected byte received by BooleanDeserializer: 2"),
        ("UUIDDeserializer", b"x", "Error parsing data into UUID"),
    ],
)
def test_bytes_of_another_type(name: str, content: bytes, why: str) -> None:
    with pytest.raises(DeserializerError, match=why):
        deserializer_of(name)(content)


def test_an_unknown_class() -> None:
    with pytest.raises(CommandError, match=r"Unknown deserializer com.example.Avro: known are"):
        deserializer_of("com.example.Avro")
