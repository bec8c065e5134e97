"""Nodes of ours whose every address, for clients and for each other, is one of the proxy."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

from pykbroker.config.cluster_layout import HOST
from pykbroker.testing import Cluster
from pykbroker.testing.cluster import ClusterNode
from tests.chaos.proxy import Proxy

SETTINGS = {
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    "default.replication.factor": "3",
    "group.initial.rebalance.delay.ms": "0",
    "log.segment.bytes": "4194304",
    "min.insync.replicas": "2",
    "offsets.topic.num.partitions": "3",
    "replica.lag.time.max.ms": "5000",
}


def name_of(node: ClusterNode) -> str:
    """The client id of the node's own requests: the name of its end of a link."""
    return f"broker-{node.id}"


class ProxiedCluster(Cluster):
    """Three nodes behind `proxy`; `bootstrap_servers` are the proxy's addresses."""

    def __init__(self, directory: Path, proxy: Proxy, **overrides: str) -> None:
        super().__init__(3, directory=directory, overrides=SETTINGS | overrides)
        doors = {
            node.id: (
                proxy.listen(name_of(node), self.ports[node.id]),
                proxy.listen(name_of(node), self.controller_ports[node.id]),
            )
            for node in self.nodes
        }
        self._servers = ",".join(f"{HOST}:{door}" for door, _ in doors.values())
        voters = ",".join(f"{node_id}@{HOST}:{door}" for node_id, (_, door) in doors.items())
        for node in self.nodes:
            door, controller_door = doors[node.id]
            node.add_properties(
                {
                    "advertised.listeners": (
                        f"PLAINTEXT://{HOST}:{door},CONTROLLER://{HOST}:{controller_door}"
                    ),
                    "controller.quorum.voters": voters,
                }
            )

    @property
    def bootstrap_servers(self) -> str:
        return self._servers

    @property
    def direct_servers(self) -> str:
        """The nodes themselves. Metadata sends clients to the proxy all the same."""
        return ",".join(node.bootstrap_servers for node in self.nodes)


def fill_disk(node: ClusterNode) -> None:
    """Let no file of the running node grow beyond the largest log that it has now.

    Its next write there fails, as on a full disk. The limit is gone with the process.
    """
    limit = 0
    for folder in os.scandir(node.data_dir):
        with suppress(OSError):  # a topic may be deleted in this moment
            for entry in os.scandir(folder.path):
                if entry.name.endswith(".log"):
                    limit = max(limit, entry.stat().st_size)
    resource.prlimit(node.pid, resource.RLIMIT_FSIZE, (limit, limit))


def tracebacks(cluster: ProxiedCluster) -> list[str]:
    """Nodes that logged a stack."""
    return [
        f"node {node.id} logged a traceback: {text[max(0, text.index('Traceback') - 500) :][:3000]}"
        for node in cluster.nodes
        if "Traceback" in (text := node.log_text)
    ]
