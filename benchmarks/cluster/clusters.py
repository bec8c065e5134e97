"""The two clusters of a comparison, behind one interface."""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.compare.servers import Server, Servers
from pykbroker.protocol.messages.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from tests.harness.apache import SHIPPED_JVM
from tests.harness.mixed_cluster import APACHE, OURS, MixedCluster, MixedNode
from tests.harness.raw_client import RawClient

NODES = 3
PATIENCE_S = 120.0
TIME_OUTS = {
    "broker_heartbeat_interval_ms": "500",
    "broker_session_timeout_ms": "3000",
    "controller_quorum_fetch_timeout_ms": "2000",
    "controller_quorum_election_timeout_ms": "1000",
}


class ClusterServer(Server):
    """A cluster as rows use it: new topics have three replicas, memory is that of all nodes."""

    @property
    def nodes(self) -> list[MixedNode]:
        """Return all nodes."""
        nodes: list[MixedNode] = self.broker.nodes
        return nodes

    def rss_mb(self) -> float:
        """Return the resident memory of all nodes together, in MB."""
        return sum(_rss_mb(node.pid) for node in self.nodes)

    def new_topic(self, partitions: int = 1) -> str:
        """Create a topic with three replicas, all in sync."""
        return self.assigned_topic(
            [[1, 2, 3][n % 3 :] + [1, 2, 3][: n % 3] for n in range(partitions)]
        )

    def assigned_topic(self, assignment: list[list[int]]) -> str:
        """Create a topic with these replicas, all in sync."""
        topic = self.name_of_topic()
        admin = AdminClient(self.client_config())
        new = NewTopic(topic, len(assignment), replica_assignment=assignment)
        made = admin.create_topics([new], request_timeout=60)
        try:
            made[topic].result(90)
        except KafkaException as refused:  # the client retries if a response is late
            if refused.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
        self.await_in_sync(topic, assignment)
        return topic

    def delete_topic(self, topic: str) -> None:
        """Delete the topic to free disk space; a failure is ignored, because a cluster that has
        just lost a node may be slow.
        """
        with suppress(KafkaException):
            super().delete_topic(topic)

    def await_in_sync(self, topic: str, assignment: list[list[int]]) -> None:
        """Wait until every partition has these replicas in sync, and a leader."""
        admin = AdminClient(self.client_config())

        def is_in_sync() -> bool:
            partitions = admin.list_topics(topic, timeout=30).topics[topic].partitions
            return len(partitions) == len(assignment) and all(
                set(partitions[n].isrs) == set(replicas) and partitions[n].leader > 0
                for n, replicas in enumerate(assignment)
            )

        until(is_in_sync, f"{topic} in sync")

    def quorum_leader(self) -> int:
        """Return the id of the node that leads the metadata quorum, according to a running node."""
        asked = DescribeQuorumRequest(
            topics=[
                TopicData(
                    topic_name="__cluster_metadata", partitions=[PartitionData(partition_index=0)]
                )
            ]
        )
        found: list[int] = []

        def has_leader() -> bool:
            for node in self.nodes:
                try:
                    with RawClient(node.bootstrap_server, timeout_s=5) as client:
                        answer: Any = client.ask("DescribeQuorum", 2, asked)
                except OSError:
                    continue  # it is starting
                if not isinstance(answer, str) and not answer.error_code:
                    partition = answer.topics[0].partitions[0]
                    if not partition.error_code and partition.leader_id > 0:
                        found.append(partition.leader_id)
                        return True
            return False

        until(has_leader, "a leader of the quorum")
        return found[-1]

    def bring_back(self, node: MixedNode) -> None:
        """Start a node that was killed, and wait until it is an unfenced broker again."""
        node.start()
        until(partial(_listens, node), f"listener of node {node.id}")  # its old session may last
        self.broker.wait_for_brokers()


def _listens(node: MixedNode) -> bool:
    host, port = node.bootstrap_server.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True


def until(condition: Callable[[], bool], what: str) -> None:
    """Poll every few milliseconds; raises RuntimeError after two minutes."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"no {what} within {PATIENCE_S:.0f} s")
        time.sleep(0.005)


def _rss_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


@contextmanager
def both_clusters() -> Iterator[Servers]:
    """Yield both clusters, running and empty; the one that is not measured is idle."""
    with tempfile.TemporaryDirectory(prefix="pykbroker-bench-") as directory:
        make = {kind: partial(_cluster, Path(directory) / kind, kind) for kind in (OURS, APACHE)}
        with make[OURS]() as ours, make[APACHE]() as apache:
            yield Servers(
                ClusterServer("pykbroker", ours, make[OURS]),
                ClusterServer("Apache Kafka", apache, make[APACHE]),
            )


def _cluster(directory: Path, kind: str) -> MixedCluster:
    directory.mkdir()
    time_outs: dict[str, Any] = dict(TIME_OUTS)
    return MixedCluster(directory, *[kind] * NODES, jvm=SHIPPED_JVM, **time_outs)
