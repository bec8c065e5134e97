"""Selects the replica from which a consumer should read a partition (KIP-392).

The leader is selected if it is in the consumer's rack or no follower qualifies; otherwise the most
advanced in-sync follower of that rack. A follower must have the offset, and be reachable on the
consumer's listener. Replicas that are not in sync might never let the consumer reach the end.
Source: Kafka's `ReplicaManager.findPreferredReadReplica`, `RackAwareReplicaSelector.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.kraft.registration import BrokerRegistration
    from pykbroker.replication.follower_progress import FollowerProgress
    from pykbroker.replication.partition import Partition

THE_LEADER = -1


class RackAwareSelector:
    """The selector for one fetch; `rack` is that of the consumer, and not empty."""

    __slots__ = ("_image", "_listener", "_node_id", "_rack")

    def __init__(self, image: MetadataImage, node_id: int, rack: str, listener: str) -> None:
        self._image = image
        self._node_id = node_id
        self._rack = rack
        self._listener = listener

    def choose(self, partition: Partition, offset: int) -> int:
        """Return the id of a follower to read from; -1: read from the leader,
        or this node is not the leader.
        """
        if not partition.is_leader:
            return THE_LEADER
        leader = self._image.brokers.get(self._node_id)
        if leader is not None and leader.rack == self._rack:
            return THE_LEADER
        near = [
            follower
            for follower in partition.followers.values()
            if follower.replica_id in partition.isr.members
            and follower.log_start_offset <= offset <= follower.log_end_offset
            and self._is_near(self._image.brokers.get(follower.replica_id))
        ]
        return max(near, key=_progress).replica_id if near else THE_LEADER

    def _is_near(self, broker: BrokerRegistration | None) -> bool:
        return (
            broker is not None
            and not broker.fenced
            and broker.rack == self._rack
            and self._listener in broker.listeners
        )


def _progress(follower: FollowerProgress) -> tuple[int, int, int]:
    return follower.log_end_offset, follower.caught_up_ms, follower.replica_id
