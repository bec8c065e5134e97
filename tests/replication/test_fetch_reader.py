"""Reading for a fetch: bounds, limits, order, errors, and when a wait is over."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.fetch_response import PartitionData
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication.fetch_reader import has_enough, read_all_partitions
from pykbroker.replication.fetch_request import FetchParams, FetchPartition, FetchResult
from tests.replication.node import Node, topic_id_of

BATCH_BYTES = 70  # of one record b"v" without key or headers, give or take


def ask(index: int = 0, offset: int = 0, topic: str = "t", **options: int) -> FetchPartition:
    options.setdefault("max_bytes", 1 << 20)
    return FetchPartition(topic, ZERO_UUID, index, offset, **options)


def read(node: Node, *wanted: FetchPartition, **params: int | bool) -> FetchResult:
    return read_all_partitions(node.manager, FetchParams(**params), list(wanted))  # type: ignore[arg-type]


def read_one(node: Node, asked: FetchPartition, **params: int | bool) -> PartitionData:
    result = read(node, asked, **params)
    assert len(result.answers) == 1
    return result.answers[0][1]


def entries(result: FetchResult) -> list[PartitionData]:
    return [entry for _, entry in result.answers]


@pytest.fixture
def node() -> Node:
    """Topic t: partition 0 has three batches of one record, partition 1 one batch, 2 none."""
    node = Node()
    node.create_topic(partitions=3)
    for index, count in ((0, 3), (1, 1)):
        partition = node.manager.find("t", index)
        assert partition is not None
        for _ in range(count):
            node.append(partition, b"v")
    return node


def size_of_one(node: Node) -> int:
    return len(read_one(node, ask(1)).records)  # type: ignore[arg-type]


def test_whole_batches_from_the_offset_on(node: Node) -> None:
    entry = read_one(node, ask(0, 1))
    one = size_of_one(node)
    assert (entry.error_code, entry.high_watermark, entry.last_stable_offset) == (0, 3, 3)
    assert (entry.log_start_offset, entry.aborted_transactions) == (0, None)
    assert len(entry.records) == 2 * one  # type: ignore[arg-type]
    assert int.from_bytes(entry.records.read()[:8], "big") == 1  # type: ignore[union-attr]


def test_read_committed_always_has_a_list_of_aborted_transactions(node: Node) -> None:
    for offset in (0, 3):
        assert read_one(node, ask(0, offset), isolation=1).aborted_transactions == []


def test_at_the_end_there_is_nothing(node: Node) -> None:
    entry = read_one(node, ask(0, 3))
    assert (entry.error_code, entry.high_watermark, entry.records) == (0, 3, b"")


@pytest.mark.parametrize("offset", [4, -1])
def test_outside_the_log_every_offset_is_minus_one(node: Node, offset: int) -> None:
    result = read(node, ask(0, offset))
    entry = entries(result)[0]
    assert entry.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert (entry.high_watermark, entry.last_stable_offset, entry.log_start_offset) == (-1, -1, -1)
    assert entry.records == b""
    assert result.must_answer


def test_the_first_batch_is_whole_whatever_the_limits(node: Node) -> None:
    one = size_of_one(node)
    for limits in ({"max_bytes": 1}, {"max_bytes": 1 << 20}):
        result = read(node, ask(0, max_bytes=1), ask(1), **limits)
        assert len(entries(result)[0].records) == one  # type: ignore[arg-type]
    assert len(entries(read(node, ask(2), ask(0), max_bytes=1))[1].records) == one  # type: ignore[arg-type]


def test_later_partitions_share_what_is_left(node: Node) -> None:
    one = size_of_one(node)
    full = read(node, ask(0, max_bytes=one), ask(1), max_bytes=2 * one)
    assert [len(e.records) for e in entries(full)] == [one, one]  # type: ignore[arg-type]
    tight = read(node, ask(0, max_bytes=one), ask(1), max_bytes=2 * one - 1)
    assert [len(e.records) for e in entries(tight)] == [one, 0]  # type: ignore[arg-type]
    assert tight.size_bytes == one


def test_errors_of_one_partition_leave_the_others_alone(node: Node) -> None:
    result = read(node, ask(0, current_leader_epoch=7), ask(1), ask(9), ask(0, topic="missing"))
    assert [e.error_code for e in entries(result)] == [ErrorCode.UNKNOWN_LEADER_EPOCH, 0]
    assert [e.error_code for _, e in result.unknown] == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 2
    assert [a.index for a in result.read] == [0, 1]
    assert result.must_answer


def test_unknown_partitions_alone_end_no_wait(node: Node) -> None:
    result = read(node, ask(2), ask(9))
    assert not result.must_answer
    by_id = read(node, FetchPartition(None, topic_id_of(50), 0, 0, 100))
    assert [e.error_code for _, e in by_id.unknown] == [ErrorCode.UNKNOWN_TOPIC_ID]
    assert by_id.read == []


def test_a_diverging_log_is_told_without_records(node: Node) -> None:
    partition = node.manager.find("t", 0)
    assert partition is not None
    partition.log.assign_epoch_start(4, 3)
    entry = read_one(node, ask(0, 3, last_fetched_epoch=2))
    assert entry.diverging_epoch is not None
    assert (entry.diverging_epoch.epoch, entry.diverging_epoch.end_offset) == (0, 3)
    assert entry.aborted_transactions is None
    assert (entry.error_code, entry.records, entry.high_watermark) == (0, b"", 3)
    assert read_one(node, ask(0, 1, last_fetched_epoch=0)).diverging_epoch is None


def test_followers_must_be_replicas(node: Node) -> None:
    asked = ask(0, current_leader_epoch=0)
    assert read_one(node, asked, replica_id=5).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert read_one(node, ask(0), replica_id=5).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_follower_reads_past_the_high_watermark() -> None:
    node = Node()
    partition = node.create_topic(replicas=(1, 2))
    node.append(partition, b"v")
    assert partition.high_watermark == 0
    assert read_one(node, ask()).records == b""
    assert len(read_one(node, ask(), replica_id=2).records) > 0  # type: ignore[arg-type]


def test_min_bytes_is_never_more_than_max_bytes() -> None:
    assert FetchParams(min_bytes=100, max_bytes=10).min_bytes == 10


# ---- sessions leave out what is unchanged


def told(partition: FetchPartition, high_watermark: int, log_start: int = 0) -> FetchPartition:
    """As it is in a session that has told this."""
    partition.sent_high_watermark = high_watermark
    partition.sent_log_start_offset = log_start
    return partition


def test_a_consumer_at_the_end_that_knows_is_left_out(node: Node) -> None:
    wanted = [told(ask(0, 3), 3), told(ask(1, 1), 1), told(ask(2, 0), 0)]
    result = read_all_partitions(node.manager, FetchParams(), wanted, skip_unchanged=True)
    assert (result.answers, result.read, result.must_answer) == ([], wanted, False)
    assert len(read_all_partitions(node.manager, FetchParams(), wanted).answers) == 3


@pytest.mark.parametrize(
    "asked",
    [
        told(ask(0, 2), 3),  # there are records
        told(ask(0, 3), 2),  # it knows an older high watermark
        told(ask(0, 3), 3, log_start=-1),
        told(ask(0, 3, current_leader_epoch=5), 3),
        told(ask(0, 3, last_fetched_epoch=5), 3),
        told(ask(0, 4), 3),  # out of range
    ],
)
def test_anything_else_is_read(node: Node, asked: FetchPartition) -> None:
    result = read_all_partitions(node.manager, FetchParams(), [asked], skip_unchanged=True)
    assert len(result.answers) == 1


# ---- when a wait is over


def enough(node: Node, asked: FetchPartition, **params: int) -> bool:
    return has_enough(node.manager, FetchParams(**params), [asked])  # type: ignore[arg-type]


def test_one_byte_is_enough_for_most(node: Node) -> None:
    assert enough(node, ask(0, 2), min_bytes=1)
    assert not enough(node, ask(0, 3), min_bytes=1)


def test_more_bytes_are_counted_up_to_the_partitions_limit(node: Node) -> None:
    one = size_of_one(node)
    assert enough(node, ask(0), min_bytes=3 * one)
    assert not enough(node, ask(0), min_bytes=3 * one + 1)
    assert not enough(node, ask(0, max_bytes=one), min_bytes=2 * one)


@pytest.mark.parametrize(
    "asked",
    [
        ask(0, 3, current_leader_epoch=3),
        ask(9),
        ask(0, 3, last_fetched_epoch=5),
        ask(0, 4),
    ],
)
def test_something_wrong_ends_the_wait(node: Node, asked: FetchPartition) -> None:
    assert enough(node, asked, min_bytes=1000)


def test_a_log_that_cannot_be_looked_up_ends_the_wait(node: Node) -> None:
    node.files.fail = lambda name, path: OSError(5, "broken")
    partition = node.manager.find("t", 0)
    assert partition is not None
    partition.log.release()  # nothing of its indexes is in memory
    assert enough(node, ask(0), min_bytes=1000)
    assert not partition.hosted
