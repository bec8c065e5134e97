"""What can happen to a partition of this node, and what it wants done about it.

The closed list of events and effects of `Partition.step`; appends and reads, the hot paths, are
plain calls of the same class.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, frozen=True)
class PartitionAssigned:
    """The metadata image has a new registration of the partition."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int  # -1: none
    leader_epoch: int
    partition_epoch: int


@dataclass(slots=True, frozen=True)
class FollowerFetched:
    """A follower fetched from this leader."""

    replica_id: int
    broker_epoch: int
    fetch_offset: int
    log_start_offset: int


Event = PartitionAssigned | FollowerFetched


@dataclass(slots=True, frozen=True)
class BecameLeader:
    """This node leads the partition since `leader_epoch`, from `start_offset` on."""

    leader_epoch: int
    start_offset: int


@dataclass(slots=True, frozen=True)
class BecameFollower:
    """Another node leads (-1: none); operations that wait for a leader here have to end."""

    leader: int
    leader_epoch: int


@dataclass(slots=True, frozen=True)
class HighWatermarkAdvanced:
    """Produces and fetches that wait for the high watermark may go on."""

    high_watermark: int


Effect = BecameLeader | BecameFollower | HighWatermarkAdvanced
