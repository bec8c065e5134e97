"""Records by time and aborted transactions, across segments."""

from __future__ import annotations

from pykbroker.log.partition.lookup import upper_bound_offset
from pykbroker.log.partition.partition_log import AppendOrigin, PartitionLog
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from tests.log.log_makers import NOW_MS, append, batch_of, memory_disk, open_orders


def transaction(log: PartitionLog, producer_id: int, control_type: int, roll: bool = False) -> None:
    batch = batch_of(b"t", producer=(producer_id, 0, 0), is_transactional=True)
    assert log.append_as_leader(batch, 0, NOW_MS).error == 0
    log.write_pending()
    if roll:
        log.roll(NOW_MS)
    marker = build_marker_batch(
        EndTxnMarker(control_type, 1),
        producer_id=producer_id,
        producer_epoch=0,
        timestamp_ms=NOW_MS,
    )
    assert log.append_as_leader(marker, 0, NOW_MS, AppendOrigin.COORDINATOR).error == 0
    log.write_pending()


def test_times_of_an_empty_log() -> None:
    log = open_orders(memory_disk())
    assert log.offset_for_timestamp(0) is None
    assert log.offset_of_max_timestamp() is None


def test_the_earliest_of_equal_largest_timestamps() -> None:
    log = open_orders(memory_disk())
    append(log, b"a", timestamp=NOW_MS)
    log.roll(NOW_MS)
    append(log, b"b", timestamp=NOW_MS)
    assert log.offset_of_max_timestamp() == (0, NOW_MS, 0)


def test_records_without_a_time_are_never_found() -> None:
    log = open_orders(memory_disk())
    append(log, b"a", timestamp=-1)
    assert log.offset_for_timestamp(0) is None
    assert log.offset_of_max_timestamp() is None


def test_aborted_transactions_of_a_range() -> None:
    log = open_orders(memory_disk())
    transaction(log, 1, ABORT)  # 0, marker 1
    transaction(log, 2, COMMIT)  # 2, marker 3
    transaction(log, 3, ABORT, roll=True)  # 4, marker 5 in the next segment
    append(log, b"plain")  # 6
    transaction(log, 4, ABORT)  # 7, marker 8
    assert log.aborted_transactions(0, 9) == [(1, 0), (3, 4), (4, 7)]
    assert log.aborted_transactions(0, 1) == [(1, 0)]
    assert log.aborted_transactions(2, 5) == [(3, 4)]
    assert log.aborted_transactions(6, 7) == []
    assert log.aborted_transactions(8, 9) == [(4, 7)]


def test_upper_bound_of_a_slice() -> None:
    log = open_orders(memory_disk(), index_interval_bytes="0")
    for _ in range(4):
        append(log, b"x" * 100)
    log.roll(NOW_MS)
    append(log, b"y")
    size = log.segments.first.size // 4
    assert upper_bound_offset(log.local, log.read(0, size, 5)) == 1
    assert upper_bound_offset(log.local, log.read(2, 1 << 20, 5)) == 4
    assert upper_bound_offset(log.local, log.read(4, 1 << 20, 5)) == 5
    assert upper_bound_offset(log.local, log.read(5, 1 << 20, 5)) == 5


def test_upper_bound_is_not_taken_from_a_garbled_index() -> None:
    files = memory_disk()
    log = open_orders(files, index_interval_bytes="0")
    for _ in range(6):
        append(log, b"x" * 100)
    log.roll(NOW_MS)
    append(log, b"y")
    segment = log.segments.first
    content = bytearray(files.read_file(segment.offset_index.path))
    content[2 * 8 : 2 * 8 + 4] = bytes(4)  # the offset of an entry: too low
    files.write_file(segment.offset_index.path, content)
    segment.offset_index.unload()
    size = segment.size // 6
    outcome = log.read(0, size * 3, 7)
    assert log.local.guarded("looking up", upper_bound_offset, log.local, outcome) == 3


def test_where_nothing_was_aborted_no_batch_is_looked_at() -> None:
    log = open_orders(memory_disk(), index_interval_bytes="0")
    for _ in range(4):
        append(log, b"x" * 100)
    outcome = log.read(0, log.segments.first.size // 2, 4)
    assert outcome.slice is not None
    log.active.file.truncate(0)  # any look would fail
    assert log.aborted_in_slice(0, outcome) == []
