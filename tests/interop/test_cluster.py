"""A cluster of three of our nodes under Apache's tools and librdkafka: replicas, losses, moves."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from pykbroker.testing import Cluster
from tests.harness import apache

PATIENCE_SECONDS = 60.0
REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
QUORUM = "org.apache.kafka.tools.MetadataQuorumCommand"
LEADER_ELECTION = "org.apache.kafka.tools.LeaderElectionCommand"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(3, offsets_topic_replication_factor=3, min_insync_replicas=2) as cluster:
        yield cluster


def tool(cluster: Cluster, name: str, *arguments: str) -> str:
    return apache.run_tool(name, "--bootstrap-server", cluster.bootstrap_servers, *arguments)


def wait_until(holds: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < until, f"not in time: {what}"
        time.sleep(0.2)


def partitions(cluster: Cluster, topic: str) -> dict[int, Any]:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    found: dict[int, Any] = producer.list_topics(topic, timeout=30).topics[topic].partitions
    return found


def in_sync(cluster: Cluster, topic: str, count: int) -> None:
    wait_until(
        lambda: all(len(p.isrs) == count for p in partitions(cluster, topic).values()),
        f"{count} in-sync replicas of {topic}",
    )


def create(cluster: Cluster, topic: str, *arguments: str) -> None:
    tool(cluster, apache.TOPICS, "--create", "--topic", topic, *arguments)


class Stream:
    """An idempotent producer with acks=all that knows what was acknowledged."""

    def __init__(self, cluster: Cluster, topic: str) -> None:
        self.acknowledged: list[bytes] = []
        self.failed: list[str] = []
        self._topic = topic
        self._producer = Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": True}
        )

    def send(self, numbers: range) -> None:
        for number in numbers:
            self._producer.produce(self._topic, value=b"%d" % number, on_delivery=self._on_delivery)
            self._producer.poll(0)
        assert self._producer.flush(PATIENCE_SECONDS) == 0

    def _on_delivery(self, error: Any, message: Any) -> None:
        if error is None:
            self.acknowledged.append(message.value())
        else:
            self.failed.append(str(error))


def read_all(cluster: Cluster, topic: str, count: int) -> list[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": f"readers-of-{topic}",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    values: list[bytes] = []
    until = time.monotonic() + PATIENCE_SECONDS
    while len(values) < count and time.monotonic() < until:
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            values.append(message.value())
    consumer.close()
    return values


def log_files(cluster: Cluster, topic: str, partition: int) -> list[bytes]:
    """The bytes of this partition's log on each node that has a replica."""
    return [
        b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))
        for node in cluster.nodes
        for directory in Path(node.data_dir).rglob(f"{topic}-{partition}")
    ]


def test_a_killed_leader_costs_nothing(cluster: Cluster) -> None:
    create(cluster, "ledger", "--partitions", "3", "--replication-factor", "3")
    in_sync(cluster, "ledger", 3)
    stream = Stream(cluster, "ledger")
    stream.send(range(1000))
    leader = cluster.node(partitions(cluster, "ledger")[0].leader)
    leader.kill()
    stream.send(range(1000, 2000))
    in_sync(cluster, "ledger", 2)
    leader.start()
    in_sync(cluster, "ledger", 3)
    assert stream.failed == []
    got = read_all(cluster, "ledger", 2000)
    assert sorted(got, key=int) == [b"%d" % number for number in range(2000)]
    for partition in range(3):
        first, *others = log_files(cluster, "ledger", partition)
        assert len(others) == 2
        assert first
        assert others == [first, first]


def test_partitions_move_to_other_nodes(cluster: Cluster, tmp_path: Path) -> None:
    create(cluster, "moving", "--replica-assignment", "1")
    stream = Stream(cluster, "moving")
    stream.send(range(100))
    assert len(stream.acknowledged) == 100
    plan = tmp_path / "plan.json"
    target = {"topic": "moving", "partition": 0, "replicas": [2, 3, 1]}
    plan.write_text(json.dumps({"version": 1, "partitions": [target]}))
    arguments = ("--reassignment-json-file", str(plan))
    assert "Successfully started" in tool(cluster, REASSIGN, "--execute", *arguments)
    in_sync(cluster, "moving", 3)
    done = tool(cluster, REASSIGN, "--verify", *arguments)
    assert "Reassignment of partition moving-0 is completed." in done
    tool(
        cluster, LEADER_ELECTION, "--election-type", "preferred", "--topic", "moving",
        "--partition", "0",
    )  # fmt: skip
    wait_until(lambda: partitions(cluster, "moving")[0].leader == 2, "2 leads moving-0")
    assert read_all(cluster, "moving", 100) == stream.acknowledged
    first, *others = log_files(cluster, "moving", 0)
    assert others == [first, first]


def test_any_broker_describes_the_quorum(cluster: Cluster) -> None:
    status = tool(cluster, QUORUM, "describe", "--status")
    assert re.search(r"LeaderId:\s+[123]\n", status)
    assert re.search(r"CurrentVoters:.*1.*2.*3", status)
    rows = tool(cluster, QUORUM, "describe", "--replication").splitlines()[1:]
    assert sorted(row.split()[-1] for row in rows if row) == ["Follower", "Follower", "Leader"]
