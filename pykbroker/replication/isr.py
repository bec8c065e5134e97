"""The in-sync replicas of a partition, as its leader sees them.

A leader that wants to add a replica has to ask the controller (AlterPartition) and must not wait
for the answer before it holds back the high watermark: until the answer comes, the replica counts
for the *maximal* set. A removal works the other way round: the replica counts until it is confirmed
out. (KIP-497, `PartitionState.java`.)

              members {1, 2}, adding {3}        members {1, 2}, removing {2}
    maximal   {1, 2, 3}                         {1, 2}

State: the confirmed members, a change that is proposed and not yet confirmed.
Invariants: `members` is a subset of `maximal`; at most one change is in flight.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, frozen=True)
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
    def change_in_flight(self) -> bool:
        """True while the controller has not answered the last proposal."""
        return bool(self.adding or self.removing)

    def propose_adding(self, replica: int) -> IsrState:
        """Ask for `replica` to come in. ValueError while another change is in flight."""
        if self.change_in_flight:
            raise ValueError("an ISR change is in flight already")
        return IsrState(self.members, adding=frozenset((replica,)))

    def propose_removing(self, replicas: frozenset[int]) -> IsrState:
        """Ask for `replicas` to go out. ValueError while another change is in flight."""
        if self.change_in_flight:
            raise ValueError("an ISR change is in flight already")
        return IsrState(self.members, removing=replicas & self.members)


def effective_min_isr(min_insync_replicas: int, replica_count: int) -> int:
    """`min.insync.replicas`, but never more than the replicas there are (KIP-966)."""
    return min(min_insync_replicas, replica_count)
