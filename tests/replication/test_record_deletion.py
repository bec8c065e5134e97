"""Deleting records: what moves, and what is refused."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.partition_log import AppendOrigin
from pykbroker.replication.partition import Partition
from pykbroker.replication.record_deletion import delete_records
from tests.replication.node import NOW_MS, Node, batch


def refused(partition: Partition, offset: int) -> int:
    with pytest.raises(KafkaError) as error:
        delete_records(partition, offset)
    return error.value.code


def test_the_log_start_moves() -> None:
    partition = Node().create_topic()
    partition.append_as_leader(batch(*[b"v"] * 5), -1, NOW_MS, AppendOrigin.CLIENT)
    partition.log.write_pending()
    partition.on_written(NOW_MS)
    assert delete_records(partition, 3) == 3
    assert (partition.log.log_start_offset, partition.low_watermark) == (3, 3)
    assert delete_records(partition, 1) == 1  # already gone
    assert partition.low_watermark == 3
    assert delete_records(partition, -1) == 5
    assert partition.low_watermark == 5
    for beyond in (6, -2):
        assert refused(partition, beyond) == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_compacted_topic_deletes_no_records() -> None:
    partition = Node().create_topic(cleanup_policy="compact")
    assert refused(partition, 0) == ErrorCode.POLICY_VIOLATION


def test_a_follower_deletes_nothing_by_itself() -> None:
    partition = Node().create_topic()
    partition.retire(0)
    assert refused(partition, 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
