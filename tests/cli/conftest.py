"""One real broker for all tests of commands, and commands run in this process."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from pykbroker.cli.admin import AdminClient
from pykbroker.cli.main import main
from pykbroker.testing import Broker, Cluster
from tests.harness.commits import commit_offsets
from tests.harness.waiting import wait_for

_numbers = itertools.count(1)


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Run = Callable[..., Outcome]


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    with Broker(group_initial_rebalance_delay_ms=0) as running:
        yield running


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Three nodes, for commands that are about several; a test leaves them all running."""
    with Cluster(3) as running:
        controllers = AdminClient(running.bootstrap_controllers, of_controllers=True)
        # A controller registers a moment after it serves.
        wait_for(lambda: len(controllers.describe_cluster().brokers) == 3, "three controllers")
        controllers.close()
        yield running


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `pykbroker ARGUMENTS` in this process."""

    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def ask(run: Run, broker: Broker) -> Run:
    """Runs a command against the broker of these tests."""

    def call(command: str, *arguments: str) -> Outcome:
        return run(command, "--bootstrap-server", broker.bootstrap_servers, *arguments)

    return call


@pytest.fixture
def ask_cluster(run: Run, cluster: Cluster) -> Run:
    """Runs a command against the cluster of these tests."""

    def call(command: str, *arguments: str) -> Outcome:
        return run(command, "--bootstrap-server", cluster.bootstrap_servers, *arguments)

    return call


@pytest.fixture
def topic(ask: Run) -> str:
    """A new topic of two partitions."""
    name = f"cli-{next(_numbers)}"
    assert ask("topics", "--create", "--topic", name, "--partitions", "2").code == 0
    return name


@pytest.fixture
def group() -> str:
    """The id of a group that no other test uses."""
    return f"cli-group-{next(_numbers)}"


@pytest.fixture
def filled(ask: Run, broker: Broker) -> str:
    """A topic with five records of 2020 in each of its two partitions, a millisecond apart."""
    topic, kept = f"cli-{next(_numbers)}", ("--config", "retention.ms=-1")
    created = ask("topics", "--create", "--topic", topic, "--partitions", "2", *kept)
    assert created.code == 0
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(10):
        at = 1_600_000_000_000 + number
        producer.produce(topic, b"v%d" % number, b"k", partition=number % 2, timestamp=at)
    assert producer.flush(60) == 0
    return topic


@pytest.fixture
def committed(group: str, filled: str, broker: Broker) -> str:
    """A group without members that committed offset 3 of partition 0 of `filled`."""
    commit_offsets(broker.bootstrap_servers, group, [TopicPartition(filled, 0, 3)])
    return group


class Member(NamedTuple):
    group: str
    topic: str
    id: str


@pytest.fixture
def member(filled: str, broker: Broker) -> Iterator[Member]:
    """The only member of a group of its own, which reads both partitions of `filled`."""
    group = f"cli-live-{next(_numbers)}"
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": group,
            "client.id": "cli-client",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([filled])
    while len(consumer.assignment()) < 2:
        consumer.poll(0.1)
    yield Member(group, filled, consumer.memberid())
    consumer.close()
