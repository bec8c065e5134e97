"""The whole log of a partition, on the disk in memory."""

from __future__ import annotations

import random

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.lookup import upper_bound_offset
from pykbroker.log.partition.partition_log import AppendOrigin
from pykbroker.protocol.control_records import EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import iter_batches
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import (
    DIRECTORY,
    NOW_MS,
    append,
    batch_of,
    memory_disk,
    open_orders,
    values_of,
)


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def test_offsets_are_assigned_and_read_back(files: MemoryFiles) -> None:
    log = open_orders(files)
    assert [append(log, b"a", b"b"), append(log, b"c"), append(log, b"d")] == [0, 2, 3]
    assert (log.log_start_offset, log.log_end_offset, log.next_offset) == (0, 4, 4)
    assert values_of(log) == [b"a", b"b", b"c", b"d"]
    assert values_of(log, 1) == [b"b", b"c", b"d"]
    outcome = log.read(2, 1 << 20, 4)
    assert outcome.slice is not None
    headers = [header for header, _ in iter_batches(outcome.slice.read())]
    assert [(h.base_offset, h.partition_leader_epoch) for h in headers] == [(2, 0), (3, 0)]


def test_reads_outside_the_log(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"a")
    for offset in (-1, 2):
        with pytest.raises(KafkaError) as caught:
            log.read(offset, 100, 1)
        assert caught.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.read(1, 100, 1).slice is None


def test_bound_keeps_later_batches_out(files: MemoryFiles) -> None:
    log = open_orders(files)
    for value in (b"a", b"b", b"c"):
        append(log, value)
    outcome = log.read(0, 1 << 20, 2)
    assert outcome.slice is not None
    assert [h.base_offset for h, _ in iter_batches(outcome.slice.read())] == [0, 1]
    assert log.read(2, 1 << 20, 2).slice is None


def test_max_bytes_and_the_first_batch(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"x" * 100)
    append(log, b"y" * 100)
    whole = log.read(0, 1 << 20, 2).size // 2
    assert log.read(0, 10, 2).size == whole
    refused = log.read(0, 10, 2, min_one_batch=False)
    assert (refused.slice, refused.is_first_batch_too_large) == (None, True)
    assert log.read(0, whole + 5, 2).size == whole + 5
    assert log.bytes_between(0, 2) == 2 * whole
    assert log.bytes_between(1, 2) == whole
    assert log.bytes_between(2, 2) == 0


def test_rolls_by_size_and_reads_across(files: MemoryFiles) -> None:
    log = open_orders(files, segment_bytes="1048576", index_interval_bytes="0")
    for number in range(30):
        append(log, bytes([number]) * 100_000)
    assert len(log.segments) > 2
    assert [s.base_offset for s in log.segments] == sorted(s.base_offset for s in log.segments)
    assert all(s.size <= 1048576 for s in log.segments)
    assert values_of(log) == [bytes([n]) * 100_000 for n in range(30)]
    names = files.list_sizes(DIRECTORY)
    second = log.segments[1].base_offset
    assert f"{second:020d}.snapshot" in names
    assert names[f"{0:020d}.index"] % 8 == 0
    assert names[f"{0:020d}.index"] < 1000
    assert names[f"{log.active.base_offset:020d}.index"] == 10485760
    assert names[f"{log.active.base_offset:020d}.timeindex"] == 10485756
    assert log.bytes_between(0, 30) == log.size_bytes


def test_leader_epochs(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"a", epoch=1)
    append(log, b"b", epoch=1)
    append(log, b"c", epoch=4)
    log.assign_epoch_start(6, 3)
    assert log.leader_epochs.epochs.entries == [(1, 0), (4, 2), (6, 3)]
    assert log.end_offset_for_epoch(1) == (1, 2)
    assert log.end_offset_for_epoch(3) == (1, 2)
    assert log.end_offset_for_epoch(4) == (4, 3)
    assert log.end_offset_for_epoch(9) == (-1, -1)
    assert not log.truncate_to(3)
    assert log.leader_epochs.latest_epoch == 4
    assert log.truncate_to(1)
    assert log.leader_epochs.epochs.entries == [(1, 0)]
    assert files.read_file(f"{DIRECTORY}/leader-epoch-checkpoint") == b"0\n1\n1 0\n"


def test_truncation_across_segments(files: MemoryFiles) -> None:
    log = open_orders(files, segment_ms="1000", index_interval_bytes="0")
    for step in range(10):
        append(log, bytes([step]), timestamp=NOW_MS + 600 * step)
    assert len(log.segments) == 5
    log.truncate_to(5)
    assert values_of(log) == [bytes([n]) for n in range(5)]
    assert append(log, b"new") == 5
    assert log.chores.due_deletions(0) == []
    deleted = [path for d in log.chores.due_deletions(60_000) for path in d.paths]
    assert f"{DIRECTORY}/{6:020d}.log.deleted" in deleted
    log.truncate_fully_and_start_at(100)
    assert (log.log_start_offset, log.log_end_offset) == (100, 100)
    assert append(log, b"x") == 100


def test_truncation_takes_producers_back(files: MemoryFiles) -> None:
    log = open_orders(files)
    for sequence in range(4):
        log.append_as_leader(batch_of(b"x", producer=(7, 0, sequence)), 0, NOW_MS)
    log.write_pending()
    log.truncate_to(2)
    assert log.append_as_leader(batch_of(b"x", producer=(7, 0, 2)), 0, NOW_MS).base_offset == 2
    assert log.next_offset == 3  # it is no duplicate of what was cut off
    log.truncate_fully_and_start_at(9)
    assert log.append_as_leader(batch_of(b"x", producer=(7, 0, 0)), 0, NOW_MS).base_offset == 9


def test_truncation_takes_transactions_back(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"kept")
    batch = batch_of(b"x", producer=(7, 0, 0), is_transactional=True)
    log.append_as_leader(batch, 0, NOW_MS)
    log.write_pending()
    assert log.last_stable_offset(2) == 1
    log.truncate_to(1)
    append(log, b"new")
    assert log.last_stable_offset(2) == 2


def test_lookup_by_time(files: MemoryFiles) -> None:
    log = open_orders(files, segment_ms="1000", index_interval_bytes="0")
    for start in (0, 1200, 2400):
        batch = batch_of(
            b"a", b"b", b"c", timestamps=[NOW_MS + start + n * 100 for n in range(3)], codec=1
        )
        log.append_as_leader(batch, 2, NOW_MS)
    log.write_pending()
    assert len(log.segments) == 3
    assert log.offset_for_timestamp(NOW_MS) == (0, NOW_MS, 2)
    assert log.offset_for_timestamp(NOW_MS + 101) == (2, NOW_MS + 200, 2)
    assert log.offset_for_timestamp(NOW_MS + 201) == (3, NOW_MS + 1200, 2)
    assert log.offset_for_timestamp(NOW_MS + 2600) == (8, NOW_MS + 2600, 2)
    assert log.offset_for_timestamp(NOW_MS + 2601) is None
    assert log.offset_of_max_timestamp() == (8, NOW_MS + 2600, 2)
    log.advance_log_start_offset(1)
    assert log.offset_for_timestamp(0) == (1, NOW_MS + 100, 2)


def test_transactions_hold_the_last_stable_offset(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"plain")
    log.append_as_leader(batch_of(b"t", producer=(9, 0, 0), is_transactional=True), 0, NOW_MS)
    log.write_pending()
    append(log, b"more")
    assert log.last_stable_offset(3) == 1
    marker = build_marker_batch(
        EndTxnMarker(0, 5), producer_id=9, producer_epoch=0, timestamp_ms=NOW_MS
    )
    done = log.append_as_leader(marker, 0, NOW_MS, AppendOrigin.COORDINATOR)
    assert done.error == 0, done.error_message
    log.write_pending()
    assert log.last_stable_offset(3) == 1
    assert log.last_stable_offset(4) == 4
    assert log.aborted_transactions(0, 4) == [(9, 1)]
    outcome = log.read(0, 1 << 20, 4)
    assert upper_bound_offset(log.local, outcome) == 4
    log.close()
    again = open_orders(files)
    assert again.aborted_transactions(0, 4) == [(9, 1)]
    assert again.last_stable_offset(4) == 4


def test_the_last_stable_offset_is_never_below_the_log_start(files: MemoryFiles) -> None:
    """Even within a batch, of whose transaction the first records are deleted."""
    log = open_orders(files)
    batch = batch_of(b"a", b"b", b"c", producer=(9, 0, 0), is_transactional=True)
    log.append_as_leader(batch, 0, NOW_MS)
    log.write_pending()
    assert log.last_stable_offset(3) == 0
    log.advance_log_start_offset(1)
    assert log.last_stable_offset(3) == 1


@pytest.mark.parametrize("seed", range(8))
def test_aborted_transactions_survive_a_recovery_and_a_power_failure(
    files: MemoryFiles, seed: int
) -> None:
    """A clean stop syncs all; a recovery behind it, and a roll, must not undo that."""
    log = open_orders(files)
    log.append_as_leader(batch_of(b"t", producer=(9, 0, 0), is_transactional=True), 0, NOW_MS)
    marker = build_marker_batch(
        EndTxnMarker(0, 5), producer_id=9, producer_epoch=0, timestamp_ms=NOW_MS
    )
    log.append_as_leader(marker, 0, NOW_MS, AppendOrigin.COORDINATOR)
    log.close()
    recovered = open_orders(files, is_clean=False, recovery_point=2)
    recovered.roll(NOW_MS)
    append(recovered, b"in the next segment")
    files.crash(random.Random(seed), reorder=True)
    again = open_orders(files, is_clean=False, recovery_point=2)
    assert again.aborted_transactions(0, 2) == [(9, 0)]


def test_a_transaction_index_of_garbage_is_built_again(files: MemoryFiles) -> None:
    log = open_orders(files)
    for sequence in range(2):
        batch = batch_of(b"t", producer=(9, 0, sequence), is_transactional=True)
        assert log.append_as_leader(batch, 0, NOW_MS).error == 0
        marker = build_marker_batch(
            EndTxnMarker(0, 5), producer_id=9, producer_epoch=0, timestamp_ms=NOW_MS
        )
        log.append_as_leader(marker, 0, NOW_MS, AppendOrigin.COORDINATOR)
        log.roll(NOW_MS)
    log.close()
    path = f"{DIRECTORY}/{2:020d}.txnindex"
    content = files.read_file(path)
    again = open_orders(files)
    files.write_file(path, b"\xff" * 40)
    again.segments[1].txn_index.unload()
    assert again.aborted_transactions(0, 4) == [(9, 0), (9, 2)]
    assert files.read_file(path) == content


def test_log_start_offset(files: MemoryFiles) -> None:
    log = open_orders(files, segment_ms="1000")
    for step in range(6):
        append(log, b"x", timestamp=NOW_MS + 600 * step)
    assert log.advance_log_start_offset(3)
    assert not log.advance_log_start_offset(2)
    with pytest.raises(KafkaError):
        log.read(2, 100, 6)
    assert log.delete_old_segments(NOW_MS, 6) == 1
    assert log.segments.first.base_offset == 2
    assert log.log_start_offset == 3


def test_moving_the_directory(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"a")
    log.move_to("/d/orders-3.x-delete")
    assert not files.exists(DIRECTORY)
    assert values_of(log) == [b"a"]
    append(log, b"b", epoch=2)
    assert files.exists("/d/orders-3.x-delete/leader-epoch-checkpoint")
