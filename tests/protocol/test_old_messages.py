"""Messages of magic 0 and 1, whole, compressed and broken."""

from __future__ import annotations

import struct

import pytest

from pykbroker.protocol import compression
from pykbroker.protocol.compression import GZIP, LZ4, SNAPPY, ZSTD
from pykbroker.protocol.old_messages import (
    check_old_crc,
    is_old_frame,
    old_header,
    old_records,
    with_lz4_checksum,
)
from pykbroker.protocol.record import CorruptRecord, Record
from pykbroker.protocol.record_batch import CREATE_TIME, LOG_APPEND_TIME, BatchHeader
from tests.harness import old_messages
from tests.harness.old_messages import OLD_MS, Old, compressed, message

THREE = [Old(b"a", b"first", OLD_MS + 1), Old(None, b"second", OLD_MS + 5), Old(b"c", None, OLD_MS)]


def header_of(raw: bytes) -> BatchHeader:
    header = old_header(raw, 0, len(raw))
    assert header is not None
    return header


def decode(raw: bytes) -> list[Record]:
    header = header_of(raw)
    assert check_old_crc(raw, header)
    return old_records(raw, header)


def test_a_message_known_byte_by_byte() -> None:
    raw = bytes.fromhex("0000000000000005000000101fecd70a0000000000016b0000000176")
    assert raw == message(5, Old(b"k", b"v"), magic=0)
    header = header_of(raw)
    assert (header.base_offset, header.last_offset, header.next_offset) == (5, 5, 6)
    assert (header.size_bytes, header.magic, header.record_count) == (28, 0, 1)
    assert (header.max_timestamp, header.producer_id, header.partition_leader_epoch) == (-1, -1, -1)
    assert decode(raw) == [Record(5, -1, b"k", b"v")]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("key", [None, b"", b"key"])
@pytest.mark.parametrize("value", [None, b"", b"value"])
def test_plain_messages(magic: int, key: bytes | None, value: bytes | None) -> None:
    raw = message(7, Old(key, value), magic=magic)
    assert decode(raw) == [Record(7, OLD_MS if magic else -1, key, value)]


def test_the_least_messages() -> None:
    assert [len(message(0, Old(None, None), magic=magic)) for magic in (0, 1)] == [26, 34]
    for magic, length in ((0, 14), (1, 22)):
        assert is_old_frame(magic, length)
        assert not is_old_frame(magic, length - 1)
    assert not is_old_frame(2, 100)
    assert not is_old_frame(-1, 100)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4])
def test_compressed_messages(magic: int, codec: int) -> None:
    raw = compressed(40, THREE, magic=magic, codec=codec)
    header = header_of(raw)
    assert (header.last_offset, header.codec, header.record_count) == (42, codec, -1)
    assert header.max_timestamp == (OLD_MS + 5 if magic else -1)
    times = [record.timestamp if magic else -1 for record in THREE]
    assert decode(raw) == [
        Record(40 + number, times[number], record.key, record.value)
        for number, record in enumerate(THREE)
    ]


def test_offsets_inside_may_have_gaps() -> None:
    inner = b"".join(message(at, Old(b"k", b"v"), magic=1) for at in (0, 3, 4))
    raw = message(14, Old(None, compression.compress(GZIP, inner)), magic=1, attributes=GZIP)
    assert [record.offset for record in decode(raw)] == [10, 13, 14]


def test_a_wrapper_at_offset_zero_counts_from_zero() -> None:
    raw = compressed(0, THREE, magic=1, codec=GZIP, wrapper_offset=0)
    assert [record.offset for record in decode(raw)] == [0, 1, 2]


def test_log_append_time_is_that_of_the_wrapper() -> None:
    attributes = old_messages.LOG_APPEND_TIME
    raw = compressed(0, THREE, magic=1, codec=GZIP, attributes=attributes)
    assert header_of(raw).timestamp_type == LOG_APPEND_TIME
    assert [record.timestamp for record in decode(raw)] == [OLD_MS + 5] * 3
    plain = message(0, Old(b"k", b"v", 99), magic=1, attributes=attributes)
    assert [record.timestamp for record in decode(plain)] == [99]


def test_bits_without_a_meaning_have_none() -> None:
    header = header_of(message(0, Old(b"k", b"v"), magic=0, attributes=0x78))
    assert (header.is_transactional, header.is_control, header.timestamp_type) == (
        False,
        False,
        CREATE_TIME,
    )
    header = header_of(message(0, Old(b"k", b"v"), magic=1, attributes=0x70))
    assert (header.is_control, header.has_delete_horizon) == (False, False)


def test_magic_0_inside_magic_1_has_no_time() -> None:
    inner = message(0, Old(b"k", b"v"), magic=0)
    raw = message(3, Old(None, compression.compress(GZIP, inner)), magic=1, attributes=GZIP | 8)
    assert decode(raw) == [Record(3, -1, b"k", b"v")]


def test_a_cut_off_message_inside_is_left_out() -> None:
    inner = message(0, THREE[0], magic=1) + message(1, THREE[1], magic=1)[:-1]
    raw = message(3, Old(None, compression.compress(GZIP, inner)), magic=1, attributes=GZIP)
    assert decode(raw) == [Record(3, OLD_MS + 1, b"a", b"first")]


@pytest.mark.parametrize("magic", [0, 1])
def test_what_is_no_whole_message(magic: int) -> None:
    raw = message(0, Old(b"k", b"v"), magic=magic)
    assert old_header(raw[:25], 0, 25) is None
    assert old_header(raw, 0, len(raw) - 1) is None
    for length in (0, 13, -5, 1000):
        broken = raw[:8] + struct.pack(">i", length) + raw[12:]
        assert old_header(broken, 0, len(raw)) is None
    assert old_header(raw[:16] + b"\x02" + raw[17:], 0, len(raw)) is None


def test_a_wrong_checksum() -> None:
    raw = bytearray(message(0, Old(b"k", b"v"), magic=1))
    for place in range(16, len(raw)):
        raw[place] ^= 1
        header = old_header(raw, 0, len(raw))
        assert header is None or not check_old_crc(raw, header)
        raw[place] ^= 1
    assert check_old_crc(raw, header_of(bytes(raw)))


def with_value(value: bytes | None, codec: int = GZIP, offset: int = 3) -> bytes:
    return message(offset, Old(None, value), magic=1, attributes=codec)


GZIPPED_TWICE = compression.compress(GZIP, with_value(compression.compress(GZIP, b"x" * 40)))


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (with_value(None), "without a value"),
        (with_value(b"not gzip"), "gzip"),
        (with_value(b"x", ZSTD), "codec 4"),
        (with_value(b"x", 7), "codec 7"),
        (with_value(b"x", LZ4), "lz4"),
        (with_value(compression.compress(GZIP, b"")), "no message inside"),
        (with_value(compression.compress(GZIP, bytes(40))), "no message inside"),
        (with_value(GZIPPED_TWICE), "inside a compressed message"),
        (
            with_value(compression.compress(GZIP, message(9, THREE[0], magic=1))),
            "at offset 3 holds offset 9",
        ),
    ],
)
def test_broken_content(raw: bytes, reason: str) -> None:
    with pytest.raises(CorruptRecord, match=reason):
        decode(raw)


@pytest.mark.parametrize("at", [18, 23])
@pytest.mark.parametrize("length", [1000, 0x7FFF_FFFF])
def test_fields_longer_than_their_message(at: int, length: int) -> None:
    raw = message(0, Old(b"k", b"v"), magic=0)
    broken = raw[:at] + struct.pack(">i", length) + raw[at + 4 :]
    with pytest.raises(CorruptRecord, match="field of"):
        old_records(broken, header_of(broken))


def test_what_decompresses_to_too_much() -> None:
    raw = with_value(compression.compress(GZIP, bytes(100_000)))
    with pytest.raises(CorruptRecord, match="more than 5000"):
        old_records(raw, header_of(raw), 5000)


@pytest.mark.parametrize("payload", [b"", b"x" * 10, b"x" * 200_000])
def test_the_checksum_of_an_lz4_header(payload: bytes) -> None:
    frame = compression.compress(LZ4, payload)
    assert with_lz4_checksum(frame) == frame
    wrong = old_messages.with_wrong_lz4_checksum(frame)
    assert wrong != frame
    assert with_lz4_checksum(wrong) == frame


def test_the_checksum_of_an_lz4_header_with_a_content_size() -> None:
    import lz4.frame

    frame = lz4.frame.compress(b"x" * 1000, store_size=True, block_linked=False)
    assert frame[4] & 0x08
    wrong = frame[:14] + bytes([frame[14] ^ 1]) + frame[15:]
    assert with_lz4_checksum(wrong) == frame
