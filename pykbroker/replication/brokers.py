"""The brokers of the cluster as a leader needs them: whether they are alive,
and their incarnations.

State: the registrations of the image that the partitions follow.
In:  `registrations`, replaced with each image. Out: queries about one broker.
Source: `KRaftMetadataCache.getAliveBrokerEpoch`, `Partition.isReplicaIsrEligible` (KIP-841, 903).
"""

from __future__ import annotations

from collections.abc import Mapping

from pykbroker.kraft.registration import BrokerRegistration

NO_FETCH_YET = -2
"""The broker epoch of a follower that has not fetched since this node leads."""
ANY_EPOCH = -1
"""The broker epoch of a fetch below version 15: the leader cannot check it."""


class ClusterBrokers:
    """The brokers of the cluster; all partitions of a node share one instance."""

    __slots__ = ("registrations",)

    def __init__(self) -> None:
        self.registrations: Mapping[int, BrokerRegistration] = {}

    def is_alive(self, broker_id: int) -> bool:
        """Return whether the broker is registered and not fenced."""
        broker = self.registrations.get(broker_id)
        return broker is not None and not broker.fenced

    def is_stale(self, broker_id: int, broker_epoch: int) -> bool:
        """Return whether a request with `broker_epoch` is from an earlier incarnation of the
        broker; False without an epoch, and for a broker that is fenced or not registered.
        """
        if broker_epoch == ANY_EPOCH:
            return False
        broker = self.registrations.get(broker_id)
        return broker is not None and broker.epoch > broker_epoch and not broker.fenced

    def is_isr_eligible(self, broker_id: int, broker_epoch: int) -> bool:
        """Return whether the broker, which last fetched with `broker_epoch`,
        may join the in-sync replicas.
        """
        broker = self.registrations.get(broker_id)
        if broker is None or broker.fenced or broker.in_controlled_shutdown:
            return False
        return broker_epoch in (ANY_EPOCH, broker.epoch)
