"""The events that a partition accepts, and the effects that the replica manager carries out.

Events are for `Partition.step`; appends, reads and followers' fetches, the hot paths, are plain
calls of the same class.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykbroker.kraft.partition_image import RECOVERED
from pykbroker.values import value


@value
class PartitionAssigned:
    """The metadata image has a new registration of the partition."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int  # -1: none
    leader_epoch: int
    partition_epoch: int


@value
class IsrCheckDue:
    """The time of `next_deadline_ms` has been reached."""


@value
class ProposalAccepted:
    """The controller answered `proposal` with the state of the partition after it."""

    proposal: ProposeIsr
    isr: tuple[int, ...]
    leader_epoch: int
    partition_epoch: int
    leader_recovery_state: int


@value
class ProposalRefused:
    """`proposal` was rejected with an error code: by the controller, or by this node, which did not
    send it.
    """

    proposal: ProposeIsr
    code: int


Event = PartitionAssigned | IsrCheckDue | ProposalAccepted | ProposalRefused


@value
class BecameLeader:
    """This node leads the partition in `leader_epoch`, which begins at `start_offset`."""

    leader_epoch: int
    start_offset: int


@value
class BecameFollower:
    """Node `leader` (-1: none) leads in `leader_epoch`: follow it."""

    leader: int
    leader_epoch: int


@value
class HighWatermarkAdvanced:
    """Complete the produces, fetches and coordinator writes that wait for the high watermark."""

    high_watermark: int


@value
class LowWatermarkAdvanced:
    """Complete the DeleteRecords requests that wait for the low watermark."""

    low_watermark: int


@dataclass(slots=True, frozen=True, eq=False)
class ProposeIsr:
    """Send an AlterPartition; its answer is a ProposalAccepted or ProposalRefused of this object.

    `isr` has (broker id, broker epoch) pairs; the driver knows the epoch of this node itself.
    """

    isr: tuple[tuple[int, int], ...]
    leader_epoch: int
    partition_epoch: int
    leader_recovery_state: int = RECOVERED


Effect = BecameLeader | BecameFollower | HighWatermarkAdvanced | LowWatermarkAdvanced | ProposeIsr
