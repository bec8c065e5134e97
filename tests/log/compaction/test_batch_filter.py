"""pykbroker.log.compaction.batch_filter: what is left of one batch, case by case."""

from __future__ import annotations

import pytest

from pykbroker.log.compaction.batch_filter import Retention, build_empty, collect_keys, filter_batch
from pykbroker.log.compaction.cleaned_transactions import CleanedTransactions
from pykbroker.log.compaction.key_map import KeyMap
from pykbroker.log.segments.txn_index import AbortedTxn
from pykbroker.protocol import record_batch as rb
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record import CorruptRecord
from pykbroker.protocol.record_batch import (
    NewRecord,
    build_batch,
    check_crc,
    iter_records,
    read_header,
)

NOW = 1_700_000_000_000
DAY = 86_400_000
RECORDS: list[NewRecord] = [
    (b"a", b"1", NOW + 5, [("h", b"x")]),
    (b"b", None, NOW + 9, ()),
    (b"c", b"3", NOW + 7, ()),
    (b"a", b"4", NOW + 8, ()),
]


def retention(
    latest: dict[bytes, int],
    *,
    covered: int = 1 << 40,
    aborted: tuple[AbortedTxn, ...] = (),
    last_records: dict[int, tuple[int, int]] | None = None,
    high_watermark: int = 1 << 40,
    now_ms: int = NOW,
) -> Retention:
    keys = KeyMap(1 << 30)
    keys.put_all(list(latest), list(latest.values()))
    keys.advance_to(covered)
    return Retention(
        keys,
        CleanedTransactions(aborted),
        last_records or {},
        high_watermark=high_watermark,
        now_ms=now_ms,
        delete_retention_ms=DAY,
    )


def left(batch: bytearray, rules: Retention) -> list[tuple[int, bytes | None, int]]:
    kept = filter_batch(batch, read_header(batch), rules)
    assert kept is not None
    assert check_crc(kept)
    before, after = read_header(batch), read_header(kept)
    for name in ("base_offset", "last_offset", "producer_id", "producer_epoch", "base_sequence"):
        assert getattr(after, name) == getattr(before, name), name
    assert after.partition_leader_epoch == before.partition_leader_epoch
    assert after.is_transactional == before.is_transactional
    assert after.is_control == before.is_control
    assert after.timestamp_type == before.timestamp_type
    return [(record.offset, record.value, record.timestamp) for record in iter_records(kept)]


@pytest.mark.parametrize("codec", range(5))
def test_the_latest_of_each_key_stays_with_its_offset_and_time(codec: int) -> None:
    batch = build_batch(
        [record for record in RECORDS if record[1]],
        codec=codec,
        base_offset=100,
        leader_epoch=4,
        producer_id=9,
        producer_epoch=2,
        base_sequence=30,
    )
    rules = retention({b"a": 102, b"c": 101})
    assert left(batch, rules) == [(101, b"3", NOW + 7), (102, b"4", NOW + 8)]
    kept = filter_batch(batch, read_header(batch), rules)
    assert kept is not None
    header = read_header(kept)
    assert (header.max_timestamp, header.record_count, header.codec) == (NOW + 8, 2, codec)
    assert header.last_sequence == 32


def test_an_unchanged_batch_is_the_same_bytes() -> None:
    batch = build_batch([RECORDS[0], RECORDS[2]], base_offset=100, codec=3)
    assert filter_batch(batch, read_header(batch), retention({})) is batch
    assert filter_batch(batch, read_header(batch), retention({b"a": 100})) is batch


def test_records_behind_the_map_stay_whatever_the_map_says() -> None:
    batch = build_batch([RECORDS[0], (None, b"no key", NOW, ())], base_offset=100)
    assert left(batch, retention({b"a": 500}, covered=99)) == [
        (100, b"1", NOW + 5),
        (101, b"no key", NOW),
    ]


def test_records_without_a_key_go() -> None:
    batch = build_batch([(None, b"x", NOW, ()), RECORDS[2]], base_offset=100)
    assert left(batch, retention({})) == [(101, b"3", NOW + 7)]


def test_nothing_left() -> None:
    batch = build_batch(RECORDS[:1], base_offset=100)
    assert filter_batch(batch, read_header(batch), retention({b"a": 500})) is None


# -- tombstones ---------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", [0, 4])
def test_a_tombstone_gets_a_horizon_and_goes_when_it_has_passed(codec: int) -> None:
    batch = build_batch(RECORDS, base_offset=100, codec=codec)
    rules = retention({b"a": 103, b"b": 101, b"c": 102})
    expected = [(101, None, NOW + 9), (102, b"3", NOW + 7), (103, b"4", NOW + 8)]
    assert left(batch, rules) == expected
    first = filter_batch(batch, read_header(batch), rules)
    assert isinstance(first, bytearray)
    header = read_header(first)
    assert header.delete_horizon_ms == NOW + DAY
    assert header.max_timestamp == NOW + 9

    early = retention({}, now_ms=NOW + DAY - 1)
    assert filter_batch(first, read_header(first), early) is first
    assert left(first, retention({}, now_ms=NOW + DAY)) == expected[1:]
    late = filter_batch(first, read_header(first), retention({}, now_ms=NOW + DAY))
    assert late is not None
    assert read_header(late).delete_horizon_ms == NOW + DAY


def test_a_tombstone_behind_the_map_stays_when_its_horizon_has_passed() -> None:
    """Older records of its key may lie behind the map as well: without it they would come back."""
    batch = build_batch(RECORDS[1:2], base_offset=100)
    first = filter_batch(batch, read_header(batch), retention({b"b": 100}))
    assert first is not None
    passed = NOW + DAY + 1
    behind = retention({}, covered=99, now_ms=passed)
    assert filter_batch(first, read_header(first), behind) is first
    assert (
        filter_batch(first, read_header(first), retention({}, covered=100, now_ms=passed)) is None
    )


def test_an_overwritten_tombstone_goes_at_once() -> None:
    batch = build_batch(RECORDS[1:3], base_offset=100)
    assert left(batch, retention({b"b": 900})) == [(101, b"3", NOW + 7)]
    assert not read_header(
        filter_batch(batch, read_header(batch), retention({b"b": 900})) or b""
    ).has_delete_horizon


def test_log_append_time_survives() -> None:
    batch = build_batch(
        RECORDS, base_offset=100, timestamp_type=rb.LOG_APPEND_TIME, log_append_time=NOW - 99
    )
    assert left(batch, retention({b"a": 103})) == [
        (101, None, NOW - 99),
        (102, b"3", NOW - 99),
        (103, b"4", NOW - 99),
    ]
    without = build_batch(
        [RECORDS[0], RECORDS[2]],
        timestamp_type=rb.LOG_APPEND_TIME,
        log_append_time=NOW - 99,
    )
    assert left(without, retention({b"a": 7})) == [(1, b"3", NOW - 99)]


def test_times_count_from_the_first_record_that_is_left() -> None:
    """MemoryRecords.filterTo builds the batch anew."""
    batch = build_batch(RECORDS[1:], base_offset=100)
    rules = retention({b"b": 500, b"c": 101, b"a": 102})
    kept = filter_batch(batch, read_header(batch), rules)
    assert kept is not None
    assert read_header(kept).base_timestamp == NOW + 7
    assert left(batch, rules) == [(101, b"3", NOW + 7), (102, b"4", NOW + 8)]
    expected = build_batch(RECORDS[2:], base_offset=100, offset_deltas=[1, 2])
    assert kept == expected


def test_append_time_is_the_base_of_what_is_left() -> None:
    append_time = {"timestamp_type": rb.LOG_APPEND_TIME, "log_append_time": NOW + 50}
    batch = build_batch(RECORDS, **append_time)  # type: ignore[arg-type]
    kept = filter_batch(batch, read_header(batch), retention({b"a": 3, b"c": 2, b"b": 9}))
    assert kept is not None
    assert read_header(kept).base_timestamp == NOW + 50
    rows = [(key, value, NOW + 50, headers) for key, value, _, headers in RECORDS[2:]]
    assert kept == build_batch(rows, offset_deltas=[2, 3], **append_time)  # type: ignore[arg-type]


# -- producers, transactions --------------------------------------------------------------------


def producer_batch(**more: object) -> bytearray:
    return build_batch(
        RECORDS[:1],
        base_offset=100,
        leader_epoch=3,
        codec=4,
        producer_id=9,
        producer_epoch=2,
        base_sequence=30,
        last_offset_delta=4,
        **more,  # type: ignore[arg-type]
    )


def test_the_last_batch_of_a_producer_is_kept_empty() -> None:
    batch = producer_batch()
    gone = {b"a": 500}
    assert filter_batch(batch, read_header(batch), retention(gone)) is None
    other = retention(gone, last_records={9: (105, 2), 8: (104, 0)})
    assert filter_batch(batch, read_header(batch), other) is None
    rules = retention(gone, last_records={9: (104, 2)})
    assert left(batch, rules) == []
    empty = filter_batch(batch, read_header(batch), rules)
    assert empty is not None
    assert len(empty) == 61
    header = read_header(empty)
    assert (header.codec, header.last_sequence, header.base_timestamp) == (0, 34, -1)
    again = filter_batch(empty, read_header(empty), rules)
    assert again == empty
    assert filter_batch(empty, read_header(empty), retention(gone)) is None


def test_the_batch_below_the_high_watermark_is_kept_empty() -> None:
    batch = producer_batch()
    assert left(batch, retention({b"a": 500}, high_watermark=105)) == []


def test_aborted_records_go() -> None:
    batch = producer_batch(is_transactional=True)
    aborted = (AbortedTxn(9, 100, 200, 201),)
    assert filter_batch(batch, read_header(batch), retention({}, aborted=aborted)) is None
    kept = retention({}, aborted=aborted, last_records={9: (104, 2)})
    assert left(batch, kept) == []
    assert left(batch, retention({})) == [(100, b"1", NOW + 5)]


def marker(control_type: int) -> bytearray:
    return build_marker_batch(
        EndTxnMarker(control_type, 6),
        producer_id=9,
        producer_epoch=2,
        timestamp_ms=NOW - 5,
        base_offset=110,
        leader_epoch=3,
    )


@pytest.mark.parametrize("control_type", [ABORT, COMMIT])
def test_a_spent_marker_gets_a_horizon_and_goes_when_it_has_passed(control_type: int) -> None:
    batch = marker(control_type)
    (before,) = iter_records(batch)
    first = filter_batch(batch, read_header(batch), retention({}))
    assert isinstance(first, bytearray)
    (after,) = iter_records(first)
    assert after == before
    assert read_header(first).delete_horizon_ms == NOW + DAY
    soon = retention({}, now_ms=NOW + DAY - 1)
    assert filter_batch(first, read_header(first), soon) is first
    assert filter_batch(first, read_header(first), retention({}, now_ms=NOW + DAY)) is None
    # Of a producer without data it is the last that tells of its epoch.
    last = retention({}, now_ms=NOW + DAY, last_records={9: (-1, 2)})
    assert left(first, last) == []


def test_a_marker_stays_while_its_transaction_has_records() -> None:
    rules = retention({})
    records = producer_batch(is_transactional=True)
    assert filter_batch(records, read_header(records), rules) is records
    commit = marker(COMMIT)
    assert filter_batch(commit, read_header(commit), rules) is commit


# -- keys ---------------------------------------------------------------------------------------


def test_collecting_keys() -> None:
    batch = build_batch([*RECORDS, (None, b"x", NOW, ())], base_offset=100, codec=2)
    header = read_header(batch)
    assert collect_keys(batch, header, 0) == ([b"a", b"b", b"c", b"a"], [100, 101, 102, 103])
    assert collect_keys(batch, header, 102) == ([b"c", b"a"], [102, 103])


@pytest.mark.parametrize("count", [3, 5])
def test_lying_batches(count: int) -> None:
    batch = build_batch(RECORDS)
    header = read_header(batch)
    header.record_count = count
    with pytest.raises(CorruptRecord):
        collect_keys(batch, header, 0)
    with pytest.raises(CorruptRecord):
        filter_batch(batch, header, retention({}))


def test_an_empty_frame() -> None:
    assert read_header(build_empty(read_header(producer_batch()))).record_count == 0
