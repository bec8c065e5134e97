"""The current leader of a partition, for responses that redirect a client (KIP-951).

Produce (from version 10) names the leader beside NOT_LEADER_OR_FOLLOWER, Fetch (from 16) also
beside FENCED_LEADER_EPOCH. A client that also gets the endpoint needs no Metadata round trip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.replication.replica_manager import ReplicaManager


class LeaderHint(NamedTuple):
    """The leader (-1: none), its epoch, and its address on the client's listener
    (None: none known).
    """

    leader: int
    leader_epoch: int
    endpoint: tuple[str, int, str | None] | None  # host, port, rack


def leader_hint(
    manager: ReplicaManager, topic: str, partition: int, listener_name: str
) -> LeaderHint:
    """Return the leader known to this node: from its own partition, otherwise
    from the metadata image; (-1, -1, None) if neither has the partition.
    """
    image = manager.image
    local = manager.find(topic, partition)
    if local is not None and local.hosted:
        leader, leader_epoch = local.leader, local.leader_epoch
    else:
        registration = image.partition(topic, partition)
        if registration is None:
            return LeaderHint(-1, -1, None)
        leader, leader_epoch = registration.leader, registration.leader_epoch
    broker = image.brokers.get(leader)
    if broker is None or broker.fenced or listener_name not in broker.listeners:
        return LeaderHint(leader, leader_epoch, None)
    listener = broker.listeners[listener_name]
    return LeaderHint(leader, leader_epoch, (listener.host, listener.port, broker.rack))
