"""Broken rules of replication, and of leaders, coordinators and markers of several brokers."""

from __future__ import annotations

from typing import Any

from pykbroker.testing.world.mutants.mutant import (
    CLUSTER,
    Mutant,
    Patch,
    instead,
    returning,
)


def _log_end(original: Any, current: int, leader_end_offset: int, *more: Any) -> int:
    return max(current, leader_end_offset)


def _written_is_enough(original: Any, partition: Any, required_offset: int) -> Any:
    answer = original(partition, required_offset)
    return 0 if answer is None else answer


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
    """The next one that runs, in sync or not."""
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
        "acknowledged-when-written",
        "acks=all waits for the in-sync replicas",
        (Patch("replication.partition:Partition.acknowledged", instead(_written_is_enough)),),
        life=CLUSTER,
    ),
    Mutant(
        "divergence-not-told",
        "a follower learns where its log differs from its leader's",
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
        "anybody-is-elected",
        "a leader is in sync, or eligible",
        (Patch("kraft.controller.partition_change:elect_leader", instead(_any_replica)),),
        life=CLUSTER,
    ),
)
