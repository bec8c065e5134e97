"""Appending: what one turn sees of itself, when it rolls, what a failure takes back."""

from __future__ import annotations

import errno

import pytest

from pykbroker.environment.files import LogDirFailure
from pykbroker.errors import ErrorCode
from pykbroker.log.partition.partition_log import AppendOrigin
from pykbroker.protocol.record_batch import read_header
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import DIRECTORY, NOW_MS, append, batch_of, memory_disk, open_orders


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def test_writable_bytes_are_patched_in_place_others_copied(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"a")
    mine = batch_of(b"b")
    log.append_as_leader(memoryview(mine), 7, NOW_MS)
    header = read_header(mine)
    assert (header.base_offset, header.partition_leader_epoch) == (1, 7)
    frozen = bytes(batch_of(b"c"))
    log.append_as_leader(frozen, 7, NOW_MS)
    assert frozen == bytes(batch_of(b"c"))
    log.write_pending()
    assert log.log_end_offset == 3


def test_log_append_time(files: MemoryFiles) -> None:
    log = open_orders(files, message_timestamp_type="LogAppendTime")
    outcome = log.append_as_leader(batch_of(b"a", timestamp=5), 0, NOW_MS)
    assert outcome.log_append_time_ms == NOW_MS
    log.write_pending()
    assert log.offset_of_max_timestamp() == (0, NOW_MS, 0)


def test_a_batch_larger_than_a_segment(files: MemoryFiles) -> None:
    log = open_orders(files, segment_bytes="1048576", max_message_bytes="9000000")
    outcome = log.append_as_leader(batch_of(b"x" * 1_100_000), 0, NOW_MS)
    assert outcome.error == ErrorCode.RECORD_LIST_TOO_LARGE
    assert log.append_as_leader(batch_of(b"x" * 9_100_000), 0, NOW_MS).error == (
        ErrorCode.MESSAGE_TOO_LARGE
    )
    assert not log.has_pending


def test_followers_keep_what_an_older_segment_size_allowed(files: MemoryFiles) -> None:
    log = open_orders(files, segment_bytes="1048576")
    assert log.append_as_follower(batch_of(b"x" * 2_000_000), NOW_MS).queued
    log.write_pending()
    assert log.active.size > 1048576
    append(log, b"next")
    assert log.segments.base_offsets == [0, 1]


def test_followers_roll_at_the_leaders_offsets(files: MemoryFiles) -> None:
    log = open_orders(files, is_contiguous=False)
    append(log, b"a")
    far = batch_of(b"b")
    far[0:8] = (5 + (1 << 31)).to_bytes(8, "big")
    log.append_as_follower(far, NOW_MS)
    log.write_pending()
    assert log.segments.base_offsets == [0, 5 + (1 << 31)]
    assert log.log_end_offset == 6 + (1 << 31)
    assert log.read(1, 100, log.log_end_offset).segment_base_offset == 5 + (1 << 31)


def test_a_full_index_rolls(files: MemoryFiles) -> None:
    log = open_orders(files, index_interval_bytes="0", segment_index_bytes="60")
    for step in range(20):
        append(log, b"x", timestamp=NOW_MS + step)
    assert len(log.segments) > 3
    assert all(s.offset_index.index.entry_count <= 7 for s in log.segments)


def test_one_turn_of_many_batches_with_a_small_index(files: MemoryFiles) -> None:
    log = open_orders(files, index_interval_bytes="0", segment_index_bytes="24")
    for step in range(10):
        log.append_as_leader(batch_of(b"x", timestamp=NOW_MS + step), 0, NOW_MS)
    log.write_pending()
    assert len(log.segments) == 1
    append(log, b"y")
    assert len(log.segments) == 2


def test_jitter_is_drawn_for_each_segment(files: MemoryFiles) -> None:
    log = open_orders(files, segment_ms="1000", segment_jitter_ms="400")
    log.jitter = lambda bound: bound - 100
    log.roll(NOW_MS)
    append(log, b"a")
    log.roll(NOW_MS)
    append(log, b"b", timestamp=NOW_MS)
    assert log.active.roll_jitter_ms == 300
    append(log, b"c", timestamp=NOW_MS + 701)
    assert log.segments.base_offsets[-2:] == [1, 2]


def test_a_failure_while_rolling_takes_the_turn_back(files: MemoryFiles) -> None:
    log = open_orders(files, segment_ms="1000")
    append(log, b"a")
    files.fail = lambda name, path: (
        OSError(errno.ENOSPC, "full") if path.endswith("1.log") else None
    )
    with pytest.raises(LogDirFailure):
        log.append_as_leader(batch_of(b"b", timestamp=NOW_MS + 5000), 0, NOW_MS)
    assert (log.log_end_offset, log.next_offset, log.is_offline) == (1, 1, True)


def test_a_failed_transaction_index_takes_the_turn_back(files: MemoryFiles) -> None:
    from pykbroker.protocol.control_records import ABORT, EndTxnMarker, build_marker_batch

    log = open_orders(files)
    log.append_as_leader(batch_of(b"t", producer=(9, 0, 0), is_transactional=True), 0, NOW_MS)
    log.write_pending()
    size = log.size_bytes
    marker = build_marker_batch(
        EndTxnMarker(ABORT, 1), producer_id=9, producer_epoch=0, timestamp_ms=NOW_MS
    )
    log.append_as_leader(marker, 0, NOW_MS, AppendOrigin.COORDINATOR)
    files.fail = lambda name, path: OSError(errno.EIO, "bad") if "txnindex" in path else None
    with pytest.raises(LogDirFailure):
        log.write_pending()
    assert (log.log_end_offset, files.size(f"{DIRECTORY}/{0:020d}.log")) == (1, size)
    assert log.producers.first_unstable_offset() == 0
