"""The leader's changes of the in-sync replicas: one per event and effect of the partition."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.log.partition.partition_log import AppendOrigin
from pykbroker.replication.brokers import ClusterBrokers
from pykbroker.replication.isr import OUTDATED
from pykbroker.replication.partition import Partition
from pykbroker.replication.partition_events import (
    HighWatermarkAdvanced,
    IsrCheckDue,
    LowWatermarkAdvanced,
    PartitionAssigned,
    ProposalAccepted,
    ProposalRefused,
    ProposeIsr,
)
from pykbroker.replication.record_deletion import delete_records
from tests.replication.node import NOW_MS, Node, batch
from tests.replication.test_high_watermark import cluster

LAG_MS = 30_000


def make_leader(
    isr: tuple[int, ...] = (1, 2, 3),
    brokers: ClusterBrokers | None = None,
    records: int = 4,
) -> Partition:
    hosted = Node().create_topic()
    partition = Partition(
        hosted.topic_partition,
        hosted.topic_id,
        hosted.log,
        local_id=1,
        lag_max_ms=LAG_MS,
        brokers=brokers or cluster(2, 3),
    )
    partition.step(PartitionAssigned((1, 2, 3), isr, 1, 5, 7), NOW_MS)
    if records:
        partition.append_as_leader(batch(*[b"v"] * records), 1, NOW_MS, AppendOrigin.CLIENT)
        partition.log.write_pending()
        partition.on_written(NOW_MS)
    return partition


def fetched(
    partition: Partition, replica_id: int, offset: int, now_ms: int = NOW_MS, epoch: int = 10
) -> list[object]:
    """The effects but for the low watermark's, which has a test of its own."""
    effects = partition.on_follower_fetch(replica_id, epoch, offset, 0, now_ms)
    return [effect for effect in effects if not isinstance(effect, LowWatermarkAdvanced)]


def shrink(partition: Partition) -> ProposeIsr:
    """Follower 3 lags, 2 does not; the proposal to remove 3."""
    late_ms = NOW_MS + LAG_MS + 1
    assert fetched(partition, 2, 4, late_ms) == []
    (proposal,) = partition.step(IsrCheckDue(), late_ms)
    assert isinstance(proposal, ProposeIsr)
    return proposal


def accepted(proposal: ProposeIsr, **changes: object) -> ProposalAccepted:
    fields = {
        "isr": tuple(replica for replica, _ in proposal.isr),
        "leader_epoch": proposal.leader_epoch,
        "partition_epoch": proposal.partition_epoch + 1,
        "leader_recovery_state": 0,
    }
    return ProposalAccepted(proposal, **(fields | changes))  # type: ignore[arg-type]


def test_the_in_sync_replicas_are_looked_at_every_half_of_the_lag() -> None:
    partition = make_leader()
    assert partition.next_deadline_ms() == NOW_MS + LAG_MS // 2
    assert partition.step(IsrCheckDue(), NOW_MS + LAG_MS // 2) == []
    assert partition.next_deadline_ms() == NOW_MS + LAG_MS
    partition.step(PartitionAssigned((1, 2, 3), (2,), 2, 6, 8), NOW_MS)
    assert partition.next_deadline_ms() is None
    assert partition.step(IsrCheckDue(), NOW_MS + 10 * LAG_MS) == []


def test_a_leader_without_followers_has_nothing_to_look_at() -> None:
    assert Node().create_topic().next_deadline_ms() is None


def test_a_member_that_lags_is_proposed_out_and_counts_until_that_is_confirmed() -> None:
    partition = make_leader()
    proposal = shrink(partition)
    assert proposal.isr == ((1, -1), (2, 10))
    assert (proposal.leader_epoch, proposal.partition_epoch) == (5, 7)
    assert partition.isr.maximal == {1, 2, 3}
    assert partition.high_watermark == 0
    assert partition.step(IsrCheckDue(), NOW_MS + 10 * LAG_MS) == []  # one change at a time
    now_ms = NOW_MS + LAG_MS + 1
    assert partition.step(accepted(proposal), now_ms) == [HighWatermarkAdvanced(4)]
    assert partition.isr.members == {1, 2}
    assert partition.partition_epoch == 8


def test_a_member_that_is_stuck_at_the_end_stays() -> None:
    partition = make_leader()
    for replica in (2, 3):
        fetched(partition, replica, 4)
    assert partition.step(IsrCheckDue(), NOW_MS + 10 * LAG_MS) == []


def test_a_follower_with_all_that_is_committed_is_proposed_in_and_counts_at_once() -> None:
    partition = make_leader(isr=(1,))
    assert partition.high_watermark == 4
    assert fetched(partition, 2, 3) == []
    (proposal,) = fetched(partition, 2, 4)
    assert isinstance(proposal, ProposeIsr)
    assert proposal.isr == ((1, -1), (2, 10))
    assert partition.isr.maximal == {1, 2}
    partition.append_as_leader(batch(b"v"), 1, NOW_MS, AppendOrigin.CLIENT)
    partition.log.write_pending()
    assert not partition.on_written(NOW_MS)
    assert partition.step(accepted(proposal), NOW_MS) == []
    assert partition.isr.members == {1, 2}
    assert fetched(partition, 2, 5) == [HighWatermarkAdvanced(5)]


def test_a_follower_joins_only_with_something_of_the_leaders_epoch() -> None:
    """Else it could be elected before it has what was committed in this epoch."""
    partition = make_leader(isr=(1, 3))
    partition.step(PartitionAssigned((1, 2, 3), (1, 3), 1, 6, 8), NOW_MS)
    assert partition.high_watermark == 0
    assert partition.leader_epoch_start_offset == 4
    assert fetched(partition, 2, 3) == []
    assert len(fetched(partition, 2, 4)) == 1


@pytest.mark.parametrize(
    "brokers, epoch",
    [
        (cluster(2, fenced=True), 10),
        (cluster(2, in_controlled_shutdown=True), 10),
        (cluster(3), 10),
        (cluster(2), 11),  # registered again, and this leader has not heard of it
        (cluster(2), 9),
    ],
)
def test_a_follower_whose_broker_may_not_join_is_not_proposed(
    brokers: ClusterBrokers, epoch: int
) -> None:
    partition = make_leader(isr=(1,), brokers=brokers)
    assert fetched(partition, 2, 4, epoch=epoch) == []
    assert partition.isr.maximal == {1}


def test_a_fetch_of_an_earlier_life_of_the_broker_is_no_progress() -> None:
    partition = make_leader()
    assert fetched(partition, 2, 4, epoch=9) == []
    assert partition.followers[2].log_end_offset == -1
    assert partition.check_follower(2, 9, 5) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert partition.check_follower(2, 10, 5) == partition.check_follower(2, -1, 5) == 0


@pytest.mark.parametrize("code", [ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED])
def test_a_change_that_was_not_applied_is_withdrawn(code: ErrorCode) -> None:
    partition = make_leader(isr=(1,))
    (proposal,) = fetched(partition, 2, 4)
    assert isinstance(proposal, ProposeIsr)
    assert partition.step(ProposalRefused(proposal, int(code)), NOW_MS) == []
    assert (partition.isr.maximal, partition.isr.change_in_flight) == (frozenset({1}), False)
    assert len(fetched(partition, 2, 4)) == 1  # and is proposed again with the next fetch


@pytest.mark.parametrize("code", OUTDATED)
def test_a_change_of_unknown_fate_stays_until_the_metadata_tells(code: int) -> None:
    partition = make_leader(isr=(1,))
    (proposal,) = fetched(partition, 2, 4)
    assert isinstance(proposal, ProposeIsr)
    assert partition.step(ProposalRefused(proposal, code), NOW_MS) == []
    assert partition.isr.maximal == {1, 2}
    assert fetched(partition, 3, 4) == []
    partition.step(PartitionAssigned((1, 2, 3), (1,), 1, 5, 8), NOW_MS)
    assert partition.isr.maximal == {1}
    assert len(fetched(partition, 3, 4)) == 1


def test_any_other_error_sends_the_same_proposal_again() -> None:
    partition = make_leader(isr=(1,))
    (proposal,) = fetched(partition, 2, 4)
    assert isinstance(proposal, ProposeIsr)
    for _ in range(2):
        refused = ProposalRefused(proposal, int(ErrorCode.UNKNOWN_SERVER_ERROR))
        assert partition.step(refused, NOW_MS) == [proposal]
    partition.step(accepted(proposal), NOW_MS)
    assert partition.isr.members == {1, 2}


def test_an_answer_that_comes_after_the_metadata_is_ignored() -> None:
    partition = make_leader()
    proposal = shrink(partition)
    partition.step(PartitionAssigned((1, 2, 3), (1, 3), 1, 5, 8), NOW_MS)
    assert partition.step(accepted(proposal), NOW_MS) == []
    assert partition.step(ProposalRefused(proposal, 107), NOW_MS) == []
    assert (partition.isr.members, partition.partition_epoch) == (frozenset({1, 3}), 8)


@pytest.mark.parametrize("changes", [{"leader_epoch": 6}, {"partition_epoch": 6}])
def test_an_answer_of_other_epochs_leaves_the_change_in_flight(changes: dict[str, int]) -> None:
    partition = make_leader()
    assert partition.step(accepted(shrink(partition), **changes), NOW_MS) == []
    assert partition.isr.change_in_flight
    assert partition.partition_epoch == 7


def test_the_low_watermark_follows_the_followers_log_starts() -> None:
    partition = make_leader(isr=(1,), records=4)
    delete_records(partition, 2)
    effects = partition.on_follower_fetch(2, 10, 4, 2, NOW_MS)
    assert [type(effect) for effect in effects] == [ProposeIsr]  # 3 has not fetched yet
    assert partition.low_watermark == -1
    assert partition.on_follower_fetch(3, 10, 4, 1, NOW_MS) == [LowWatermarkAdvanced(1)]
    assert partition.on_follower_fetch(3, 10, 4, 2, NOW_MS) == [LowWatermarkAdvanced(2)]


def test_acks_all_after_the_isr_shrank_below_min_isr() -> None:
    node = Node()
    hosted = node.create_topic(min_insync_replicas="2")
    partition = Partition(
        hosted.topic_partition, hosted.topic_id, hosted.log, 1, brokers=cluster(2, 3)
    )
    partition.step(PartitionAssigned((1, 2, 3), (1, 2, 3), 1, 5, 7), NOW_MS)
    partition.append_as_leader(batch(b"v"), -1, NOW_MS, AppendOrigin.CLIENT)
    partition.log.write_pending()
    for replica in (2, 3):
        fetched(partition, replica, 1)
    assert partition.acknowledged(1) == 0
    partition.step(PartitionAssigned((1, 2, 3), (1,), 1, 5, 8), NOW_MS)
    assert partition.acknowledged(1) == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
