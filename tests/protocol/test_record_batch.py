"""pykbroker.protocol.record_batch against Apache's bytes, kafka-python and kio."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from crcmod.predefined import mkPredefinedCrcFun
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kio.records.readers import read_batch

from pykbroker.protocol import record_batch as rb
from pykbroker.protocol.record_batch import (
    CorruptBatch,
    CorruptRecord,
    NewRecord,
    Record,
    assign_offset,
    assign_timestamp,
    build_batch,
    check_crc,
    iter_batches,
    iter_headers,
    iter_records,
    read_header,
)

APACHE = Path(__file__).parent.parent / "fixtures" / "apache"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
T0 = 1_700_000_000_000

HEADERS = st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=9)), max_size=3)
RECORDS = st.lists(
    st.tuples(
        st.none() | st.binary(max_size=80),
        st.none() | st.binary(max_size=200),
        st.integers(0, 2**42),
        HEADERS,
    ),
    min_size=1,
    max_size=12,
)


def apache_records() -> list[Record]:
    """What tests/fixtures/apache/MakeFixtures.java puts into every batch."""
    return [
        Record(
            1000 + i,
            T0 + i * 37 % 1000,
            None if i % 3 == 0 else b"key-%d" % i,
            None if i % 5 == 0 else b"value-" + b"x" * i,
            [(f"h{i}", b"hv%d" % i), ("n", None)] if i % 4 == 0 else [],
        )
        for i in range(300)
    ]


@pytest.mark.parametrize("codec", range(5), ids=CODECS)
def test_batches_written_by_apache(codec: int) -> None:
    batch = (APACHE / f"batch-{CODECS[codec]}.bin").read_bytes()
    header = read_header(batch)
    assert check_crc(batch)
    assert header.size_bytes == len(batch)
    assert (header.base_offset, header.last_offset, header.next_offset) == (1000, 1299, 1300)
    assert (header.codec, header.timestamp_type, header.magic) == (codec, rb.CREATE_TIME, 2)
    assert (header.producer_id, header.producer_epoch) == (4242, 3)
    assert (header.base_sequence, header.last_sequence) == (17, 316)
    assert header.is_transactional
    assert not header.is_control
    assert header.partition_leader_epoch == 9
    assert header.record_count == 300
    assert (header.base_timestamp, header.max_timestamp) == (T0, T0 + 999)
    assert list(iter_records(batch)) == apache_records()


def test_an_uncompressed_batch_is_byte_for_byte_apaches() -> None:
    built = build_batch(
        [(r.key, r.value, r.timestamp, r.headers) for r in apache_records()],
        base_offset=1000,
        leader_epoch=9,
        producer_id=4242,
        producer_epoch=3,
        base_sequence=17,
        is_transactional=True,
    )
    assert bytes(built) == (APACHE / "batch-none.bin").read_bytes()


def test_log_append_time_is_the_time_of_every_record() -> None:
    batch = (APACHE / "batch-append-time.bin").read_bytes()
    assert read_header(batch).timestamp_type == rb.LOG_APPEND_TIME
    assert [r.timestamp for r in iter_records(batch)] == [1700000009999] * 2


@given(RECORDS, st.integers(0, 4), st.integers(0, 2**60))
@settings(max_examples=60)
def test_round_trip_and_strangers(records: list[NewRecord], codec: int, base: int) -> None:
    batch = build_batch(records, codec=codec, base_offset=base, leader_epoch=7)
    expected = [
        Record(base + i, timestamp, key, value, headers)
        for i, (key, value, timestamp, headers) in enumerate(records)
    ]
    assert list(iter_records(batch)) == expected
    header = read_header(batch)
    assert header.max_timestamp == max(timestamp for _, _, timestamp, _ in records)
    assert header.crc == mkPredefinedCrcFun("crc-32c")(bytes(batch[21:]))
    stranger = DefaultRecordBatch(bytes(batch))
    assert stranger.validate_crc()
    assert [(r.offset, r.timestamp, r.key, r.value, r.headers) for r in stranger] == [
        (r.offset, r.timestamp, r.key, r.value, list(r.headers)) for r in expected
    ]


@given(RECORDS, st.integers(0, 4))
@settings(max_examples=40)
def test_we_read_what_kafka_python_writes(records: list[NewRecord], codec: int) -> None:
    builder = DefaultRecordBatchBuilder(2, codec, False, 10, 2, 0, 1 << 30)
    for i, (key, value, timestamp, headers) in enumerate(records):
        builder.append(i, timestamp, key, value, list(headers))
    batch = bytes(builder.build())
    assert check_crc(batch)
    assert [(r.key, r.value, r.timestamp, list(r.headers)) for r in iter_records(batch)] == [
        (key, value, timestamp, list(headers)) for key, value, timestamp, headers in records
    ]


def test_kio_reads_our_batches() -> None:
    batch = build_batch([(b"k", b"v", T0, [("h", b"x")]), (None, b"w", T0 + 5, ())], base_offset=3)
    found = read_batch(memoryview(bytes(batch)), 0)[0]
    assert (found.base_offset, found.batch_length) == (3, len(batch) - 12)
    assert [record.value for record in found.records] == [b"v", b"w"]
    assert [record.key for record in found.records] == [b"k", None]


def test_a_sequence_of_batches_and_a_cut_tail() -> None:
    first = build_batch([(b"a", b"1", 1, ())], base_offset=0)
    second = build_batch([(b"b", b"2", 2, ()), (b"c", b"3", 3, ())], base_offset=1)
    both = bytes(first + second)
    assert [(pos, h.base_offset) for pos, h in iter_headers(both)] == [(0, 0), (len(first), 1)]
    assert [bytes(view) for _, view in iter_batches(memoryview(both))] == [first, second]
    for cut in range(len(first), len(both)):
        assert len(list(iter_headers(both[:cut], partial_tail=True))) == 1
        if cut > len(first):
            with pytest.raises(CorruptBatch):
                list(iter_headers(both[:cut]))


def patched(batch: bytearray, pos: int, fmt: str, value: int) -> bytearray:
    changed = bytearray(batch)
    struct.pack_into(fmt, changed, pos, value)
    return changed


BATCH = build_batch([(b"a", b"1", 10, ()), (b"b", b"2", 11, [("h", b"x")])], base_offset=5)


@pytest.mark.parametrize(
    "batch, reason",
    [
        (BATCH[:60], "too few"),
        (BATCH[:-1], "only"),
        (patched(BATCH, rb.MAGIC_AT, ">b", 1), "magic 1"),
        (patched(BATCH, rb.BATCH_LENGTH_AT, ">i", 48), "less than its header"),
        (patched(BATCH, rb.BATCH_LENGTH_AT, ">i", -1), "less than its header"),
        (patched(BATCH, rb.BATCH_LENGTH_AT, ">i", 2**31 - 1), "only"),
        (patched(BATCH, rb.RECORD_COUNT_AT, ">i", 1), "leave"),
        (patched(BATCH, rb.RECORD_COUNT_AT, ">i", 3), "early"),
        (patched(BATCH, rb.RECORD_COUNT_AT, ">i", -1), "leave"),
        (patched(BATCH, rb.LAST_OFFSET_DELTA_AT, ">i", 0), "offset delta"),
        (patched(BATCH, rb.ATTRIBUTES_AT, ">h", 5), "codec 5"),
        (patched(BATCH, rb.ATTRIBUTES_AT, ">h", 1), "gzip"),
    ],
)
def test_malformed_batches(batch: bytearray, reason: str) -> None:
    with pytest.raises(CorruptBatch, match=reason):
        list(iter_records(batch))


@given(st.data(), st.integers(0, 4))
@settings(max_examples=150)
def test_mutated_batches_raise_nothing_else(chance: st.DataObject, codec: int) -> None:
    batch = build_batch(
        [(b"k%d" % i, b"value" * 9, T0 + i, [("h", b"v")] if i % 2 else ()) for i in range(9)],
        codec=codec,
    )
    for _ in range(chance.draw(st.integers(1, 5))):
        batch[chance.draw(st.integers(8, len(batch) - 1))] = chance.draw(st.integers(0, 255))
    try:
        for header, view in iter_batches(batch, partial_tail=True):
            found = list(iter_records(view, header, max_decompressed=10_000))
            assert len(found) == header.record_count
    except CorruptBatch:
        pass


def test_invalid_utf8_in_a_header_key_is_replaced() -> None:
    batch = build_batch([(None, None, 1, [("hh", None)])])
    batch[-3:-1] = b"\xff\xfe"
    (record,) = iter_records(batch)
    assert record.headers == [("\ufffd\ufffd", None)]


def test_too_much_once_decompressed() -> None:
    batch = build_batch([(None, bytes(100_000), 1, ())], codec=4)
    with pytest.raises(CorruptRecord, match="more than 1000"):
        list(iter_records(batch, max_decompressed=1000))


def test_patching_in_place() -> None:
    batch = bytearray(BATCH)
    assign_offset(memoryview(batch), 1_000_000, 12)
    assert check_crc(batch)
    assert [r.offset for r in iter_records(batch)] == [1_000_000, 1_000_001]
    assert read_header(batch).partition_leader_epoch == 12

    before = bytes(batch)
    assign_timestamp(memoryview(batch), rb.CREATE_TIME, 11)
    assert bytes(batch) == before
    assign_timestamp(memoryview(batch), rb.LOG_APPEND_TIME, T0)
    assert check_crc(batch)
    assert [r.timestamp for r in iter_records(batch)] == [T0, T0]
    assign_timestamp(batch, rb.CREATE_TIME, 11)
    assert check_crc(batch)
    assert bytes(batch) == before


def test_gaps_and_delete_horizon() -> None:
    batch = build_batch(
        [(b"a", None, 100, ()), (b"b", b"2", 200, ())],
        base_offset=10,
        offset_deltas=[2, 7],
        last_offset_delta=9,
        delete_horizon_ms=5000,
    )
    header = read_header(batch)
    assert header.has_delete_horizon
    assert header.delete_horizon_ms == 5000
    assert (header.last_offset, header.max_timestamp) == (19, 200)
    assert [(r.offset, r.timestamp) for r in iter_records(batch)] == [(12, 100), (17, 200)]
    assert read_header(BATCH).delete_horizon_ms is None


def test_an_empty_batch() -> None:
    batch = build_batch([], base_offset=10, last_offset_delta=4, producer_id=1, base_sequence=0)
    assert list(iter_records(batch)) == []
    assert read_header(batch).last_sequence == 4


def test_sequences_wrap() -> None:
    assert rb.increment_sequence(2**31 - 1, 1) == 0
    assert rb.increment_sequence(2**31 - 3, 5) == 2
    assert rb.decrement_sequence(2, 5) == 2**31 - 3
    assert read_header(BATCH).last_sequence == rb.NO_SEQUENCE
    assert "producer_id=-1" in repr(read_header(BATCH))


@pytest.mark.parametrize("timestamp_type", [rb.CREATE_TIME, rb.LOG_APPEND_TIME])
def test_many_records_with_gaps(timestamp_type: int) -> None:
    rows = [(b"%d" % n, None, 1000 + n, [("h", b"%d" % n)]) for n in range(10_000)]
    deltas = [2 * n for n in range(10_000)]
    batch = build_batch(
        rows,
        base_offset=7,
        offset_deltas=deltas,
        timestamp_type=timestamp_type,
        log_append_time=5,
    )
    records = list(iter_records(batch))
    assert [record.offset for record in records] == [7 + delta for delta in deltas]
    assert [(record.key, record.value, record.headers) for record in records] == [
        (key, value, headers) for key, value, _, headers in rows
    ]
    times = {record.timestamp for record in records}
    assert times == ({5} if timestamp_type == rb.LOG_APPEND_TIME else set(range(1000, 11_000)))
