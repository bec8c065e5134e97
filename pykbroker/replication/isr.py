"""The in-sync replicas of a partition, as seen by its leader.

A leader that wants to add a replica has to ask the controller (AlterPartition), and must hold back
the high watermark even before the answer: until then, the replica counts for the *maximal* set. A
removal works the other way round: the replica counts until its removal is confirmed. (KIP-497,
`PartitionState.java`.)

              members {1, 2}, adding {3}        members {1, 2}, removing {2}
    maximal   {1, 2, 3}                         {1, 2}

State: the confirmed members, and a proposed change that is not yet confirmed.
Invariants: `members` is a subset of `maximal`; at most one change is in flight.
"""

from __future__ import annotations

from collections.abc import Iterable

from pykbroker.errors import ErrorCode
from pykbroker.replication.follower_progress import FollowerProgress
from pykbroker.values import value

NOT_APPLIED = (int(ErrorCode.OPERATION_NOT_ATTEMPTED), int(ErrorCode.INELIGIBLE_REPLICA))
"""The change was not made: this node did not send it, or the controller refused it."""

OUTDATED = (
    int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    int(ErrorCode.UNKNOWN_TOPIC_ID),
    int(ErrorCode.FENCED_LEADER_EPOCH),
    int(ErrorCode.INVALID_UPDATE_VERSION),
    int(ErrorCode.INVALID_REQUEST),
    int(ErrorCode.NEW_LEADER_ELECTED),
)
"""Whether the change was applied only the metadata can tell: the leader waits for it."""


@value
class IsrState:
    """Confirmed in-sync replicas (node ids) and the change in flight, if any."""

    members: frozenset[int]
    adding: frozenset[int] = frozenset()
    removing: frozenset[int] = frozenset()

    @property
    def maximal(self) -> frozenset[int]:
        """Every replica the high watermark has to wait for."""
        return self.members | self.adding if self.adding else self.members

    @property
    def proposed(self) -> frozenset[int]:
        """The members if the change in flight is confirmed."""
        return (self.members | self.adding) - self.removing

    @property
    def change_in_flight(self) -> bool:
        """True until the last proposal is confirmed or withdrawn, or the metadata replaces it."""
        return bool(self.adding or self.removing)

    def withdrawn(self) -> IsrState:
        """The confirmed members, without the change in flight."""
        return IsrState(self.members)

    def propose_adding(self, replica: int) -> IsrState:
        """Propose to add `replica`. Raises ValueError while another change is in flight."""
        if self.change_in_flight:
            raise ValueError("an ISR change is already in flight")
        return IsrState(self.members, adding=frozenset((replica,)))

    def propose_removing(self, replicas: frozenset[int]) -> IsrState:
        """Propose to remove `replicas`. Raises ValueError while another change is in flight."""
        if self.change_in_flight:
            raise ValueError("an ISR change is already in flight")
        return IsrState(self.members, removing=replicas & self.members)


def effective_min_isr(min_insync_replicas: int, replica_count: int) -> int:
    """Return `min.insync.replicas`, but never more than the number of replicas (KIP-966)."""
    return min(min_insync_replicas, replica_count)


def out_of_sync(
    isr: IsrState,
    followers: Iterable[FollowerProgress],
    leader_end_offset: int,
    now_ms: int,
    lag_max_ms: int,
) -> frozenset[int]:
    """Return the members that were not at the leader's end within `lag_max_ms`:
    stuck or too slow.
    """
    return frozenset(
        follower.replica_id
        for follower in followers
        if follower.replica_id in isr.members
        and not follower.is_caught_up(leader_end_offset, now_ms, lag_max_ms)
    )
