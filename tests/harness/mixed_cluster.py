"""A cluster of Apache Kafka's nodes and ours: a quorum of all of them, or a controller apart."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka.admin import AdminClient

from tests.harness.apache import (
    QUICK_JVM,
    STORAGE,
    UNBUILT_FEATURES,
    java_command,
    random_uuid,
)
from tests.harness.ports import KeptPorts

APACHE = "apache"
OURS = "ours"
CONTROLLER_ID = 9
START_SECONDS = 300.0


class MixedNode:
    """One process; `kind` says whose."""

    def __init__(
        self, kind: str, node_id: int, port: int, directory: Path, jvm: tuple[str, ...]
    ) -> None:
        self.kind = kind
        self._jvm = jvm
        self.id = node_id
        self.port = port
        self.data_dir = directory / f"node-{node_id}"
        self.log_path = directory / f"node-{node_id}.log"
        self.config = directory / f"node-{node_id}.properties"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_server(self) -> str:
        return f"127.0.0.1:{self.port}"

    def format(self, cluster_id: str, *flags: str) -> None:
        arguments = ["format", "-t", cluster_id, "-c", str(self.config), *flags]
        if self.kind == APACHE:
            features = [part for at in UNBUILT_FEATURES for part in ("--feature", at)]
            command = java_command(STORAGE, *arguments, *features)
        else:
            command = [sys.executable, "-m", "pykbroker", "storage", *arguments]
        subprocess.run(command, check=True, capture_output=True, timeout=START_SECONDS)

    def start(self) -> None:
        if self.kind == APACHE:
            command = java_command("kafka.Kafka", str(self.config), heap="512m", options=self._jvm)
        else:
            command = [sys.executable, "-m", "pykbroker", "start", "--config", str(self.config)]
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

    @property
    def pid(self) -> int:
        """The process id of the running node."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """As `kill -9`."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """SIGSTOP: it answers nobody, and its connections stay open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    @property
    def metadata_files(self) -> list[Path]:
        """The segments of its metadata log."""
        return sorted(self.data_dir.glob("__cluster_metadata-0/*.log"))

    @property
    def log_text(self) -> str:
        return self.log_path.read_text("utf-8", "replace")


class MixedCluster:
    """A context manager: formatted and started when it is entered, killed when it is left.

    Each node is a broker and a controller; with `controller`, the kind of one more node, that one
    is the only controller. The voters are static (controller.quorum.voters), or with `is_dynamic`
    given to each node when it is formatted (`--initial-controllers`, kraft.version 1). `jvm` is for
    Apache's nodes. Other keyword arguments are keys of the configuration with underscores in place
    of dots.
    """

    def __init__(
        self,
        directory: Path,
        *kinds: str,
        controller: str | None = None,
        is_dynamic: bool = False,
        jvm: tuple[str, ...] = QUICK_JVM,
        **config: str,
    ) -> None:
        self._ports = KeptPorts(2 * len(kinds))
        ports = self._ports.numbers
        self.nodes = [
            MixedNode(kind, number, ports[number - 1], directory, jvm)
            for number, kind in enumerate(kinds, 1)
        ]
        self.controller: MixedNode | None = None
        voters = dict(enumerate(ports[len(kinds) :], 1))
        if controller is not None:
            voters = {CONTROLLER_ID: ports[len(kinds)]}
            port = voters[CONTROLLER_ID]
            self.controller = MixedNode(controller, CONTROLLER_ID, port, directory, jvm)
        self.controller_ports = list(voters.values())
        quorum = "voters=" + ",".join(f"{n}@127.0.0.1:{p}" for n, p in voters.items())
        self.directory_ids = [random_uuid() for _ in voters] if is_dynamic else []
        if is_dynamic:
            quorum = f"bootstrap.servers={self.bootstrap_controllers}"
        settings = "".join(f"{k.replace('_', '.')}={v}\n" for k, v in config.items())
        for node in self.processes:
            node.config.write_text(
                self._roles_of(node, voters) + f"node.id={node.id}\n"
                "controller.listener.names=CONTROLLER\n"
                f"controller.quorum.{quorum}\n"
                f"log.dirs={node.data_dir}\n"
                "default.replication.factor=3\n"
                "offsets.topic.replication.factor=3\n"
                "min.insync.replicas=2\n" + settings
            )

    def _roles_of(self, node: MixedNode, voters: dict[int, int]) -> str:
        if node is self.controller:
            return f"process.roles=controller\nlisteners=CONTROLLER://127.0.0.1:{node.port}\n"
        clients = f"PLAINTEXT://{node.bootstrap_server}"
        advertised = f"advertised.listeners={clients}\n"
        if self.controller is not None:
            return f"process.roles=broker\nlisteners={clients}\n{advertised}"
        return (
            "process.roles=broker,controller\n"
            f"listeners={clients},CONTROLLER://127.0.0.1:{voters[node.id]}\n{advertised}"
        )

    @property
    def processes(self) -> list[MixedNode]:
        """The brokers, and the controller that is apart."""
        return self.nodes if self.controller is None else [*self.nodes, self.controller]

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(node.bootstrap_server for node in self.nodes)

    def node(self, node_id: int) -> MixedNode:
        """The node with this id."""
        return self.nodes[node_id - 1]

    @property
    def bootstrap_controllers(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.controller_ports)

    @property
    def initial_controllers(self) -> str:
        """The voters as `--initial-controllers` takes them."""
        places = zip(self.controller_ports, self.directory_ids, strict=True)
        return ",".join(
            f"{number}@127.0.0.1:{port}:{directory_id}"
            for number, (port, directory_id) in enumerate(places, 1)
        )

    def __enter__(self) -> Self:
        cluster_id = random_uuid()
        flags = []
        if self.directory_ids:
            flags = ["--initial-controllers", self.initial_controllers]
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda node: node.format(cluster_id, *flags), self.processes))
        for node in self.processes:
            node.start()
        try:
            self.wait_for_brokers()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for node in self.processes:
            node.kill()
        self._ports.close()

    def wait_for_brokers(self) -> None:
        """Until every node is an unfenced broker."""
        wanted = {node.id for node in self.nodes}
        until = time.monotonic() + START_SECONDS
        client = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})
        seen: set[int] = set()
        while seen != wanted:
            logs = "\n".join(node.log_text[-2000:] for node in self.processes)
            assert time.monotonic() < until, f"only {seen} of {wanted} are there: {logs}"
            try:
                seen = set(client.list_topics(timeout=5).brokers)
            except Exception:  # no broker is there yet
                seen = set()
            time.sleep(0.3)
