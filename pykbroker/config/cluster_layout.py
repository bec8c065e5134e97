"""Several nodes on one machine: the ports of each, and its configuration.

The first nodes are voters of the metadata quorum as well as brokers, the others are brokers only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pykbroker.values import NamedTuple

HOST: Final = "127.0.0.1"
MOST_REPLICAS: Final = 3


class ClusterLayout(NamedTuple):
    """Ports by node id: of clients for every node, of controllers for the voters."""

    ports: Mapping[int, int]
    controller_ports: Mapping[int, int]

    @property
    def bootstrap_servers(self) -> str:
        """All nodes, for any client."""
        return _servers(self.ports)

    @property
    def bootstrap_controllers(self) -> str:
        """All voters, for an admin client that talks to controllers."""
        return _servers(self.controller_ports)

    def properties(self, node_id: int, log_dirs: str) -> dict[str, str]:
        """The configuration of one node."""
        voters = [f"{voter}@{HOST}:{port}" for voter, port in self.controller_ports.items()]
        listeners = [f"PLAINTEXT://{HOST}:{self.ports[node_id]}"]
        roles = "broker"
        if node_id in self.controller_ports:
            roles = "broker,controller"
            listeners.append(f"CONTROLLER://{HOST}:{self.controller_ports[node_id]}")
        replicas = str(min(len(self.ports), MOST_REPLICAS))
        return {
            "node.id": str(node_id),
            "process.roles": roles,
            "listeners": ",".join(listeners),
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": ",".join(voters),
            "log.dirs": log_dirs,
            "offsets.topic.replication.factor": replicas,
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": str(min(len(self.ports), 2)),
        }


def _servers(ports: Mapping[int, int]) -> str:
    return ",".join(f"{HOST}:{port}" for port in ports.values())


def properties_text(properties: Mapping[str, str]) -> str:
    """The text of a properties file with these values."""
    lines = [f"{key}={_escaped(value)}\n" for key, value in properties.items()]
    return "".join(lines)


def _escaped(value: str) -> str:
    """Backslashes, line ends and blanks in front mean something in such files."""
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"\\{escaped}" if escaped[:1] in (" ", "\t", "\f") else escaped
