"""Transactions of stock clients: what is committed is read once, what is aborted never.

PYKBROKER_ALL_WAYS=1 runs them under every transaction.version, and on Apache Kafka 4.4 as well.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from pykbroker.testing import Broker
from tests.harness.apache import ApacheBroker, java_command
from tests.harness.consumed import partition_of, value_of
from tests.harness.markers import await_markers
from tests.harness.raw_client import RawClient
from tests.harness.waiting import wait_for
from tests.harness.ways import ways
from tests.interop.transaction_clients import CLIENTS, Fenced
from tests.interop.transaction_programs import PROGRAMS

Connect = Callable[..., Any]
EVERY: dict[str, Connect] = {**CLIENTS, **PROGRAMS}
HERE = Path(__file__).parent
PARTITIONS = 2
READ_S = 60.0
CONFIG = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "200"}
SOON_MS = 6000
LONG_MS = 600_000
FENCED = {"kafkajs": "INVALID_PRODUCER_EPOCH", "java": "ProducerFencedException"}
LATE_2 = FENCED | {"java": "InvalidTxnStateException"}
"""With transaction.version 2 the epoch after a time-out is that of a client that tries again."""


@pytest.fixture(
    scope="module",
    params=ways(["ours-2"], ["ours-1", "ours-0", "apache-2", "apache-1", "apache-0"]),
)
def way(request: pytest.FixtureRequest) -> str:
    """Whose broker, and its transaction.version."""
    return str(request.param)


@pytest.fixture(scope="module")
def broker(way: str) -> Iterator[Broker | ApacheBroker]:
    """A broker with that transaction.version finalised."""
    kind, version = way.split("-")
    feature = f"transaction.version={version}"
    if kind == "apache":
        with ApacheBroker(config=CONFIG, features=(feature,)) as apache:
            yield apache
        return
    with Broker(overrides=CONFIG) as broker:
        if version != "2":
            downgrade = ("pykbroker", "features", "downgrade", "--feature", feature)
            done = subprocess.run(
                [*downgrade, "--bootstrap-server", broker.bootstrap_servers],
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == 0, done.stderr
        yield broker


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Starts the client of that name with the arguments that follow; the test's end closes it."""
    with ExitStack() as stack:

        def start(client: str, *arguments: Any) -> Any:
            started = EVERY[client](*arguments)
            stack.callback(started.close)
            return started

        yield start


def make_topic(servers: str, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(30)


def read(servers: str, topic: str, isolation: str) -> list[str]:
    """Every record of the topic up to its end, sorted; committed ones once nothing is open."""
    if isolation == "read_committed":
        for index in range(PARTITIONS):
            await_markers(servers, topic, index)
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


@pytest.mark.parametrize("client", EVERY)
def test_commit_abort_offsets_and_a_zombie(
    broker: Broker | ApacheBroker, connect: Connect, name: str, client: str
) -> None:
    servers = broker.bootstrap_servers
    make_topic(servers, name)
    producer = connect(client, servers, name)
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
    successor = connect(client, servers, name)
    successor.begin()
    successor.send(name, 1, "of the successor")
    successor.commit()
    with pytest.raises(Fenced) as fenced:
        producer.commit()
    if client in PROGRAMS:
        assert str(fenced.value) == FENCED[client]
    expected.append("of the successor")
    assert read(servers, name, "read_committed") == sorted(expected)


@pytest.mark.parametrize("client", EVERY)
def test_what_takes_too_long_is_aborted(
    broker: Broker | ApacheBroker, way: str, connect: Connect, name: str, client: str
) -> None:
    servers = broker.bootstrap_servers
    make_topic(servers, name)
    late = connect(client, servers, name, SOON_MS)
    late.begin()
    late.send(name, 0, "too late")
    wait_for(lambda: state(servers, name) == "CompleteAbort", "the time-out")
    with pytest.raises(Fenced) as fenced:
        late.commit()
    if client in PROGRAMS:
        assert str(fenced.value) == (LATE_2 if way.endswith("2") else FENCED)[client]
    successor = connect(client, servers, name)
    successor.begin()
    successor.send(name, 0, "in time")
    successor.commit()
    assert read(servers, name, "read_committed") == ["in time"]
    assert read(servers, name, "read_uncommitted") == ["in time", "too late"]


@pytest.mark.parametrize("client", ["librdkafka", *PROGRAMS])
def test_a_transaction_goes_on_when_the_broker_was_killed(
    broker: Broker | ApacheBroker, connect: Connect, name: str, client: str
) -> None:
    """Not with clients of Python: they leave sockets that could not connect to the collector."""
    servers = broker.bootstrap_servers
    make_topic(servers, name)
    producer = connect(client, servers, name, LONG_MS)
    producer.begin()
    producer.send(name, 0, "before")
    producer.send_offset(f"group-{name}", name, 0, 1)
    broker.kill()
    broker.start()
    producer.send(name, 1, "after")
    producer.commit()
    assert read(servers, name, "read_committed") == ["after", "before"]
    assert committed_offset(servers, f"group-{name}", name) == 1


@pytest.mark.parametrize("client", PROGRAMS)
def test_a_client_that_vanished_comes_back(
    broker: Broker | ApacheBroker, connect: Connect, name: str, client: str
) -> None:
    servers = broker.bootstrap_servers
    make_topic(servers, name)
    vanished = connect(client, servers, name, LONG_MS)
    vanished.begin()
    vanished.send(name, 0, "of nobody")
    vanished.send_offset(f"group-{name}", name, 0, 1000)
    vanished.close()  # kill -9
    assert read(servers, name, "read_uncommitted") == ["of nobody"]
    successor = connect(client, servers, name, LONG_MS)
    successor.begin()
    successor.send(name, 0, "of the successor")
    successor.send_offset(f"group-{name}", name, 0, 2)
    successor.commit()
    assert read(servers, name, "read_committed") == ["of the successor"]
    assert committed_offset(servers, f"group-{name}", name) == 2


def state(servers: str, transactional_id: str) -> str:
    """What the coordinator says of a transaction."""
    with RawClient(servers) as client:
        request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
        (found,) = client.ask("DescribeTransactions", 0, request).transaction_states
    return str(found.transaction_state)


def test_java(broker: Broker | ApacheBroker, name: str) -> None:
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
