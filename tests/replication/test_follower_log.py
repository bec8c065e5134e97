"""What a follower does to its replica."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.fetch_response import PartitionData
from pykbroker.protocol.record_batch import assign_offset
from pykbroker.replication import follower_log
from pykbroker.replication.partition import Partition
from tests.replication.node import NOW_MS, Node, batch
from tests.replication.test_truncation import contents


def sent(*batches: tuple[int, int, int], **fields: Any) -> PartitionData:
    """Batches of a leader as (base offset, epoch, records)."""
    records = bytearray()
    for base_offset, epoch, count in batches:
        one = bytearray(batch(*[b"%d" % n for n in range(count)]))
        assign_offset(memoryview(one), base_offset, epoch)
        records += one
    return PartitionData(
        partition_index=0, records=memoryview(records), **({"log_start_offset": 0} | fields)
    )


def append(
    partition: Partition, offset: int, *batches: tuple[int, int, int], **fields: Any
) -> bool:
    fields = {"high_watermark": 0} | fields
    return follower_log.append_fetched(partition, offset, 5, sent(*batches, **fields), NOW_MS)


@pytest.fixture
def partition() -> Partition:
    return Node(node_id=2).create_topic(replicas=(1, 2))


def test_batches_keep_their_offsets_and_epochs(partition: Partition) -> None:
    append(partition, 0, (0, 3, 2), (2, 3, 1), (3, 5, 1))
    assert contents(partition) == [(0, 3, b"0"), (1, 3, b"1"), (2, 3, b"0"), (3, 5, b"0")]
    assert partition.log.leader_epochs.epochs.entries == [(3, 0), (5, 3)]
    assert not partition.log.has_pending
    append(partition, 4, (9, 5, 1))  # compacted away between
    assert partition.log.log_end_offset == 10


def test_batches_of_a_later_epoch_than_the_fetchs_are_left_out(partition: Partition) -> None:
    append(partition, 0, (0, 5, 1), (1, 6, 1))
    assert partition.log.log_end_offset == 1


def test_side_by_side_batches_are_one_part_of_one_write(partition: Partition) -> None:
    parts: list[int] = []
    segment = partition.log.active
    original = segment.append
    segment_class = type(segment)

    def note(self: Any, given: Any, headers: Any) -> None:
        parts.append(len(given))
        original(given, headers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_class, "append", note)
        append(partition, 0, (0, 3, 2), (2, 3, 1), (3, 5, 1))
    assert parts == [1]
    assert len(contents(partition)) == 4


def test_a_roll_between_side_by_side_batches(partition: Partition) -> None:
    partition.log.queue._segment_bytes = 150
    append(partition, 0, *((n, 3, 1) for n in range(5)))
    assert len(partition.log.segments) == 3
    assert [record[0] for record in contents(partition)] == [0, 1, 2, 3, 4]


def test_the_high_watermark_is_the_leaders_but_at_most_the_log_end(partition: Partition) -> None:
    assert append(partition, 0, (0, 3, 2), high_watermark=9)
    assert partition.high_watermark == 2
    assert not append(partition, 2, high_watermark=2)
    assert append(partition, 2, high_watermark=1)  # another leader that does not know better yet
    assert partition.high_watermark == 1


def test_the_log_start_follows_the_leaders_below_the_high_watermark(partition: Partition) -> None:
    append(partition, 0, (0, 3, 4), high_watermark=2, log_start_offset=3)
    assert partition.log.log_start_offset == 0
    append(partition, 4, high_watermark=4, log_start_offset=3)
    assert partition.log.log_start_offset == 3
    append(partition, 4, high_watermark=4, log_start_offset=1)
    assert partition.log.log_start_offset == 3


def test_a_log_that_ends_elsewhere_is_a_bug(partition: Partition) -> None:
    with pytest.raises(follower_log.OffsetMismatch):
        append(partition, 1, (1, 3, 1))


def test_damaged_and_misplaced_batches_are_refused(partition: Partition) -> None:
    entry = sent((0, 3, 2), high_watermark=1)
    entry.records[-1] ^= 1  # type: ignore[index]
    with pytest.raises(KafkaError) as refused:
        follower_log.append_fetched(partition, 0, 5, entry, NOW_MS)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE
    append(partition, 0, (0, 3, 2))
    with pytest.raises(KafkaError) as refused:
        append(partition, 2, (1, 3, 2))
    assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert partition.log.log_end_offset == 2


def test_an_empty_log_may_begin_below_its_start(partition: Partition) -> None:
    """The leader's log starts inside a batch after DeleteRecords; the batch comes whole."""
    follower_log.truncate_fully(partition, 7, NOW_MS)
    assert (partition.log.log_end_offset, partition.high_watermark) == (7, 7)
    append(partition, 7, (5, 3, 4), high_watermark=9, log_start_offset=7)
    log = partition.log
    assert (log.log_start_offset, log.log_end_offset, partition.high_watermark) == (7, 9, 9)


def test_a_cut_takes_the_high_watermark_along(partition: Partition) -> None:
    append(partition, 0, (0, 3, 2), (2, 4, 2), high_watermark=4)
    follower_log.truncate(partition, 2, NOW_MS)
    assert (partition.log.log_end_offset, partition.high_watermark) == (2, 2)
    assert follower_log.latest_epoch(partition) == 3
    follower_log.truncate(partition, 9, NOW_MS)
    assert partition.high_watermark == 2


def test_without_epochs_the_fetch_begins_at_the_high_watermark(partition: Partition) -> None:
    assert (follower_log.latest_epoch(partition), follower_log.start_offset(partition)) == (None, 0)
    append(partition, 0, (0, 3, 2))
    assert (follower_log.latest_epoch(partition), follower_log.start_offset(partition)) == (3, 2)
    partition.log.leader_epochs.clear()
    assert follower_log.start_offset(partition) == 0


def test_a_log_with_a_hole_is_cut_there(
    partition: Partition, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(partition, 0, (0, 3, 2), (2, 3, 1), (3, 5, 1))
    follower_log.cut_at_hole(partition, NOW_MS)
    assert partition.log.log_end_offset == 4
    monkeypatch.setattr(follower_log, "first_hole", lambda log: 2)
    partition.log.local.unsynced_from = 0
    follower_log.cut_at_hole(partition, NOW_MS)
    assert contents(partition) == [(0, 3, b"0"), (1, 3, b"1")]
    assert partition.log.local.unsynced_from is None


def test_a_hole_is_remembered_until_the_log_is_cut_there(
    partition: Partition, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    append(partition, 0, (0, 3, 2), (2, 3, 1))
    partition.log.local.unsynced_from = 0
    monkeypatch.setattr(follower_log, "first_hole", lambda log: 2)

    def damaged(*arguments: object) -> None:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "a damaged segment")

    with monkeypatch.context() as patched:
        patched.setattr(follower_log, "truncate", damaged)
        assert not follower_log.cut_at_hole(partition, NOW_MS)
    assert "cannot be truncated: a damaged segment" in caplog.text
    log = partition.log
    assert (log.local.unsynced_from, log.log_end_offset) == (0, 3)
    assert follower_log.cut_at_hole(partition, NOW_MS)
    log = partition.log
    assert (log.local.unsynced_from, log.log_end_offset) == (None, 2)
