"""Varints, tags, uuids and Java's idea of UTF-8."""

from __future__ import annotations

import uuid

import pytest

from pykbroker.protocol.primitives import (
    ZERO_UUID,
    DecodeError,
    EncodeError,
    put_string_length,
    put_tags,
    put_uuids,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    read_uuids,
    read_uvarint,
    uuid_from_str,
    uuid_to_str,
)


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (16383, "ff7f"),
        (16384, "808001"),
        (300, "ac02"),
        (2**31 - 1, "ffffffff07"),
    ],
)
def test_uvarint_both_ways(value: int, wire: str) -> None:
    tail = bytearray()
    put_uvarint(tail, value)
    assert tail.hex() == wire
    assert read_uvarint(bytes(tail), 0) == (value, len(tail))


def test_uvarint_is_a_signed_number_of_32_bits() -> None:
    assert read_uvarint(bytes.fromhex("ffffffff0f"), 0) == (-1, 5)
    assert read_uvarint(bytes.fromhex("808080807f"), 0) == (-(2**28), 5)
    with pytest.raises(DecodeError, match="five bytes"):
        read_uvarint(bytes.fromhex("808080808001"), 0)
    with pytest.raises(DecodeError):
        read_length(bytes.fromhex("8080808008"), 0)


def test_string_lengths_end_at_32767() -> None:
    tail = bytearray()
    put_string_length(tail, 32768)
    assert read_string_length(bytes(tail), 0) == (32768, 3)
    with pytest.raises(EncodeError):
        put_string_length(tail, 32769)
    with pytest.raises(DecodeError):
        read_string_length(b"\x81\x80\x02", 0)


def test_tags_are_written_in_order_and_read_back() -> None:
    tail = bytearray()
    put_tags(tail, {3: b"c", 1: b"a"}, {2: b"b" * 200, 9: b""})
    assert tail[:4] == b"\x04\x01\x01a"
    count, pos = read_tag_count(bytes(tail), 0)
    tags, end = read_unknown_tags(bytes(tail), pos, count)
    assert tags == {1: b"a", 2: b"b" * 200, 3: b"c", 9: b""}
    assert end == len(tail)


@pytest.mark.parametrize(
    "wire",
    [
        b"\xff\xff\xff\xff\x0f",  # -1 tags
        b"\x05\0\0",  # five tags in two bytes
        b"\x91\x4e" + bytes(20002),  # 10,001 tags
    ],
)
def test_tag_counts_have_kafkas_limits(wire: bytes) -> None:
    with pytest.raises(DecodeError):
        read_tag_count(wire, 0)


@pytest.mark.parametrize("size", [b"\x05", b"\xff\xff\xff\xff\x0f"])
def test_a_tag_larger_than_the_rest_is_refused(size: bytes) -> None:
    with pytest.raises(DecodeError):
        read_unknown_tags(b"\x01" + size + b"abc", 0, 1)


def test_uuids_in_a_row() -> None:
    some = [uuid.UUID(int=i << 64 | 7).bytes for i in range(3)]
    tail = bytearray(b"?")
    put_uuids(tail, some)
    assert read_uuids(memoryview(tail), 1, 3) == (some, 49)
    with pytest.raises(DecodeError):
        read_uuids(bytes(tail), 2, 3)
    with pytest.raises(EncodeError):
        put_uuids(tail, [b"short"])


def test_uuid_text_is_kafkas() -> None:
    # Uuid.METADATA_TOPIC_ID prints as this in Apache Kafka
    assert uuid_to_str(bytes(15) + b"\x01") == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert uuid_to_str(ZERO_UUID) == "A" * 22
    assert uuid_from_str("AAAAAAAAAAAAAAAAAAAAAQ") == bytes(15) + b"\x01"
    assert uuid_from_str(uuid_to_str(b"\xfb\xff" * 8)) == b"\xfb\xff" * 8
    for bad in ("", "abc", "A" * 25, "A" * 21 + "!", "A" * 20, "é" * 22):
        with pytest.raises(ValueError, match="base64"):
            uuid_from_str(bad)


@pytest.mark.parametrize(
    ("wire", "text"),
    [
        # (bytes, what Java 17's `new String(bytes, UTF_8)` makes of them)
        ("eda080", "\ufffd"),
        ("eda0", "\ufffd"),
        ("eda061", "\ufffda"),
        ("f0808080", "\ufffd" * 4),
        ("f4908080", "\ufffd" * 4),
        ("e282", "\ufffd"),
        ("e28261", "\ufffda"),
        ("c080", "\ufffd" * 2),
        ("f09f98", "\ufffd"),
        ("f888808080", "\ufffd" * 5),
        ("e2e282ac", "\ufffd\u20ac"),
        ("ed", "\ufffd"),
        ("f490", "\ufffd" * 2),
    ],
)
def test_broken_utf8_is_replaced_as_java_does(wire: str, text: str) -> None:
    assert str(bytes.fromhex(wire), "utf-8", "java") == text
