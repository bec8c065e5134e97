"""Broken rules of replication: lives of several brokers show them."""

from __future__ import annotations

from typing import Any

from pykbroker.errors import ErrorCode
from pykbroker.replication.isr import IsrState
from pykbroker.testing.world.mutants.mutant import (
    CLUSTER,
    Mutant,
    Patch,
    instead,
    returning,
)


def _log_end(original: Any, current: int, leader_end_offset: int, *more: Any) -> int:
    return max(current, leader_end_offset)


def _of_members(original: Any, current: int, end: int, isr: Any, followers: Any, *more: Any) -> Any:
    """Neither who is about to join counts, nor who could at any moment."""
    members = [each for each in followers if each.replica_id in isr.members]
    return original(current, end, IsrState(isr.members), members, *more)


def _whoever_is_in_sync(
    original: Any, current: int, end: int, isr: Any, followers: Any, min_isr: int, *more: Any
) -> Any:
    return original(current, end, isr, followers, 0, *more)


def _of_any_epoch(original: Any, *arguments: Any) -> Any:
    code = original(*arguments)
    is_stale = code in (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.INVALID_UPDATE_VERSION)
    return ErrorCode.NONE if is_stale else code


def _everything(original: Any, partition: Any, isolation: int) -> Any:
    return partition.log.log_end_offset


def _written_is_enough(original: Any, partition: Any, required_offset: int) -> Any:
    answer = original(partition, required_offset)
    return 0 if answer is None else answer


def _with_too_few(
    original: Any, partition: Any, records: Any, acks: int, *more: Any, **named: Any
) -> Any:
    """An append with acks=all does not look at who is in sync."""
    return original(partition, records, 1, *more, **named)


def _leads(original: Any, partition: Any, acks: int) -> bool:
    return bool(partition.is_leader)


def _not_at_once(original: Any, partition: Any, *arguments: Any) -> Any:
    """What a follower appends is flushed some time later, whatever its topic asks for."""
    flusher = partition.log.flusher
    before, flusher.due_offset = flusher.due_offset, 1 << 60
    try:
        return original(partition, *arguments)
    finally:
        flusher.due_offset = before


def _behind_the_epoch(original: Any, partition: Any, follower: Any) -> bool:
    """Wherever it ends: only its broker counts."""
    return not partition.isr.change_in_flight and partition._brokers.is_isr_eligible(
        follower.replica_id, follower.broker_epoch
    )


def _no_producer(original: Any, log: Any, view: Any, batches: list[tuple[int, Any]]) -> None:
    for _, header in batches:
        header.producer_id = -1
    original(log, view, batches)


def _at_its_end(original: Any, partition: Any, *arguments: Any) -> None:
    original(partition, *arguments)
    partition.high_watermark = partition.log.log_end_offset


def _all_of_it(original: Any, partition: Any, high_watermark: int, log_start: int) -> Any:
    return original(partition, partition.log.log_end_offset, log_start)


def _too_much(original: Any, leader_epoch: int, end: int, offset: int, log: Any) -> Any:
    found = original(leader_epoch, end, offset, log)
    return found._replace(offset=max(log.log_start_offset, found.offset - 3))


def _any_replica(
    original: Any,
    partition: Any,
    isr: Any,
    election: Any,
    acceptable: Any,
    *more: Any,
    **named: Any,
) -> Any:
    """The leader, or else the first replica, that is acceptable, in sync or not."""
    replicas = (more[0] if more else named.get("replicas")) or partition.replicas
    leader = next((each for each in (partition.leader, *replicas) if acceptable(each)), -1)
    return leader, False


REPLICATION_MUTANTS = (
    Mutant(
        "high-watermark-is-the-end",
        "the high watermark waits for the in-sync replicas",
        (Patch("replication.partition:leader_high_watermark", instead(_log_end)),),
        life=CLUSTER,
        seed=3,
    ),
    Mutant(
        "high-watermark-of-members",
        "the high watermark waits for replicas that join or could join the ISR",
        (Patch("replication.partition:leader_high_watermark", instead(_of_members)),),
        life=CLUSTER,
        seed=53,
    ),
    Mutant(
        "high-watermark-of-too-few",
        "the high watermark stays while fewer than min.insync.replicas are in sync",
        (Patch("replication.partition:leader_high_watermark", instead(_whoever_is_in_sync)),),
        life=CLUSTER,
        seed=69,
    ),
    Mutant(
        "in-sync-by-stale-leaders",
        "the controller rejects changes of the ISR by the leader of an earlier epoch",
        (Patch("kraft.controller.alter_partition:_fault", instead(_of_any_epoch)),),
        life=CLUSTER,
        seed=1,
    ),
    Mutant(
        "uncommitted-is-read",
        "consumers read up to the high watermark",
        (Patch("replication.partition:Partition.bound", instead(_everything)),),
        life=CLUSTER,
    ),
    Mutant(
        "acknowledged-when-written",
        "acks=all waits for the in-sync replicas",
        (Patch("replication.partition:Partition.acknowledged", instead(_written_is_enough)),),
        life=CLUSTER,
    ),
    Mutant(
        "divergence-not-told",
        "a leader reports where a follower's log diverges",
        (Patch("replication.fetch_reader:diverging_epoch", returning(None)),),
        life=CLUSTER,
        seed=3,
    ),
    Mutant(
        "cut-too-early",
        "a follower keeps what is committed",
        (Patch("replication.fetcher:truncation_for", instead(_too_much)),),
        life=CLUSTER,
    ),
    Mutant(
        "taken-with-too-few",
        "acks=all is rejected before the append when too few are in sync",
        (
            Patch("replication.partition:Partition.append_as_leader", instead(_with_too_few)),
            Patch("replication.partition:Partition.may_append", instead(_leads)),
        ),
        life=CLUSTER,
        seed=1,
    ),
    Mutant(
        "followers-flush-later",
        "flush.messages applies to followers as well",
        (Patch("replication.follower_log:append_fetched", instead(_not_at_once)),),
        life=CLUSTER,
    ),
    Mutant(
        "in-sync-too-early",
        "a replica joins the ISR only with everything that is committed",
        (Patch("replication.partition:Partition._may_join", instead(_behind_the_epoch)),),
        life=CLUSTER,
        seed=39,
    ),
    Mutant(
        "followers-know-no-producers",
        "a follower tracks producers and transactions from its batches",
        (Patch("log.partition.log_appender:LogAppender._queue_replicated", instead(_no_producer)),),
        life=CLUSTER,
        seed=2,
    ),
    Mutant(
        "committed-at-the-start",
        "a starting replica takes its high watermark from the checkpoint",
        (Patch("replication.partition:Partition.__init__", instead(_at_its_end)),),
        life=CLUSTER,
        seed=1,
    ),
    Mutant(
        "followers-commit-all",
        "a follower takes its high watermark from its leader",
        (Patch("replication.follower_log:take_over", instead(_all_of_it)),),
        life=CLUSTER,
    ),
    Mutant(
        "anybody-is-elected",
        "an elected leader was in sync or eligible",
        (Patch("kraft.controller.partition_change:elect_leader", instead(_any_replica)),),
        life=CLUSTER,
    ),
)
