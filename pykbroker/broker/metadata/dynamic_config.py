"""The current configuration of the node: the static one with the overrides in the metadata.

State: the current `BrokerConfig`, and the parts of the node that keep something made of it.
Invariant: overrides that the controller accepted but this node cannot use are logged, and do not
prevent the others from taking effect.
Source: Kafka's `DynamicBrokerConfig.scala`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from pykbroker.config import BrokerConfig
from pykbroker.config.dynamic import with_usable_overrides
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage

BROKER = 4  # ConfigResource.Type

_log = logging.getLogger("pykbroker.server")


class DynamicConfig:
    """The current configuration of the node."""

    def __init__(self, static: BrokerConfig) -> None:
        self.current = static
        self._static = static
        self._followers: list[Callable[[BrokerConfig], None]] = []

    def follow(self, follower: Callable[[BrokerConfig], None]) -> None:
        """Call `follower` with every new configuration."""
        self._followers.append(follower)

    def take(self, image: MetadataImage) -> None:
        """Take the overrides before the logs are opened. `apply` reports those
        that cannot be used.
        """
        self._change(image)

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Apply changes of the cluster-wide or this node's overrides."""
        names = {name for kind, name in delta.changed_configs if kind == BROKER}
        if names & {"", str(self._static.node_id)}:
            for fault in self._change(image):
                _log.error("cannot use the dynamic configuration: %s", fault)

    def _change(self, image: MetadataImage) -> list[str]:
        self.current, faults = with_usable_overrides(
            self._static, image.cluster_config(), image.broker_config(self._static.node_id)
        )
        for follower in self._followers:
            follower(self.current)
        return [str(fault) for fault in faults]
