"""Parts of the node that follow the metadata, as the publisher calls them.

Order (see `server.py`): registration, replica manager, groups, dynamic configuration
(`dynamic_config.py`), and last the metadata view: what serves clients is there before they are
sent to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.kraft.metadata_version import supports_directory_assignment
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.kraft.delta import MetadataDelta
    from pykbroker.kraft.image import MetadataImage


class RegistrationStep:
    """Has the broker register once more when an upgrade lets the cluster record its directories.

    Source: Kafka's `BrokerRegistrationTracker.java`.
    """

    def __init__(self, server: BrokerServer) -> None:
        self._server = server

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `Publisher`."""
        broker = image.brokers.get(self._server.node_id)
        lifecycle = self._server.kraft.broker
        if (
            broker is not None
            and not broker.directories
            and broker.epoch == lifecycle.broker_epoch
            and supports_directory_assignment(image.metadata_version)
        ):
            lifecycle.refresh_registration()


class ReplicaManagerStep:
    """The replica manager as a publisher."""

    def __init__(self, server: BrokerServer) -> None:
        self._server = server

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `Publisher`."""
        server = self._server
        server.replica_manager.apply(delta, image, server.now_ms())
        server.wake()


class GroupsStep:
    """The group coordinator as a publisher; it is made when its topic is there."""

    def __init__(self, server: BrokerServer) -> None:
        self._server = server

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `Publisher`."""
        groups = self._server.groups_if_made
        if groups is not None:
            groups.apply(delta, image)
        elif GROUP_METADATA_TOPIC in image.topics_by_name:
            _ = self._server.groups
