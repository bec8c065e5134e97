"""batch_validation: Kafka's answers to every fault, and every rewriting."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykbroker.errors import ErrorCode
from pykbroker.log.validation import batch_validation
from pykbroker.log.validation.batch_validation import (
    CLIENT,
    COORDINATOR,
    ValidationOutcome,
    ValidationRules,
    check_replicated,
    validate,
)
from pykbroker.protocol import record_batch as rb
from pykbroker.protocol.control_records import COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record import CorruptBatch, encode_record
from pykbroker.protocol.record_batch import (
    NewRecord,
    assemble_batch,
    build_batch,
    check_crc,
    iter_records,
    read_header,
)

NOW = 1_700_000_000_000
HOUR = 3_600_000
RULES = ValidationRules("orders-0")
RECORDS: list[NewRecord] = [
    (b"k%d" % i, b"value " * 20, NOW + i, [("h", b"x")] if i % 3 == 0 else ()) for i in range(20)
]


def rules(**changes: object) -> ValidationRules:
    return ValidationRules("orders-0", **changes)  # type: ignore[arg-type]


def patched(
    batch: bytes | bytearray, pos: int, fmt: str, value: int, *, crc: bool = True
) -> bytearray:
    changed = bytearray(batch)
    struct.pack_into(fmt, changed, pos, value)
    if crc:
        struct.pack_into(">I", changed, rb.CRC_AT, rb.compute_crc(changed))
    return changed


def assert_sound(outcome: ValidationOutcome, records: list[NewRecord]) -> None:
    assert outcome.error == 0, outcome.error_message
    batch = outcome.batch
    assert check_crc(batch)
    header = read_header(batch)
    for name in rb.BatchHeader.__slots__:
        assert getattr(header, name) == getattr(outcome.header, name), name
    found = list(iter_records(batch))
    assert [(r.offset, r.key, r.value, list(r.headers)) for r in found] == [
        (i, key, value, list(headers)) for i, (key, value, _, headers) in enumerate(records)
    ]
    if outcome.log_append_time < 0:
        assert [r.timestamp for r in found] == [timestamp for _, _, timestamp, _ in records]


# -- what passes --------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", range(5))
def test_a_good_batch_is_kept_as_it_is(codec: int) -> None:
    batch = build_batch(RECORDS, codec=codec)
    view = memoryview(bytearray(batch))
    outcome = validate(view, RULES, NOW)
    assert_sound(outcome, RECORDS)
    assert isinstance(outcome.batch, memoryview)
    assert outcome.batch.obj is view.obj
    assert view == batch
    assert (outcome.rewritten, outcome.log_append_time) == (False, -1)
    assert outcome.header.max_timestamp == NOW + 19


def test_read_only_bytes_are_not_written_to() -> None:
    outcome = validate(bytes(build_batch(RECORDS)), RULES, NOW)
    assert_sound(outcome, RECORDS)
    assert isinstance(outcome.batch, bytearray)


@pytest.mark.parametrize("codec", range(5))
@pytest.mark.parametrize("claim", [-1, NOW - 5, NOW + 10**9])
def test_a_wrong_max_timestamp_is_corrected(codec: int, claim: int) -> None:
    batch = patched(build_batch(RECORDS, codec=codec), rb.MAX_TIMESTAMP_AT, ">q", claim)
    outcome = validate(memoryview(batch), RULES, NOW)
    assert_sound(outcome, RECORDS)
    assert outcome.header.max_timestamp == NOW + 19


@pytest.mark.parametrize("codec", range(5))
def test_log_append_time(codec: int) -> None:
    stale = [(key, value, 5, headers) for key, value, _, headers in RECORDS]
    outcome = validate(build_batch(stale, codec=codec), rules(log_append_time=True), NOW)
    assert_sound(outcome, stale)
    assert outcome.log_append_time == outcome.header.max_timestamp == NOW
    assert [r.timestamp for r in iter_records(outcome.batch)] == [NOW] * 20
    assert not outcome.rewritten


@pytest.mark.parametrize("source", range(5))
@pytest.mark.parametrize("target", range(5))
@pytest.mark.parametrize("append_time", [False, True])
def test_recompression(source: int, target: int, append_time: bool) -> None:
    batch = build_batch(
        RECORDS, codec=source, producer_id=9, producer_epoch=1, base_sequence=3,
        is_transactional=True,
    )  # fmt: skip
    outcome = validate(batch, rules(codec=target, log_append_time=append_time), NOW)
    assert_sound(outcome, RECORDS)
    assert outcome.rewritten == (source != target)
    header = outcome.header
    assert (header.codec, header.is_transactional) == (target, True)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 1, 3)


def test_recompression_takes_the_level() -> None:
    text = [(None, b"".join(b"%d," % (i * i) for i in range(4000)), NOW, ())]
    sizes = [
        len(validate(build_batch(text), rules(codec=4, level=level), NOW).batch)
        for level in (-50, 3, 19)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[2]


@pytest.mark.parametrize("codec", range(5))
def test_gaps_in_inner_offsets_are_closed(codec: int) -> None:
    deltas = [0, 0, 7, *range(3, 20)]
    batch = build_batch(RECORDS, codec=codec, offset_deltas=deltas, last_offset_delta=19)
    outcome = validate(batch, RULES, NOW)
    assert_sound(outcome, RECORDS)
    assert outcome.rewritten
    assert outcome.header.codec == codec


def test_timestamps_of_old_and_of_no_time() -> None:
    batch = build_batch([(None, b"v", -1, ()), (None, b"w", 0, ())])
    assert validate(batch, rules(before_max_ms=1000, after_max_ms=1000), 500).error == 0
    outcome = validate(build_batch([(None, b"v", -1, ())]), rules(before_max_ms=10), NOW)
    assert outcome.error == 0
    assert outcome.header.max_timestamp == -1


def test_the_largest_timestamp_is_never_below_none() -> None:
    batch = build_batch([(b"k", b"v", -5, ()), (b"k", b"v", -3, ())])
    outcome = validate(batch, rules(before_max_ms=1 << 62), NOW)
    assert (outcome.error, outcome.header.max_timestamp) == (0, -1)
    assert check_crc(outcome.batch)


def test_records_before_the_base_timestamp() -> None:
    records: list[NewRecord] = [(None, b"v", NOW - i * 100, ()) for i in range(5)]
    outcome = validate(build_batch(records), RULES, NOW)
    assert_sound(outcome, records)
    assert outcome.header.max_timestamp == NOW


def test_coordinators_may_write_control_batches() -> None:
    marker = build_marker_batch(
        EndTxnMarker(COMMIT, 1), producer_id=1, producer_epoch=0, timestamp_ms=NOW
    )
    assert validate(bytearray(marker), rules(codec=4), NOW, COORDINATOR).error == 0
    refused = validate(bytearray(marker), RULES, NOW, CLIENT)
    assert refused.error == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("tail", [b"x", b"\x00" * 11, bytes(build_batch(RECORDS))[:-1]])
def test_a_piece_of_a_second_batch_is_dropped(tail: bytes) -> None:
    batch = bytearray(build_batch(RECORDS))
    outcome = validate(memoryview(batch + tail), RULES, NOW)
    assert_sound(outcome, RECORDS)
    assert len(outcome.batch) == len(batch)


# -- what is refused ----------------------------------------------------------------------------

GOOD = bytes(build_batch(RECORDS))
IDEMPOTENT = bytes(build_batch(RECORDS, producer_id=4, producer_epoch=0, base_sequence=0))
COMPRESSED = bytes(build_batch(RECORDS, codec=4))
GARBAGE = bytearray(COMPRESSED[:61]) + b"garbage that is no zstd frame"
struct.pack_into(">i", GARBAGE, 8, len(GARBAGE) - 12)


@pytest.mark.parametrize(
    "batch, error, reason",
    [
        (b"", "INVALID_RECORD", "exactly one record batch"),
        (GOOD[:16], "INVALID_RECORD", "exactly one record batch"),
        (GOOD[:-1], "INVALID_RECORD", "exactly one record batch"),
        (GOOD + GOOD, "INVALID_RECORD", "exactly one record batch"),
        (GOOD + patched(GOOD, 8, ">i", 3, crc=False), "CORRUPT_MESSAGE", "minimum"),
        (GOOD + bytes(12), "CORRUPT_MESSAGE", "minimum"),
        (GOOD + patched(GOOD, 16, ">b", 3, crc=False)[:20], "CORRUPT_MESSAGE", "magic"),
        (patched(GOOD, 8, ">i", 13, crc=False), "CORRUPT_MESSAGE", "minimum record overhead"),
        (patched(GOOD, 8, ">i", -1, crc=False), "CORRUPT_MESSAGE", "minimum record overhead"),
        (patched(GOOD, 8, ">i", 48, crc=False), "CORRUPT_MESSAGE", "smaller than a header"),
        (patched(GOOD, 8, ">i", len(GOOD), crc=False), "INVALID_RECORD", "exactly one"),
        (patched(GOOD, 16, ">b", 0, crc=False), "INVALID_RECORD", "magic version 2"),
        (patched(GOOD, 16, ">b", 1, crc=False), "INVALID_RECORD", "magic version 2"),
        (patched(GOOD, 16, ">b", 3, crc=False), "CORRUPT_MESSAGE", "Invalid magic"),
        (patched(GOOD, 16, ">b", -1, crc=False), "CORRUPT_MESSAGE", "Invalid magic"),
        (patched(GOOD, 0, ">q", 5), "INVALID_RECORD", "should be 0, but it is 5"),
        (patched(GOOD, 17, ">I", 1, crc=False), "CORRUPT_MESSAGE", "stored crc = 1"),
        (patched(GOOD, 100, ">b", 1, crc=False), "CORRUPT_MESSAGE", "corrupt"),
        (patched(GOOD, rb.LAST_OFFSET_DELTA_AT, ">i", -1), "INVALID_RECORD", "offset range"),
        (patched(GOOD, rb.LAST_OFFSET_DELTA_AT, ">i", 20), "INVALID_RECORD", "Inconsistent"),
        (patched(GOOD, rb.RECORD_COUNT_AT, ">i", 0), "INVALID_RECORD", "reported count"),
        (patched(GOOD, rb.RECORD_COUNT_AT, ">i", -1), "INVALID_RECORD", "reported count"),
        (patched(GOOD, rb.ATTRIBUTES_AT, ">h", 0x20), "INVALID_RECORD", "control records"),
        (patched(IDEMPOTENT, rb.BASE_SEQUENCE_AT, ">i", -1), "INVALID_RECORD", "sequence"),
        (patched(GOOD, rb.ATTRIBUTES_AT, ">h", 5), "INVALID_RECORD", "codec 5"),
        (patched(GOOD, rb.ATTRIBUTES_AT, ">h", 7), "INVALID_RECORD", "codec 7"),
        (patched(GOOD, rb.ATTRIBUTES_AT, ">h", 3), "INVALID_RECORD", "decompressed"),
        (patched(bytes(GARBAGE), 17, ">I", 0), "INVALID_RECORD", "decompressed"),
        (patched(GOOD, 61, ">B", 0x7E), "INVALID_RECORD", "Invalid record"),
    ],
)  # fmt: skip
def test_refusals(batch: bytes, error: str, reason: str) -> None:
    before = bytes(batch)
    view = memoryview(bytearray(batch))
    outcome = validate(view, RULES, NOW)
    assert ErrorCode(outcome.error).name == error
    assert reason in str(outcome.error_message)
    assert outcome.record_errors is None
    assert bytes(view) == before


def lying_batch(count: int, payload: bytes, codec: int = 0) -> bytearray:
    header = read_header(build_batch(RECORDS))
    header.record_count = count
    header.last_offset_delta = count - 1
    header.attributes = codec
    return assemble_batch(payload, header)


@pytest.mark.parametrize("codec", range(5))
def test_records_that_lie_about_their_number_or_size(codec: int) -> None:
    record = encode_record(0, 0, b"k", b"v")
    for count, payload in (
        (2, record),
        (1, record + encode_record(1, 0, b"k", b"v")),
        (1, record[:-1]),
        (1, b"\x12" + record[1:]),
        (1, b"\x0e" + record[1:]),
        (1, b""),
    ):
        outcome = validate(lying_batch(count, payload, codec), RULES, NOW)
        assert outcome.error == ErrorCode.INVALID_RECORD, (count, payload)


def test_sizes() -> None:
    size = len(GOOD)
    assert validate(GOOD, rules(max_message_bytes=size), NOW).error == 0
    outcome = validate(GOOD, rules(max_message_bytes=size - 1), NOW)
    assert outcome.error == ErrorCode.MESSAGE_TOO_LARGE
    assert validate(GOOD, rules(segment_bytes=size), NOW).error == 0
    outcome = validate(GOOD, rules(segment_bytes=size - 1), NOW)
    assert outcome.error == ErrorCode.RECORD_LIST_TOO_LARGE
    grown = validate(COMPRESSED, rules(codec=0, max_message_bytes=len(COMPRESSED)), NOW)
    assert grown.error == ErrorCode.MESSAGE_TOO_LARGE


def test_a_bomb_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_validation, "MAX_DECOMPRESSED_BATCH_BYTES", 10_000)
    batch = build_batch([(None, bytes(20_000), NOW, ())], codec=4)
    assert validate(batch, RULES, NOW).error == ErrorCode.MESSAGE_TOO_LARGE


def test_one_record_too_large_once_decompressed() -> None:
    batch = build_batch([(None, bytes(20_000), NOW, ())], codec=4)
    assert validate(bytearray(batch), rules(max_record_bytes=20_100), NOW).error == 0
    outcome = validate(bytearray(batch), rules(max_record_bytes=19_000), NOW)
    assert outcome.error == ErrorCode.INVALID_RECORD
    assert "max.decompressed.message.bytes" in str(outcome.error_message)


def test_a_record_is_as_large_as_it_is_with_its_length() -> None:
    size = len(build_batch([(None, bytes(20_000), NOW, ())])) - rb.RECORD_BATCH_OVERHEAD
    batch = build_batch([(None, bytes(20_000), NOW, ())], codec=4)
    assert validate(bytearray(batch), rules(max_record_bytes=size), NOW).error == 0
    refused = validate(bytearray(batch), rules(max_record_bytes=size - 1), NOW)
    assert f"A record of {size} bytes exceeds" in str(refused.error_message)


def test_max_decompressed_message_bytes_does_not_bound_what_is_not_compressed() -> None:
    batch = build_batch([(None, bytes(500), NOW, ()), (b"k", b"", NOW, ())])
    assert validate(bytearray(batch), rules(max_record_bytes=100), NOW).error == 0
    refused = validate(bytearray(batch), rules(max_record_bytes=100, compact=True), NOW)
    assert refused.record_errors is not None
    assert [index for index, _ in refused.record_errors] == [0]


@pytest.mark.parametrize("codec", [0, 3])
def test_a_compacted_topic_needs_keys(codec: int) -> None:
    records: list[NewRecord] = [
        (b"k", b"v", NOW, ()),
        (None, b"v", NOW, ()),
        (b"", b"v", NOW, ()),
        (None, None, NOW, ()),
    ]
    batch = build_batch(records, codec=codec)
    assert validate(bytearray(batch), RULES, NOW).error == 0
    outcome = validate(bytearray(batch), rules(compact=True), NOW)
    assert outcome.error == ErrorCode.INVALID_RECORD
    text = "Compacted topic cannot accept message without key in topic partition orders-0"
    assert outcome.record_errors == [(1, text), (3, text)]
    assert "2 record errors in total" in str(outcome.error_message)


@pytest.mark.parametrize("codec", [0, 4])
def test_timestamps_out_of_bounds(codec: int) -> None:
    records: list[NewRecord] = [
        (None, b"v", NOW - 1001, ()),
        (None, b"v", NOW - 1000, ()),
        (None, b"v", NOW + HOUR, ()),
        (None, b"v", NOW + HOUR + 1, ()),
        (None, b"v", -1, ()),
    ]
    batch = build_batch(records, codec=codec)
    outcome = validate(bytearray(batch), rules(before_max_ms=1000), NOW)
    assert outcome.error == ErrorCode.INVALID_TIMESTAMP
    assert outcome.record_errors is not None
    assert [index for index, _ in outcome.record_errors] == [0, 3]
    assert f"within [{NOW - 1000}, {NOW + HOUR}]" in outcome.record_errors[0][1]
    only_late = validate(bytearray(batch), RULES, NOW)
    assert only_late.record_errors is not None
    assert [index for index, _ in only_late.record_errors] == [3]
    assert validate(bytearray(batch), rules(log_append_time=True), NOW).error == 0


def test_negative_timestamps_are_not_rewritten() -> None:
    batch = build_batch([(None, b"v", -5, ())], codec=3)
    assert validate(bytearray(batch), RULES, NOW).error == 0
    outcome = validate(bytearray(batch), rules(codec=4), NOW)
    assert outcome.error == ErrorCode.INVALID_TIMESTAMP
    assert outcome.record_errors is None


def test_producers_must_not_claim_log_append_time() -> None:
    batch = build_batch(RECORDS, timestamp_type=rb.LOG_APPEND_TIME, log_append_time=NOW)
    outcome = validate(bytearray(batch), rules(log_append_time=True), NOW)
    assert outcome.error == ErrorCode.INVALID_TIMESTAMP
    assert outcome.record_errors is not None
    assert len(outcome.record_errors) == 20
    # A topic with create time takes the batch's own time, as Kafka does.
    accepted = validate(bytearray(batch), RULES, NOW)
    assert accepted.error == 0
    assert accepted.header.timestamp_type == rb.CREATE_TIME


@given(st.data(), st.integers(0, 4))
@settings(max_examples=200)
def test_what_passes_can_be_read(chance: st.DataObject, codec: int) -> None:
    batch = bytearray(build_batch([(*record[:3], ()) for record in RECORDS[:5]], codec=codec))
    for _ in range(chance.draw(st.integers(1, 3))):
        batch[chance.draw(st.integers(0, len(batch) - 1))] = chance.draw(st.integers(0, 255))
    struct.pack_into(">I", batch, rb.CRC_AT, rb.compute_crc(batch))
    outcome = validate(memoryview(batch), RULES, NOW)
    if outcome.error:
        assert outcome.error_message
        return
    assert check_crc(outcome.batch)
    offsets = [record.offset for record in iter_records(outcome.batch)]
    assert offsets == list(range(outcome.header.record_count))


# -- followers ----------------------------------------------------------------------------------


def test_replicated_batches() -> None:
    first = build_batch(RECORDS, base_offset=100, leader_epoch=3)
    second = build_batch(RECORDS[:1], base_offset=120, leader_epoch=4)
    both = memoryview(bytes(first + second))
    found = check_replicated(both, "orders-0")
    assert [(pos, h.base_offset, h.partition_leader_epoch) for pos, h in found] == [
        (0, 100, 3),
        (len(first), 120, 4),
    ]
    assert len(check_replicated(both[:-1], "orders-0")) == 1
    with pytest.raises(CorruptBatch, match="offset 100 of orders-0"):
        check_replicated(memoryview(patched(bytes(first), 80, ">b", 9, crc=False)), "orders-0")
