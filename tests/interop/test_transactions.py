"""Transactions of stock clients: what is committed is read once, what is aborted never."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.testing import Broker
from tests.harness.apache import java_command
from tests.harness.consumed import partition_of, value_of
from tests.harness.tools import node_modules
from tests.harness.ways import ways
from tests.interop.transaction_clients import CLIENTS, Fenced

HERE = Path(__file__).parent
PARTITIONS = 2
READ_S = 60.0


@pytest.fixture(scope="module", params=ways([2], [0]))
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    """A broker with that transaction.version finalised."""
    directory = tmp_path_factory.mktemp("data") / "log"
    if request.param != 2:
        downgrade = ("features", "downgrade", "--feature", f"transaction.version={request.param}")
    with Broker(data_dir=directory, group_initial_rebalance_delay_ms=0) as broker:
        if request.param != 2:
            done = subprocess.run(
                ["pykbroker", *downgrade, "--bootstrap-server", broker.bootstrap_servers],
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == 0, done.stderr
        yield broker


def make_topic(servers: str, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(30)


def read(servers: str, topic: str, isolation: str) -> list[str]:
    """Every record of the topic up to its end, sorted."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"reader-{isolation}",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": isolation,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, index, 0) for index in range(PARTITIONS)])
    found: list[str] = []
    ended: set[int] = set()
    while len(ended) < PARTITIONS:
        message = consumer.poll(READ_S)
        assert message is not None, f"{found}, and nothing more comes"
        if message.error():
            ended.add(partition_of(message))
        else:
            found.append(value_of(message).decode())
    consumer.close()
    return sorted(found)


def committed_offset(servers: str, group: str, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group})
    (found,) = consumer.committed([TopicPartition(topic, 0)], timeout=READ_S)
    consumer.close()
    return int(found.offset)


@pytest.mark.parametrize("client", CLIENTS)
def test_commit_abort_offsets_and_a_zombie(broker: Broker, name: str, client: str) -> None:
    servers = broker.bootstrap_servers
    make_topic(servers, name)
    producer = CLIENTS[client](servers, name)
    expected = []
    for word, ends in (("kept", True), ("dropped", False), ("kept-too", True), ("gone", False)):
        producer.begin()
        for partition in range(PARTITIONS):
            for number in range(3):
                producer.send(name, partition, f"{word}-{partition}-{number}")
                if ends:
                    expected.append(f"{word}-{partition}-{number}")
        producer.send_offset(f"group-{name}", name, 0, len(expected) + (0 if ends else 1000))
        producer.commit() if ends else producer.abort()
    assert read(servers, name, "read_committed") == sorted(expected)
    assert committed_offset(servers, f"group-{name}", name) == len(expected)
    assert len(read(servers, name, "read_uncommitted")) == 2 * len(expected)

    producer.begin()
    producer.send(name, 0, "of a zombie")
    successor = CLIENTS[client](servers, name)
    successor.begin()
    successor.send(name, 1, "of the successor")
    successor.commit()
    with pytest.raises(Fenced):
        producer.commit()
    expected.append("of the successor")
    assert read(servers, name, "read_committed") == sorted(expected)
    successor.close()
    producer.close()


def test_kafkajs(broker: Broker, name: str) -> None:
    servers = broker.bootstrap_servers
    make_topic(servers, name)
    done = subprocess.run(
        ["node", str(HERE / "js" / "transactions.js"), servers, name, name, f"group-{name}"],
        env={**os.environ, "NODE_PATH": str(node_modules())},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    fenced = json.loads(done.stdout.splitlines()[-1])["fenced"]
    assert fenced in ("INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "INVALID_TXN_STATE")
    words = ("committed", "with-offsets", "successor")
    expected = sorted(f"{word}-{number}" for word in words for number in range(4))
    assert read(servers, name, "read_committed") == expected
    assert committed_offset(servers, f"group-{name}", name) == 7


def test_java(broker: Broker, name: str) -> None:
    servers = broker.bootstrap_servers
    make_topic(servers, name)
    script = str(HERE / "java" / "Transactions.java")
    done = subprocess.run(
        java_command(script, servers, name, name, "0", "commit", "abort", "open", "commit"),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = read(servers, name, "read_committed")
    expected = [f"commit {number}" for number in (*range(10), *range(30, 40))]
    assert found == sorted(expected)
    assert committed_offset(servers, name, name) == 40
