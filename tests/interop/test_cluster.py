"""A cluster of three of our nodes under Apache's tools and librdkafka: replicas, losses, moves."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from pykbroker.testing import Cluster
from tests.harness import apache
from tests.harness.consumed import value_of
from tests.harness.replicated import (
    Stream,
    in_sync,
    log_files,
    partitions,
    read_all,
)
from tests.harness.waiting import wait_for

REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
QUORUM = "org.apache.kafka.tools.MetadataQuorumCommand"
LEADER_ELECTION = "org.apache.kafka.tools.LeaderElectionCommand"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Three nodes, each in a rack of its own."""
    cluster = Cluster(
        3,
        offsets_topic_replication_factor=3,
        min_insync_replicas=2,
        replica_selector_class="org.apache.kafka.common.replica.RackAwareReplicaSelector",
    )
    for node in cluster.nodes:
        with (cluster.directory / f"node-{node.id}.properties").open("a") as file:
            file.write(f"broker.rack=rack-{node.id}\n")
    with cluster:
        yield cluster


def tool(cluster: Cluster, name: str, *arguments: str) -> str:
    return apache.run_tool(name, "--bootstrap-server", cluster.bootstrap_servers, *arguments)


def create(cluster: Cluster, topic: str, *arguments: str) -> None:
    tool(cluster, apache.TOPICS, "--create", "--topic", topic, *arguments)


def test_a_killed_leader_costs_nothing(cluster: Cluster) -> None:
    create(cluster, "ledger", "--partitions", "3", "--replication-factor", "3")
    in_sync(cluster.bootstrap_servers, "ledger", 3)
    stream = Stream(cluster.bootstrap_servers, "ledger")
    stream.send(range(1000))
    leader = cluster.node(partitions(cluster.bootstrap_servers, "ledger")[0].leader)
    leader.kill()
    stream.send(range(1000, 2000))
    in_sync(cluster.bootstrap_servers, "ledger", 2)
    leader.start()
    in_sync(cluster.bootstrap_servers, "ledger", 3)
    assert stream.failed == []
    got = read_all(cluster.bootstrap_servers, "ledger", 2000)
    assert sorted(got, key=int) == [b"%d" % number for number in range(2000)]
    sizes = []
    for partition in range(3):
        first, *others = log_files(cluster.nodes, "ledger", partition)
        assert len(others) == 2
        assert others == [first, first]
        sizes.append(len(first))
    assert any(sizes)  # a client without keys may leave a partition out


def test_partitions_move_to_other_nodes(cluster: Cluster, tmp_path: Path) -> None:
    create(cluster, "moving", "--replica-assignment", "1")
    stream = Stream(cluster.bootstrap_servers, "moving")
    stream.send(range(100))
    assert len(stream.acknowledged) == 100
    plan = tmp_path / "plan.json"
    target = {"topic": "moving", "partition": 0, "replicas": [2, 3, 1]}
    plan.write_text(json.dumps({"version": 1, "partitions": [target]}))
    arguments = ("--reassignment-json-file", str(plan))
    assert "Successfully started" in tool(cluster, REASSIGN, "--execute", *arguments)
    in_sync(cluster.bootstrap_servers, "moving", 3)
    done = tool(cluster, REASSIGN, "--verify", *arguments)
    assert "Reassignment of partition moving-0 is completed." in done
    tool(
        cluster, LEADER_ELECTION, "--election-type", "preferred", "--topic", "moving",
        "--partition", "0",
    )  # fmt: skip
    wait_for(
        lambda: partitions(cluster.bootstrap_servers, "moving")[0].leader == 2, "2 leads moving-0"
    )
    assert read_all(cluster.bootstrap_servers, "moving", 100) == stream.acknowledged
    first, *others = log_files(cluster.nodes, "moving", 0)
    assert others == [first, first]


def test_any_broker_describes_the_quorum(cluster: Cluster) -> None:
    status = tool(cluster, QUORUM, "describe", "--status")
    assert re.search(r"LeaderId:\s+[123]\n", status)
    assert re.search(r"CurrentVoters:.*1.*2.*3", status)
    rows = tool(cluster, QUORUM, "describe", "--replication").splitlines()[1:]
    assert sorted(row.split()[-1] for row in rows if row) == ["Follower", "Follower", "Leader"]


class RackReader:
    """A consumer of one rack; librdkafka says in its statistics whom it fetches from."""

    def __init__(self, servers: str, topic: str, rack: str) -> None:
        self.topic = topic
        self.source = -1
        self.values: list[bytes] = []
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "racks",
                "client.rack": rack,
                "statistics.interval.ms": 100,
                "stats_cb": self._note,
            }
        )
        self._consumer.assign([TopicPartition(topic, 0, 0)])

    def _note(self, text: str) -> None:
        topics = json.loads(text)["topics"]
        if self.topic in topics:
            self.source = topics[self.topic]["partitions"]["0"]["broker"]

    def read(self, count: int, source: int) -> None:
        """Read until there are so many records, and they come from that node."""
        until = time.monotonic() + 60
        while len(self.values) < count or self.source != source:
            assert time.monotonic() < until, (len(self.values), self.source)
            message = self._consumer.poll(0.1)
            if message is not None and not message.error():
                self.values.append(value_of(message))

    def close(self) -> None:
        self._consumer.close()


def test_a_consumer_reads_from_the_replica_in_its_rack(cluster: Cluster) -> None:
    servers = cluster.bootstrap_servers
    create(cluster, "near", "--partitions", "1", "--replication-factor", "3")
    in_sync(servers, "near", 3)
    stream = Stream(servers, "near")
    stream.send(range(100))
    sent = 100
    for node in cluster.nodes:
        reader = RackReader(servers, "near", f"rack-{node.id}")
        reader.read(sent, node.id)
        stream.send(range(sent, sent + 1))
        sent += 1
        reader.read(sent, node.id)
        assert reader.values == [b"%d" % number for number in range(sent)]
        reader.close()
