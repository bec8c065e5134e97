"""One partition: its role, its epochs, its high watermark, what it refuses."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.partition_log import AppendOrigin
from pykbroker.replication.partition import (
    LOG_END,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    Partition,
)
from pykbroker.replication.partition_events import (
    BecameFollower,
    BecameLeader,
    HighWatermarkAdvanced,
    PartitionAssigned,
)
from tests.replication.node import NOW_MS, Node, batch


def assigned(
    replicas: tuple[int, ...] = (1,),
    isr: tuple[int, ...] | None = None,
    leader: int = 1,
    leader_epoch: int = 0,
    partition_epoch: int = 0,
) -> PartitionAssigned:
    return PartitionAssigned(
        replicas, replicas if isr is None else isr, leader, leader_epoch, partition_epoch
    )


def refused(call: object, *arguments: object) -> int:
    with pytest.raises(KafkaError) as error:
        call(*arguments)  # type: ignore[operator]
    return error.value.code


@pytest.fixture
def partition() -> Partition:
    """A partition that no metadata has reached yet."""
    hosted = Node().create_topic()
    return Partition(hosted.topic_partition, hosted.topic_id, hosted.log, local_id=1)


def write(partition: Partition, count: int = 1, now_ms: int = NOW_MS) -> None:
    partition.append_as_leader(batch(*[b"v"] * count), -1, now_ms, AppendOrigin.CLIENT)
    partition.log.write_pending()


def test_becoming_leader_notes_the_epochs_start(partition: Partition) -> None:
    assert partition.step(assigned(), NOW_MS) == [BecameLeader(0, 0)]
    write(partition, 3)
    assert partition.on_written(NOW_MS)
    effects = partition.step(assigned(leader_epoch=4, partition_epoch=1), NOW_MS)
    assert effects == [BecameLeader(4, 3)]
    assert partition.log.end_offset_for_epoch(3) == (0, 3)
    assert partition.leader_epoch_start_offset == 3


def test_what_is_queued_belongs_to_the_epoch_before(partition: Partition) -> None:
    """Else followers would cut and fetch it again, without end."""
    partition.step(assigned(), NOW_MS)
    partition.append_as_leader(batch(b"a", b"b"), 1, NOW_MS, AppendOrigin.CLIENT)
    effects = partition.step(assigned(leader_epoch=4, partition_epoch=1), NOW_MS)
    assert effects == [BecameLeader(4, 2)]
    write(partition, 1)
    assert partition.log.leader_epochs.epochs.entries == [(0, 0), (4, 2)]
    assert partition.log.end_offset_for_epoch(0) == (0, 2)


def test_an_older_partition_epoch_is_ignored(partition: Partition) -> None:
    partition.step(assigned(partition_epoch=5), NOW_MS)
    assert partition.step(assigned(leader=2, leader_epoch=9, partition_epoch=4), NOW_MS) == []
    assert partition.is_leader
    assert partition.leader_epoch == 0


def test_the_same_epoch_again_changes_no_leader_but_the_isr(partition: Partition) -> None:
    partition.step(assigned((1, 2)), NOW_MS)
    assert partition.step(assigned((1, 2), isr=(1,), partition_epoch=1), NOW_MS) == []
    assert partition.isr.members == {1}


def test_losing_leadership(partition: Partition) -> None:
    partition.step(assigned((1, 2)), NOW_MS)
    effects = partition.step(assigned((1, 2), leader=2, leader_epoch=1, partition_epoch=1), NOW_MS)
    assert effects == [BecameFollower(2, 1)]
    assert (
        refused(partition.append_as_leader, batch(), 1, NOW_MS, AppendOrigin.CLIENT)
        == ErrorCode.NOT_LEADER_OR_FOLLOWER
    )
    assert partition.acknowledged(1) == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_the_only_replica_commits_what_it_wrote(partition: Partition) -> None:
    partition.step(assigned(), NOW_MS)
    partition.append_as_leader(batch(b"a", b"b"), -1, NOW_MS, AppendOrigin.CLIENT)
    assert not partition.on_written(NOW_MS)  # queued only
    assert partition.high_watermark == 0
    partition.log.write_pending()
    assert partition.on_written(NOW_MS)
    assert partition.high_watermark == 2
    assert partition.acknowledged(2) == 0
    assert partition.acknowledged(3) is None


def test_followers_in_the_isr_hold_the_high_watermark(partition: Partition) -> None:
    partition.step(assigned((1, 2, 3)), NOW_MS)
    write(partition, 4)
    assert not partition.on_written(NOW_MS)
    assert partition.on_follower_fetch(2, 10, 4, 0, NOW_MS) == []
    assert partition.on_follower_fetch(3, 11, 2, 0, NOW_MS) == [HighWatermarkAdvanced(2)]
    assert partition.on_follower_fetch(3, 11, 4, 0, NOW_MS) == [HighWatermarkAdvanced(4)]
    assert partition.on_follower_fetch(9, 11, 4, 0, NOW_MS) == []


def test_too_few_in_sync_replicas_refuse_acks_all_only() -> None:
    node = Node()
    partition = node.create_topic(replicas=(1, 2), isr=(1,), min_insync_replicas="2")
    assert (
        refused(partition.append_as_leader, batch(), -1, NOW_MS, AppendOrigin.CLIENT)
        == ErrorCode.NOT_ENOUGH_REPLICAS
    )
    outcome = partition.append_as_leader(batch(), 1, NOW_MS, AppendOrigin.CLIENT)
    assert (outcome.error, outcome.base_offset) == (0, 0)
    partition.log.write_pending()
    assert not partition.on_written(NOW_MS)  # below min ISR nothing is committed


def test_a_replica_on_its_way_into_the_isr_counts_for_what_is_written_already() -> None:
    """Kafka's checkEnoughReplicasReachOffset looks at the maximal set, an append at the members."""
    node = Node()
    partition = node.create_topic(replicas=(1, 2), isr=(1, 2), min_insync_replicas="2")
    write(partition)
    partition.on_written(NOW_MS)
    partition.on_follower_fetch(2, 10, 1, 0, NOW_MS)
    assert partition.acknowledged(1) == 0
    partition.step(assigned((1, 2), (1,), partition_epoch=1), NOW_MS)
    assert partition.acknowledged(1) == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    partition.isr = partition.isr.propose_adding(2)
    assert partition.acknowledged(1) == 0
    assert (
        refused(partition.append_as_leader, batch(), -1, NOW_MS, AppendOrigin.CLIENT)
        == ErrorCode.NOT_ENOUGH_REPLICAS
    )


def test_a_replica_on_its_way_out_of_the_isr_counts_until_it_is_out() -> None:
    node = Node()
    partition = node.create_topic(replicas=(1, 2), isr=(1, 2), min_insync_replicas="2")
    write(partition)
    partition.on_written(NOW_MS)
    partition.isr = partition.isr.propose_removing(frozenset((2,)))
    assert partition.acknowledged(1) is None
    partition.on_follower_fetch(2, 10, 1, 0, NOW_MS)
    assert partition.acknowledged(1) == 0


def test_min_insync_replicas_above_the_replicas_means_all_of_them() -> None:
    partition = Node().create_topic(min_insync_replicas="3")
    outcome = partition.append_as_leader(batch(), -1, NOW_MS, AppendOrigin.CLIENT)
    assert outcome.error == 0


@pytest.mark.parametrize(
    "epoch, leader_only, code",
    [
        (-1, True, 0),
        (5, True, 0),
        (4, True, ErrorCode.FENCED_LEADER_EPOCH),
        (6, False, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_leader_epochs_of_requests(
    partition: Partition, epoch: int, leader_only: bool, code: int
) -> None:
    partition.step(assigned(leader_epoch=5), NOW_MS)
    assert partition.check_epoch(epoch, leader_only) == code


def test_a_follower_serves_only_those_who_do_not_insist_on_the_leader(
    partition: Partition,
) -> None:
    partition.step(assigned((1, 2), leader=2, leader_epoch=5), NOW_MS)
    assert partition.check_epoch(5, leader_only=False) == 0
    assert partition.check_epoch(5, leader_only=True) == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    "replica, epoch, code",
    [
        (2, 0, 0),
        (1, 0, ErrorCode.UNKNOWN_LEADER_EPOCH),  # our own id is no follower
        (7, 0, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (7, -1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_only_assigned_replicas_fetch_as_followers(
    partition: Partition, replica: int, epoch: int, code: int
) -> None:
    partition.step(assigned((1, 2)), NOW_MS)
    assert partition.check_follower(replica, -1, epoch) == code


def test_bounds_by_isolation(partition: Partition) -> None:
    partition.step(assigned((1, 2)), NOW_MS)
    write(partition, 3)
    partition.on_follower_fetch(2, 10, 1, 0, NOW_MS)
    assert [partition.bound(i) for i in (READ_UNCOMMITTED, READ_COMMITTED, LOG_END)] == [1, 1, 3]


def test_a_retired_partition_answers_nobody(partition: Partition) -> None:
    partition.step(assigned(), NOW_MS)
    partition.retire(int(ErrorCode.KAFKA_STORAGE_ERROR))
    assert partition.acknowledged(0) == ErrorCode.KAFKA_STORAGE_ERROR
    assert not partition.hosted
