"""pykbroker.protocol.record: varints and single records."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.util import decode_varint
from kafka.record.util import encode_varint as kafka_python_varint

from pykbroker.protocol.record import (
    CorruptRecord,
    Record,
    encode_record,
    encode_varint,
    read_records,
    read_varint,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
HEADERS = st.lists(st.tuples(st.text(max_size=8), st.none() | st.binary(max_size=80)), max_size=4)
FIELD = st.none() | st.binary(max_size=200)


@given(INT64)
def test_varint_both_ways(value: int) -> None:
    encoded = encode_varint(value)
    assert read_varint(encoded, 0) == (value, len(encoded))
    stranger = bytearray()
    kafka_python_varint(value, stranger.append)
    assert encoded == bytes(stranger)
    assert decode_varint(bytearray(encoded), 0) == (value, len(encoded))


@pytest.mark.parametrize("value", [-65, -64, -1, 0, 63, 64, 8191, 8192, -(2**63), 2**63 - 1])
def test_varint_edges(value: int) -> None:
    assert read_varint(b"\xff" + encode_varint(value) + b"\x00", 1)[0] == value


def test_varints_that_never_end_or_overflow() -> None:
    with pytest.raises(CorruptRecord):
        read_varint(b"\x80" * 11, 0)
    with pytest.raises(CorruptRecord):
        read_varint(b"\xff" * 9 + b"\x7f", 0)
    with pytest.raises(IndexError):
        read_varint(b"\x80\x80", 0)


@given(st.integers(0, 2**31 - 1), INT64, FIELD, FIELD, HEADERS)
def test_record_both_ways(
    delta: int,
    timestamp_delta: int,
    key: bytes | None,
    value: bytes | None,
    headers: list[tuple[str, bytes | None]],
) -> None:
    encoded = encode_record(delta, timestamp_delta, key, value, headers)
    found = next(read_records(b"?" + encoded + b"?", 1, 1))
    assert found[:4] == (timestamp_delta, delta, key, value)
    assert list(found[4]) == headers
    assert found[5] == 1 + len(encoded)


@pytest.mark.parametrize(
    "encoded, reason",
    [
        (b"\x0a\x00\x00\x00\x01\x01", "bytes"),  # five bytes of body: too few for six fields
        (b"\x7f", "bytes"),  # negative length
        (b"\x0e\x00\x00\x00\x01\x01\x00\x00", "ends 1 bytes before"),
        (b"\x0c\x00\x00\x00\x7e\x01\x00", "field of 63 bytes"),
        (b"\x0c\x00\x00\x00\x01\x01\x01", "-1 headers"),
        (b"\x0c\x00\x00\x00\x01\x01\x04", "2 headers in 0"),
        (b"\x10\x00\x00\x00\x01\x01\x02\x01\x01", "header without a key"),
        (b"\x7e\x00\x00\x00\x01\x01\x00", "are there"),
    ],
)
def test_malformed_records(encoded: bytes, reason: str) -> None:
    with pytest.raises(CorruptRecord, match=reason):
        next(read_records(encoded, 1, 0))


def test_records_compare_by_value() -> None:
    record = Record(1, 2, b"k", None, [("h", b"v")])
    assert record == Record(1, 2, b"k", None, (("h", b"v"),))
    assert record != Record(1, 2, b"k", b"", [("h", b"v")])
    assert record != "record"
    assert "offset=1" in repr(record)
