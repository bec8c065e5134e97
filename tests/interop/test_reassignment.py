"""Apache's tools for elections and reassignments, and stock clients, on a lone node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import ElectionType, TopicCollection
from confluent_kafka import TopicPartition as Partition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaAdminClient

from pykbroker.testing import Broker
from tests.harness.apache import run_tool
from tests.harness.waiting import wait_for

REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
ELECT = "org.apache.kafka.tools.LeaderElectionCommand"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    root = tmp_path_factory.mktemp("two")
    overrides = {"log.dirs": f"{root}/a,{root}/b"}
    with Broker(data_dir=root / "a", overrides=overrides) as running:
        admin = AdminClient({"bootstrap.servers": running.bootstrap_servers})
        admin.create_topics([NewTopic("moving", 2, 1)])["moving"].result(60)
        yield running


def homes(broker: Broker) -> dict[str, str]:
    """The log directory of each partition."""
    root = broker.data_dir.parent
    return {path.name: path.parent.name for path in root.glob("?/moving-?")}


def test_kafka_reassign_partitions(broker: Broker, tmp_path: Path) -> None:
    before = homes(broker)
    other = {"a": "b", "b": "a"}[before["moving-0"]]
    target = str(broker.data_dir.parent / other)
    entry = {"topic": "moving", "partition": 0, "replicas": [1], "log_dirs": [target]}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"version": 1, "partitions": [entry]}))
    at = ("--bootstrap-server", broker.bootstrap_servers)
    done = run_tool(REASSIGN, *at, "--reassignment-json-file", str(plan), "--execute")
    assert "Successfully started partition reassignment for moving-0" in done
    assert f"Successfully started moving log directory to {target} for replica moving-0" in done
    wait_for(lambda: homes(broker).get("moving-0") == other, "the move")
    done = run_tool(REASSIGN, *at, "--reassignment-json-file", str(plan), "--verify")
    assert "Reassignment of partition moving-0 is completed." in done
    assert "Reassignment of replica moving-0-1 completed successfully." in done
    assert "No partition reassignments found." in run_tool(REASSIGN, *at, "--list")
    assert homes(broker)["moving-1"] == before["moving-1"]


def test_kafka_leader_election(broker: Broker) -> None:
    at = ("--bootstrap-server", broker.bootstrap_servers)
    one = ("--topic", "moving", "--partition", "0")
    done = run_tool(ELECT, *at, "--election-type", "preferred", *one)
    assert "Valid replica already elected for partitions moving-0" in done
    assert run_tool(ELECT, *at, "--election-type", "unclean", "--all-topic-partitions") == ""


def test_kafka_python(broker: Broker) -> None:
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    try:
        assert not admin.list_partition_reassignments()
    finally:
        admin.close()


def test_confluent(broker: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    wanted = [Partition("moving", 0), Partition("moving", 7)]
    answers = admin.elect_leaders(ElectionType.PREFERRED, wanted).result(60)
    codes = {at.partition: error.code() for at, error in answers.items() if error}
    assert codes == {0: 84, 7: 3}
    described = admin.describe_topics(TopicCollection(["moving"]))["moving"].result(60)
    assert [at.leader.id for at in described.partitions] == [1, 1]
