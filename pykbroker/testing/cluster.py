"""A cluster of real nodes, each in a process of its own, on free ports of 127.0.0.1.

    with Cluster(3) as cluster:
        KafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
        cluster.nodes[1].kill()

Every node is ready when `start` returns. A node keeps its port and its data over a restart.
"""

from __future__ import annotations

import base64
import os
import shutil
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from pykbroker.config.cluster_layout import ClusterLayout, properties_text
from pykbroker.environment.real.ports import free_ports
from pykbroker.log.directories.checkpoints import META_PROPERTIES, MetaProperties
from pykbroker.testing.broker import TEST_DEFAULTS, Broker, config_of

MOST_REPLICAS = 3


class ClusterNode(Broker):
    """One node of a cluster; `id` is its node.id."""

    def __init__(self, cluster: Cluster, node_id: int, properties: Mapping[str, str]) -> None:
        super().__init__(data_dir=cluster.directory / f"node-{node_id}")
        self.id = node_id
        self.port = cluster.ports[node_id]
        self._cluster_id = cluster.cluster_id
        self._config = cluster.directory / f"node-{node_id}.properties"
        self._config.write_text(properties_text(properties), "utf-8")
        self._log = cluster.directory / f"node-{node_id}.log"

    def _has_no_files(self) -> bool:
        return False

    def add_properties(self, properties: Mapping[str, str]) -> None:
        """Set keys of this node only, from its next start on; the last value of a key counts."""
        with self._config.open("a", encoding="utf-8") as file:
            file.write(properties_text(properties))

    def _log_path(self) -> Path:
        return self._log

    def _command(self) -> list[str]:
        return [*super()._command()[:5], "--config", str(self._config)]

    def _environment(self) -> dict[str, str]:
        # An empty directory is formatted for the cluster of this name.
        return super()._environment() | {"CLUSTER_ID": self._cluster_id}


class Cluster:
    """`count` nodes, of which the first `controllers` (by default up to three) are the voters of
    the metadata quorum.

    Keyword arguments are keys of Kafka's broker configuration with underscores in place of dots;
    `overrides` takes keys as they are; `pykbroker.testing.broker.TEST_DEFAULTS` apply to keys that
    are not given, and topics have, by default, three replicas, or one on each node if there are
    fewer nodes. `directory` names a directory to use and keep; what an
    earlier Cluster left there is used again, on other ports. Raises ValueError if `controllers`
    is not between 1 and `count`.
    """

    def __init__(
        self,
        count: int = 3,
        *,
        controllers: int | None = None,
        directory: str | os.PathLike[str] | None = None,
        overrides: Mapping[str, object] | None = None,
        **config: object,
    ) -> None:
        voters = min(count, 3) if controllers is None else controllers
        if not 1 <= voters <= count:
            raise ValueError(f"{voters} controllers need at least as many nodes, not {count}")
        self._is_own = directory is None
        self.directory = Path(tempfile.mkdtemp(prefix="pykbroker-") if self._is_own else directory)  # type: ignore[arg-type]
        self.directory.mkdir(parents=True, exist_ok=True)
        self.cluster_id = _cluster_id_of(self.directory)
        ids = range(1, count + 1)
        free = free_ports(count + voters)
        self.ports = dict(zip(ids, free, strict=False))
        self.controller_ports = dict(zip(ids, free[count:], strict=False))
        self._layout = ClusterLayout(self.ports, self.controller_ports)
        replicas = {"default.replication.factor": str(min(count, MOST_REPLICAS))}
        shared = replicas | TEST_DEFAULTS | config_of(config, overrides or {})
        self.nodes = [
            ClusterNode(
                self,
                node_id,
                self._layout.properties(node_id, str(self.directory / f"node-{node_id}")) | shared,
            )
            for node_id in ids
        ]

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of all brokers, for any client."""
        return self._layout.bootstrap_servers

    @property
    def bootstrap_controllers(self) -> str:
        """The addresses of all voters, for an admin client that connects to controllers."""
        return self._layout.bootstrap_controllers

    def node(self, node_id: int) -> ClusterNode:
        """Return the node with this id, of 1 to `count`."""
        return self.nodes[node_id - 1]

    def start(self) -> Self:
        """Start all nodes and wait until each is ready; if one fails, kill all and raise
        BrokerFailed.
        """
        try:
            for node in self.nodes:
                node.launch()
            for node in self.nodes:
                node.wait_until_ready()
        except BaseException:
            self.kill()
            raise
        return self

    def stop(self) -> None:
        """Stop the nodes cleanly, brokers without a controller first.

        The last of several voters no longer find a quorum to hand their partitions over to, and
        give up after half a minute. If one fails (BrokerFailed), those after it keep running.
        """
        for node in reversed(self.nodes):
            node.stop()

    def kill(self) -> None:
        """Kill every node."""
        for node in self.nodes:
            node.kill()

    def close(self) -> None:
        """Kill the nodes and remove their temporary directory.

        A clean stop could make the last nodes wait for a quorum that no longer exists. To shut down
        a `directory` of your own cleanly, call `stop` first.
        """
        self.kill()
        if self._is_own:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Cluster({self.bootstrap_servers})"


def _cluster_id_of(directory: Path) -> str:
    """Return the id in a directory of a node that was formatted before, or a new one."""
    for path in sorted(directory.glob(f"node-*/{META_PROPERTIES}")):
        found = MetaProperties.from_bytes(path.read_bytes(), str(path)).cluster_id
        if found is not None:
            return found
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
