"""The followers of a partition that this node leads, by replica id.

In:  `track` (another assignment), `start_epoch`; `wake`, `touch` (what their sessions must tell).
Invariants: the progress of a broker that is no longer a replica has left its fetch session.
"""

from __future__ import annotations

from collections.abc import Iterable

from pykbroker.replication.brokers import ANY_EPOCH, NO_FETCH_YET, ClusterBrokers
from pykbroker.replication.follower_progress import FollowerProgress


class Followers(dict[int, FollowerProgress]):
    """The followers of a partition that this node leads."""

    __slots__ = ()

    def track(self, wanted: Iterable[int]) -> None:
        """These are the followers now; those that stay keep their progress."""
        before = dict(self)
        self.clear()
        for replica_id in wanted:
            known = before.pop(replica_id, None)
            self[replica_id] = FollowerProgress(replica_id) if known is None else known
        for follower in before.values():
            follower.leave()

    def start_epoch(
        self, now_ms: int, start_offset: int, members: frozenset[int], *, is_new_leader: bool
    ) -> None:
        """A leader epoch starts at `start_offset`, with the in-sync replicas `members`."""
        for follower in self.values():
            follower.reset(
                now_ms,
                start_offset,
                is_new_leader=is_new_leader,
                is_in_isr=follower.replica_id in members,
            )

    def touch(self) -> None:
        """Their sessions have something to tell: a high watermark, a log start, another ISR."""
        for follower in self.values():
            session = follower.session
            if session is not None:
                if follower.is_idle:
                    follower.settle()
                session.touch(follower.asked)

    def wake(self) -> None:
        """Their sessions have something that ends a wait: records, another epoch, an error."""
        for follower in self.values():
            session = follower.session
            if session is not None:
                if follower.is_idle:
                    follower.settle()
                session.wake(follower.asked)

    def with_epochs(self, replicas: Iterable[int]) -> tuple[tuple[int, int], ...]:
        """(id, broker epoch) of each: the epoch that it last fetched with, or that any will do."""
        epochs = {f.replica_id: f.broker_epoch for f in self.values()}
        return tuple(
            (replica_id, ANY_EPOCH if epoch == NO_FETCH_YET else epoch)
            for replica_id in sorted(replicas)
            for epoch in (epochs.get(replica_id, ANY_EPOCH),)
        )

    def lowest_log_start(self, leader_log_start: int, brokers: ClusterBrokers) -> int:
        """The lowest log start of the leader and of the followers on live brokers; -1 if that of
        one of them is unknown.
        """
        lowest = leader_log_start
        for follower in self.values():
            if follower.log_start_offset < lowest and brokers.is_alive(follower.replica_id):
                lowest = follower.log_start_offset
        return lowest
