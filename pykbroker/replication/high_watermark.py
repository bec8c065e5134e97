"""The high watermark: the offset up to which every in-sync replica has the log.

    leader log   0 1 2 3 4 5 6 7 8 9
    follower 2   0 1 2 3 4 5 6            in the ISR
    follower 3   0 1 2 3                  not in the ISR, lagging
    high watermark = 7: offsets 0..6 are committed, consumers read no further

A follower outside the ISR that has caught up also holds the high watermark back; otherwise it might
never join. It counts only while its broker may join: unfenced, not shutting down, and fetching with
the broker epoch of its registration, or with none (KIP-903). Below `min.insync.replicas` the high
watermark does not move (KIP-966).
Source: `Partition.maybeIncrementLeaderHW`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pykbroker.replication.brokers import ClusterBrokers
from pykbroker.replication.follower_progress import FollowerProgress
from pykbroker.replication.isr import IsrState

if TYPE_CHECKING:
    from pykbroker.log.partition.partition_log import PartitionLog


def within(log: PartitionLog, offset: int) -> int:
    """Return `offset`, or if it is outside the log the nearer of the log's start and end."""
    return max(log.log_start_offset, min(offset, log.log_end_offset))


def leader_high_watermark(
    current: int,
    leader_end_offset: int,
    isr: IsrState,
    followers: Iterable[FollowerProgress],
    min_isr: int,
    now_ms: int,
    lag_max_ms: int,
    brokers: ClusterBrokers,
) -> int:
    """Return the new high watermark; it is never below `current`."""
    if len(isr.members) < min_isr:
        return current
    maximal = isr.maximal
    lowest = leader_end_offset
    for follower in followers:
        if follower.log_end_offset < lowest and (
            follower.replica_id in maximal
            or (
                follower.is_caught_up(leader_end_offset, now_ms, lag_max_ms)
                and brokers.is_isr_eligible(follower.replica_id, follower.broker_epoch)
            )
        ):
            lowest = follower.log_end_offset
    return max(current, lowest)
