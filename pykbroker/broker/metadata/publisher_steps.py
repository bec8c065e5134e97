"""The parts of the node that follow the metadata, as called by the publisher.

Order on a broker (see `server.py`): registration, replica manager, coordinators
(`broker/coordinators.py`), dynamic configuration (`dynamic_config.py`), and last the metadata view:
the parts that serve clients are ready before clients are directed to them.
"""

from __future__ import annotations

from collections.abc import Callable

from pykbroker.kraft.broker_lifecycle_driver import BrokerLifecycleDriver
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_version import supports_directory_assignment
from pykbroker.replication.replica_manager import ReplicaManager


class RegistrationStep:
    """Makes the broker register again when an upgrade lets the cluster record its directories.

    Source: Kafka's `BrokerRegistrationTracker.java`.
    """

    def __init__(self, node_id: int, lifecycle: BrokerLifecycleDriver) -> None:
        self._node_id = node_id
        self._lifecycle = lifecycle

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `Publisher`."""
        broker = image.brokers.get(self._node_id)
        if (
            broker is not None
            and not broker.directories
            and broker.epoch == self._lifecycle.broker_epoch
            and supports_directory_assignment(image.metadata_version)
        ):
            self._lifecycle.refresh_registration()


class ReplicaManagerStep:
    """Passes the time to the replica manager, and requests a turn for its answers."""

    def __init__(
        self, replica_manager: ReplicaManager, now_ms: Callable[[], int], wake: Callable[[], None]
    ) -> None:
        self._replica_manager = replica_manager
        self._now_ms = now_ms
        self._wake = wake

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `Publisher`."""
        self._replica_manager.apply(delta, image, self._now_ms())
        self._wake()
