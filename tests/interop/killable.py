"""What tests of exactly-once kill: nodes that replicate everything, and Java programs."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import Any

from pykbroker.testing import Broker, Cluster
from tests.harness.mixed_cluster import APACHE, OURS, MixedCluster

SETTINGS = {
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "group.initial.rebalance.delay.ms": "0",
}
REPLICATED = {
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "transaction.state.log.num.partitions": "5",
    "min.insync.replicas": "2",
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}


KillableCluster = Broker | Cluster | MixedCluster


def cluster_of(kinds: str, directory: Path) -> KillableCluster:
    """One node, or several that replicate everything; `kinds` has an o or an a for each."""
    if kinds == "o":
        return Broker(overrides=SETTINGS, data_dir=directory)
    settings = SETTINGS | REPLICATED
    if set(kinds) == {"o"}:
        return Cluster(len(kinds), overrides=settings, directory=directory)
    directory.mkdir()
    names = [APACHE if kind == "a" else OURS for kind in kinds]
    config: dict[str, Any] = {key.replace(".", "_"): value for key, value in settings.items()}
    return MixedCluster(directory, *names, **config)


def nodes_of(cluster: KillableCluster) -> list[Any]:
    """Its nodes, to kill and to start again."""
    return [cluster] if isinstance(cluster, Broker) else list(cluster.nodes)


class Program:
    """A command that runs until it is killed; what it prints is kept in a file."""

    def __init__(self, command: list[str], log: Path) -> None:
        self._command = command
        self._path = log
        self._log = log.open("ab")
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    @property
    def text(self) -> str:
        """All that it has printed, in all its lives."""
        return self._path.read_text("utf-8", errors="replace")

    def start(self) -> None:
        """Start it, again if it was killed."""
        assert self._process is None
        self.starts += 1
        self._process = subprocess.Popen(self._command, stdout=self._log, stderr=subprocess.STDOUT)

    def check(self) -> None:
        """AssertionError, with what it printed last, when it has ended by itself."""
        assert self._process is not None
        code = self._process.poll()
        assert code is None, f"ended with {code}:\n{self.text[-8000:]}"

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """Leave nothing running."""
        self.kill()
        self._log.close()
