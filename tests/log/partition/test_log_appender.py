"""Appending: rejected batches, assigned offsets, duplicates; as leader and as follower."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol import compression
from pykbroker.protocol.record_batch import build_batch, read_header
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


def own(count: int = 1, value: bytes = b"v" * 100, codec: int = compression.NONE) -> bytearray:
    """A batch as coordinators build them."""
    return build_batch([(b"key", value, NOW_MS, [])] * count, codec=codec)


@pytest.mark.parametrize("policy", ["delete", "compact"])
def test_a_batch_of_this_node_is_appended_as_a_clients(policy: str) -> None:
    logs = [open_orders(memory_disk(), cleanup_policy=policy) for _ in range(2)]
    for log in logs:  # the first batch opens the segment
        log.append_as_leader(own(), 0, NOW_MS)
        log.write_pending()
    for count in (1, 2, 600, 1):
        queued = logs[0].appender.queue_own(own(count), 0, NOW_MS)
        outcome = logs[1].append_as_leader(own(count), 0, NOW_MS)
        assert queued == (outcome.base_offset, outcome.last_offset + 1)
    for log in logs:
        log.write_pending()
    first, second = (log.read(0, 1 << 20, log.log_end_offset).slice for log in logs)
    assert first is not None
    assert second is not None
    assert first.read() == second.read()
    assert logs[0].offset_of_max_timestamp() == logs[1].offset_of_max_timestamp()


@pytest.mark.parametrize(
    "batch, leader_epoch, options",
    [
        (own(codec=compression.GZIP), 0, {}),
        (build_batch([(b"k", b"v", NOW_MS, ())], is_transactional=True), 0, {}),
        (own(), 1, {}),
        (own(), 0, {"message_timestamp_type": "LogAppendTime"}),
        (own(), 0, {"compression_type": "gzip"}),
        (own(value=b"v" * 2000), 0, {"max_message_bytes": "1000"}),
        (own(value=b"v" * 1_048_450), 0, {"segment_bytes": "1048576"}),
    ],
    ids=[
        "compressed",
        "in a transaction",
        "first of an epoch",
        "append time",
        "compressing topic",
        "too large",
        "begins a segment",
    ],
)
def test_a_batch_of_this_node_that_needs_more(
    files: MemoryFiles, batch: bytearray, leader_epoch: int, options: dict[str, Any]
) -> None:
    log = open_orders(files, **options)
    append(log, b"a")
    before = bytes(batch)
    assert log.appender.queue_own(batch, leader_epoch, NOW_MS) is None
    assert not log.has_pending
    assert batch == before
