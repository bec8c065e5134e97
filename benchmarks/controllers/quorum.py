"""A quorum of controllers alone, of one kind, and brokers that exist only in their registrations.

The brokers register and send heartbeats over connections of this process, and say that they have
read everything, so that what is measured is the quorum without logs of partitions.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pykbroker.environment.real.ports import free_ports
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages import broker_registration_request as registration
from pykbroker.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from pykbroker.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.harness.apache import SHIPPED_JVM, STORAGE, UNBUILT_FEATURES, java_command
from tests.harness.raw_client import RawClient

VOTERS = 3
BROKERS = 6
REPLICAS = 3
PATIENCE_S = 180.0
LOG_LINES = 20
CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAQA"
SNAPSHOT_BYTES = 4 << 20
"""metadata.log.max.record.bytes.between.snapshots."""
_BROKER_FEATURES = {
    "eligible.leader.replicas.version": (0, 1),
    "group.version": (0, 1),
    "kraft.version": (0, 1),
    "metadata.version": (7, 40),
    "share.version": (0, 1),
    "streams.version": (0, 1),
    "transaction.version": (0, 2),
}
_LONGEST = re.compile(r'^pykbroker_loop_held_longest_seconds\{unit="(.*)"\} (\S+)$', re.M)


class Controller:
    """One process; `is_ours` says whose."""

    def __init__(self, directory: Path, node_id: int, ports: list[int], is_ours: bool) -> None:
        self.id = node_id
        self.port, self._metrics_port = ports[node_id - 1], ports[VOTERS + node_id - 1]
        self._is_ours = is_ours
        self.data_dir = directory / f"node-{node_id}"
        self.log_path = directory / f"node-{node_id}.log"
        self._config = directory / f"node-{node_id}.properties"
        self._process: subprocess.Popen[bytes] | None = None
        voters = ",".join(f"{n}@127.0.0.1:{p}" for n, p in enumerate(ports[:VOTERS], 1))
        lines = [
            "process.roles=controller",
            f"node.id={node_id}",
            f"listeners=CONTROLLER://127.0.0.1:{self.port}",
            "controller.listener.names=CONTROLLER",
            f"controller.quorum.voters={voters}",
            f"log.dirs={self.data_dir}",
            f"metadata.log.max.record.bytes.between.snapshots={SNAPSHOT_BYTES}",
            "broker.session.timeout.ms=60000",
            f"min.insync.replicas={REPLICAS}",
        ]
        if is_ours:
            lines.append(f"pykbroker.metrics.listen=127.0.0.1:{self._metrics_port}")
        self._config.write_text("\n".join(lines) + "\n")

    def format(self) -> None:
        """Format its empty directory."""
        arguments = ["format", "-t", CLUSTER_ID, "-c", str(self._config)]
        command = [sys.executable, "-m", "pykbroker", "storage", *arguments]
        if not self._is_ours:
            features = [part for at in UNBUILT_FEATURES for part in ("--feature", at)]
            command = java_command(STORAGE, *arguments, *features)
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_S)

    def start(self) -> None:
        """Start the process; do not wait until it is ready."""
        command = [sys.executable, "-m", "pykbroker", "start", "--config", str(self._config)]
        if not self._is_ours:
            command = java_command("kafka.Kafka", str(self._config), heap="1g", options=SHIPPED_JVM)
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

    def kill(self) -> None:
        """As `kill -9`."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def start_empty(self) -> None:
        """Start it again with an empty directory, so that it takes the leader's snapshot."""
        self.kill()
        shutil.rmtree(self.data_dir)
        self.format()
        self.start()

    @property
    def is_running(self) -> bool:
        """Whether the process was started and not killed."""
        return self._process is not None

    def rss_mb(self) -> float:
        """Return its resident memory, in MB."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    def held_ms(self) -> dict[str, float]:
        """Return for each unit of work the longest time it held the event loop; ours only."""
        if not self._is_ours:
            return {}
        pages: list[str] = []
        until(lambda: self._scrape(pages), f"metrics of node {self.id}")
        return {unit: float(seconds) * 1000 for unit, seconds in _LONGEST.findall(pages[0])}

    def _scrape(self, pages: list[str]) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._metrics_port}/metrics") as page:
                pages.append(page.read().decode())
        except OSError:  # it is starting
            return False
        return True


class Quorum:
    """A context manager: three controllers, and registered brokers that are not fenced."""

    def __init__(self, directory: Path, is_ours: bool) -> None:
        ports = free_ports(2 * VOTERS)
        self.nodes = [Controller(directory, n, ports, is_ours) for n in range(1, VOTERS + 1)]
        self._clients: dict[int, RawClient] = {}
        self._epochs: dict[int, int] = {}

    def __enter__(self) -> Self:
        try:
            for node in self.nodes:
                node.format()
                node.start()
            self.register_brokers()
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
        for node in self.nodes:
            if error is not None and node.log_path.exists():
                lines = node.log_path.read_text("utf-8", "replace").splitlines()
                print(f"node {node.id}:", *lines[-LOG_LINES:], sep="\n", file=sys.stderr)
            node.kill()

    def ask(self, node: Controller, api: str, version: int, request: Any) -> Any:
        """Return the answer of a node; a str if it has none."""
        client = self._clients.setdefault(node.id, RawClient(f"127.0.0.1:{node.port}"))
        try:
            return client.ask(api, version, request)
        except OSError as failure:
            del self._clients[node.id]
            return str(failure)

    def described(self, node: Controller) -> Any:
        """Return the quorum's partition as this node describes it; None if it does not lead, or
        does not answer.
        """
        partitions = [PartitionData(partition_index=0)]
        topics = [TopicData(topic_name="__cluster_metadata", partitions=partitions)]
        answer = self.ask(node, "DescribeQuorum", 2, DescribeQuorumRequest(topics=topics))
        if isinstance(answer, str) or answer.error_code:
            return None
        partition = answer.topics[0].partitions[0]
        return None if partition.error_code else partition

    def leader(self) -> Controller:
        """Return the leader, once there is one."""
        found: list[Controller] = []

        def is_found() -> bool:
            found.extend(node for node in self.nodes if self.described(node) is not None)
            return bool(found)

        until(is_found, "leader of the quorum")
        return found[0]

    def register_brokers(self) -> None:
        """Register every broker, and have it unfenced."""
        until(lambda: all(self._register(n) for n in range(101, 101 + BROKERS)), "brokers")

    def _register(self, broker_id: int) -> bool:
        if broker_id in self._epochs:
            return True
        answer = self.ask(self.leader(), "BrokerRegistration", 4, _registration(broker_id))
        if isinstance(answer, str) or answer.error_code:
            return False
        self._epochs[broker_id] = answer.broker_epoch
        self.heartbeat(broker_id)
        return True

    def heartbeat(self, broker_id: int, want_fence: bool = False) -> None:
        """Send a heartbeat; it is answered when what it changes is committed."""
        request = BrokerHeartbeatRequest(
            broker_id=broker_id,
            broker_epoch=self._epochs[broker_id],
            current_metadata_offset=1 << 40,
            want_fence=want_fence,
        )
        answer = self.ask(self.leader(), "BrokerHeartbeat", 1, request)
        if isinstance(answer, str) or answer.error_code or answer.is_fenced != want_fence:
            raise RuntimeError(f"a heartbeat of broker {broker_id} failed: {answer}")

    def heartbeats(self) -> None:
        """Send one of each broker."""
        for broker_id in self._epochs:
            self.heartbeat(broker_id)

    def create(self, leader: Controller, name: str, partitions: int) -> int:
        """Create a topic; return the error code, of which one stands for a lost connection."""
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=REPLICAS)
        request = CreateTopicsRequest(timeout_ms=60_000, topics=[topic])
        answer = self.ask(leader, "CreateTopics", 7, request)
        if isinstance(answer, str):
            return int(ErrorCode.NETWORK_EXCEPTION)
        code: int = answer.topics[0].error_code
        return code

    def set_min_insync_replicas(self, value: int) -> None:
        """Set it for the cluster, so that no partition keeps eligible leaders."""
        setting = AlterableConfig(name="min.insync.replicas", config_operation=0, value=str(value))
        cluster = AlterConfigsResource(resource_type=4, resource_name="", configs=[setting])
        request = IncrementalAlterConfigsRequest(resources=[cluster])
        answer = self.ask(self.leader(), "IncrementalAlterConfigs", 1, request)
        if isinstance(answer, str) or answer.responses[0].error_code:
            raise RuntimeError(f"min.insync.replicas was not set: {answer}")

    def await_caught_up(self) -> None:
        """Wait until every voter has what the leader has, or is as little behind as when idle."""

        def are_caught_up() -> bool:
            partition = self.described(self.leader())
            return partition is not None and all(
                voter.log_end_offset >= partition.high_watermark - 2
                for voter in partition.current_voters
            )

        until(are_caught_up, "voters that have caught up")


def _registration(broker_id: int) -> registration.BrokerRegistrationRequest:
    return registration.BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=CLUSTER_ID,
        incarnation_id=(5000 + broker_id).to_bytes(16, "big"),
        listeners=[
            registration.Listener(name="PLAINTEXT", host="127.0.0.1", port=1, security_protocol=0)
        ],
        features=[
            registration.Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in _BROKER_FEATURES.items()
        ],
        rack=None,
        log_dirs=[(1000 + broker_id).to_bytes(16, "big")],
    )


def until(condition: Callable[[], bool], what: str) -> None:
    """Poll; raises RuntimeError after three minutes."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"no {what} within {PATIENCE_S:.0f} s")
        time.sleep(0.02)
