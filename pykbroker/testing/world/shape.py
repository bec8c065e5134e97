"""The nodes of a cluster, and the configuration of each.

3 nodes                    each is broker and controller
3 nodes, 5 controllers     nodes 1 to 3 are brokers, 101 to 105 controllers
"""

from __future__ import annotations

from collections.abc import Mapping

from pykbroker.testing.world.node import CONTROLLER_PORT, DATA_DIRECTORY, PORT, node_address
from pykbroker.values import NamedTuple

FIRST_CONTROLLER = 101

EVERY_NODE = {
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.fetch.timeout.ms": "1100",
    "controller.quorum.election.backoff.max.ms": "300",
    "controller.quorum.request.timeout.ms": "1000",
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "log.dirs": DATA_DIRECTORY,
    "log.index.size.max.bytes": "8192",
    "metadata.log.max.record.bytes.between.snapshots": "6000",
}


class Shape(NamedTuple):
    """The nodes of a cluster, and the configuration of each."""

    nodes: int = 3
    controllers: int = 0
    """0: every node is a controller, too."""

    @property
    def broker_ids(self) -> range:
        """Return the nodes that are brokers."""
        return range(1, self.nodes + 1)

    @property
    def controller_ids(self) -> range:
        """Return the voters."""
        if not self.controllers:
            return self.broker_ids
        return range(FIRST_CONTROLLER, FIRST_CONTROLLER + self.controllers)

    def properties(self, more: Mapping[str, str]) -> dict[int, dict[str, str]]:
        """Return the configuration of each node; `more` applies to all."""
        node_ids = sorted({*self.broker_ids, *self.controller_ids})
        return {node_id: {**self._properties(node_id), **more} for node_id in node_ids}

    def _properties(self, node_id: int) -> dict[str, str]:
        host = node_address(node_id)
        roles, listeners = [], []
        if node_id in self.broker_ids:
            roles.append("broker")
            listeners.append(f"PLAINTEXT://{host}:{PORT}")
        if node_id in self.controller_ids:
            roles.append("controller")
            listeners.append(f"CONTROLLER://{host}:{CONTROLLER_PORT}")
        voters = [f"{at}@{node_address(at)}:{CONTROLLER_PORT}" for at in self.controller_ids]
        found = {
            **EVERY_NODE,
            "process.roles": ",".join(roles),
            "node.id": str(node_id),
            "listeners": ",".join(listeners),
            "controller.quorum.voters": ",".join(voters),
        }
        if "broker" in roles:
            found["advertised.listeners"] = f"PLAINTEXT://{host}:{PORT}"
        return found
