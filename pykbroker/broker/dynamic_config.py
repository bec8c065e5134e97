"""Carries changes of the broker's dynamic configuration into the running node.

State: none; the image holds the overrides. In: `apply` (metadata publisher). Out: a new
`BrokerConfig` for the server and for whoever keeps something made of it.
Invariant: overrides that the controller let in and that this node cannot use are logged, and do not
keep the others from their effect.
Source: Kafka's `DynamicBrokerConfig.scala`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pykbroker.config.dynamic import with_usable_overrides

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.kraft.delta import MetadataDelta
    from pykbroker.kraft.image import MetadataImage

BROKER = 4  # ConfigResource.Type

_log = logging.getLogger("pykbroker.server")


def take_overrides(server: BrokerServer) -> None:
    """Before the logs are opened: what they are opened with. `apply` tells what cannot be used."""
    image = server.kraft.image
    server.config, _ = with_usable_overrides(
        server.config, image.cluster_config(), image.broker_config(server.node_id)
    )
    server.log_manager.on_config(server.config)


class DynamicConfig:
    """The publisher step; see the module."""

    def __init__(self, server: BrokerServer) -> None:
        self._server = server
        self._static = server.config

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """The cluster's default or this node's own overrides may have changed."""
        server = self._server
        names = {name for kind, name in delta.changed_configs if kind == BROKER}
        if not names & {"", str(server.node_id)}:
            return
        config, faults = with_usable_overrides(
            self._static, image.cluster_config(), image.broker_config(server.node_id)
        )
        for fault in faults:
            _log.error("cannot use the dynamic configuration: %s", fault)
        server.config = config
        server.network.on_config(config)
        server.log_manager.on_config(config)
        server.replica_manager.on_broker_config(config)
