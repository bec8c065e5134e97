"""Appending: rejected batches, assigned offsets, duplicates; as leader and as follower."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.record_batch import read_header
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import (
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


def test_duplicates_and_gaps_of_an_idempotent_producer(files: MemoryFiles) -> None:
    log = open_orders(files)
    first = log.append_as_leader(batch_of(b"a", b"b", producer=(7, 0, 0)), 0, NOW_MS)
    again = log.append_as_leader(batch_of(b"a", b"b", producer=(7, 0, 0)), 0, NOW_MS)
    assert (first.base_offset, first.queued) == (0, True)
    assert (again.base_offset, again.last_offset, again.duplicate, again.queued) == (
        0,
        1,
        True,
        False,
    )
    gap = log.append_as_leader(batch_of(b"d", producer=(7, 0, 3)), 0, NOW_MS)
    assert gap.error == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    log.write_pending()
    assert log.log_end_offset == 2
    log.close()
    reopened = open_orders(files)
    once_more = reopened.append_as_leader(batch_of(b"a", b"b", producer=(7, 0, 0)), 0, NOW_MS)
    assert (once_more.base_offset, once_more.duplicate) == (0, True)
    assert reopened.append_as_leader(batch_of(b"c", producer=(7, 0, 2)), 0, NOW_MS).queued


def test_client_faults_are_outcomes(files: MemoryFiles) -> None:
    log = open_orders(files, cleanup_policy="compact")
    bad = batch_of(b"a")
    bad[30] ^= 1
    assert log.append_as_leader(bad, 0, NOW_MS).error == ErrorCode.CORRUPT_MESSAGE
    assert not log.has_pending
    assert log.next_offset == 0


def test_followers_take_offsets_as_they_come(files: MemoryFiles) -> None:
    leader = open_orders(files)
    for value in (b"a", b"b", b"c"):
        append(leader, value, epoch=3)
    outcome = leader.read(0, 1 << 20, 3)
    assert outcome.slice is not None
    payload = outcome.slice.read()
    follower = open_orders(files, "/d/orders-4")
    appended = follower.append_as_follower(memoryview(payload[:-10]), NOW_MS)
    assert (appended.base_offset, appended.last_offset) == (0, 1)
    follower.write_pending()
    assert values_of(follower) == [b"a", b"b"]
    assert follower.leader_epochs.latest_epoch == 3
    repeated = follower.append_as_follower(memoryview(payload), NOW_MS)
    assert repeated.error == ErrorCode.OFFSET_OUT_OF_RANGE
    broken = bytearray(payload)
    broken[65] ^= 1
    assert follower.append_as_follower(broken, NOW_MS).error == ErrorCode.CORRUPT_MESSAGE
    assert follower.append_as_follower(payload, NOW_MS, leader_epoch=2).queued is False
