"""`pykbroker transactions` prints what kafka-transactions.sh does, of both kinds of brokers."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.cli.main import main
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.record_batch import build_batch
from pykbroker.testing import Broker
from tests.harness.apache import TRANSACTIONS, ApacheBroker, java_command
from tests.harness.markers import await_ends
from tests.harness.raw_client import RawClient
from tests.harness.ways import ways

TOPIC = "commands-ledger"
OTHER = "commands-terminated"
SECONDS = 120
# Hanging transactions cannot be made otherwise.
CONFIG = {"transaction.partition.verification.enable": "false"}
AT = ("--topic", TOPIC, "--partition", "2")

Same = Callable[..., list[str]]


@pytest.fixture(scope="module", params=ways(["ours"], ["apache"]))
def servers(request: pytest.FixtureRequest) -> Iterator[str]:
    """A broker with a committed, an open, an unused transactional id and two hanging producers."""
    with brokers(request.param) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        for future in admin.create_topics([NewTopic(TOPIC, 3, 1), NewTopic(OTHER, 2, 1)]).values():
            future.result(SECONDS)
        kept = [begun(broker.bootstrap_servers, f"ledger-{name}") for name in ("done", "open")]
        kept[0].commit_transaction(SECONDS)
        unused = producer(broker.bootstrap_servers, "unused")
        for producer_id in (77_000, 78_000):
            hang(broker.bootstrap_servers, producer_id, int(time.time() * 1000) - 90 * 60_000)
        await_ends(broker.bootstrap_servers)
        yield broker.bootstrap_servers
        del kept, unused


def brokers(kind: str) -> ApacheBroker | Broker:
    """Apache's, or ours."""
    if kind == "apache":
        return ApacheBroker(config=CONFIG, features=())
    return Broker(overrides=CONFIG)


def producer(servers: str, transactional_id: str) -> Producer:
    settings = {"bootstrap.servers": servers, "transactional.id": transactional_id}
    made = Producer(settings | {"transaction.timeout.ms": 900_000})
    made.init_transactions(SECONDS)
    return made


def begun(servers: str, transactional_id: str, topic: str = TOPIC) -> Producer:
    """A producer with records in partitions 0 and 1 in an open transaction."""
    made = producer(servers, transactional_id)
    made.begin_transaction()
    for partition in range(2):
        made.produce(topic, b"v", b"k", partition)
    assert made.flush(SECONDS) == 0
    return made


def hang(servers: str, producer_id: int, at_ms: int) -> None:
    """A transaction in partition 2 that no coordinator knows."""
    records = build_batch(
        [(b"k", b"v", at_ms, ())],
        producer_id=producer_id,
        producer_epoch=3,
        base_sequence=0,
        is_transactional=True,
    )
    partition = PartitionProduceData(index=2, records=bytes(records))
    request = ProduceRequest(
        transactional_id="nobody",
        acks=-1,
        timeout_ms=30_000,
        topic_data=[TopicProduceData(name=TOPIC, partition_data=[partition])],
    )
    client = RawClient(servers)
    (topic,) = client.ask("Produce", 11, request).responses
    assert [each.error_code for each in topic.partition_responses] == [0]
    client.close()


def theirs(servers: str, *arguments: str) -> Any:
    command = java_command(TRANSACTIONS, "--bootstrap-server", servers, *arguments)
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture
def same(servers: str, capsys: pytest.CaptureFixture[str]) -> Same:
    """Runs a command both ways and holds the outputs equal, but for ages in milliseconds.

    Java's hash maps have an order of their own: lines behind the first are sorted.
    """

    def run(*arguments: str) -> list[str]:
        capsys.readouterr()
        assert main(["transactions", "--bootstrap-server", servers, *arguments]) == 0
        ours = capsys.readouterr().out.splitlines()
        done = theirs(servers, *arguments)
        assert done.returncode == 0, done.stderr
        expected = done.stdout.splitlines()
        assert [normal(line) for line in (ours[0], *sorted(ours[1:]))] == [
            normal(line) for line in (expected[0], *sorted(expected[1:]))
        ]
        return ours[1:]

    return run


def normal(line: str) -> str:
    """Without the age of a transaction, which differs, and the order of its partitions."""
    cells = line.split("\t")
    if len(cells) > 8 and cells[7].strip().isdigit():
        cells[7] = re.sub(r"\d", "", cells[7]).replace(" ", "")
        cells[8] = ",".join(sorted(cells[8].strip().split(",")))
    return "\t".join(cells)


def test_list(same: Same) -> None:
    states = {line.split()[0]: line.split()[3] for line in same("list")}
    states.pop("terminated", None)
    assert states == {
        "ledger-done": "CompleteCommit",
        "ledger-open": "Ongoing",
        "unused": "Empty",
    }
    # Ended transactions count since their start, and an id without any counts as endless.
    of = ("list", "--transactional-id-pattern")
    assert len(same(*of, "ledger-.*|unused", "--duration-filter", "0")) == 3
    (listed,) = same(*of, "ledger-.*|unused", "--duration-filter", "86400000")
    assert listed.startswith("unused")
    assert len(same(*of, "ledger-.*")) == 2
    assert len(same(*of, "")) == len(same("list"))
    assert same(*of, "ledger") == []


def test_describe(same: Same) -> None:
    (described,) = same("describe", "--transactional-id", "ledger-open")
    assert re.search(rf"Ongoing +\t900000 +\t\d+ +\t\d+ +\t{TOPIC}-0,{TOPIC}-1\t$", described)
    (described,) = same("describe", "--transactional-id", "ledger-done")
    assert described.split()[4] == "CompleteCommit"
    (described,) = same("describe", "--transactional-id", "unused")
    assert described.split()[4:] == ["Empty", "900000", "None", "None"]


def test_describe_producers(same: Same) -> None:
    for partition in range(3):
        of = ("describe-producers", "--topic", TOPIC, "--partition", str(partition))
        assert len(same(*of)) == 2
        assert len(same(*of, "--broker-id", "1")) == 2


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        (("describe", "--transactional-id", "stranger"), "Failed to describe transaction state of"),
        (("list", "--transactional-id-pattern", "("), "Failed to list transactions: "),
        (("abort", *AT, "--start-offset", "5000"), "Could not find any open transactions starting"),
        (("abort", *AT, "--producer-id", "1"), "Missing required argument --producer-epoch"),
        (
            ("find-hanging", "--broker-id", "1", "--partition", "1"),
            "The --partition argument requi",
        ),
        (("find-hanging",), "The `find-hanging` command requires either --topic or --broker-id"),
    ],
)
def test_refusals(
    servers: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], begins: str
) -> None:
    assert main(["transactions", "--bootstrap-server", servers, *arguments]) == 1
    (ours,) = capsys.readouterr().err.splitlines()
    done = theirs(servers, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert ours.startswith(begins)
    assert done.stderr.splitlines()[-1].startswith(begins)


def test_find_and_abort_hanging_ones(
    servers: str, same: Same, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = ("--topic", TOPIC)
    lines = same("find-hanging", *topic)
    assert [line.split()[1:5] for line in lines] == [
        ["2", "77000", "3", "-1"],
        ["2", "78000", "3", "-1"],
    ]
    assert int(lines[0].split()[-1]) >= 90
    assert len(same("find-hanging", "--broker-id", "1", "--max-transaction-timeout", "0")) == 2
    assert same("find-hanging", *topic, "--max-transaction-timeout", "600") == []
    assert len(same("find-hanging", *topic, "--partition", "2")) == 2
    assert same("find-hanging", *topic, "--partition", "1") == []
    at = ("transactions", "--bootstrap-server", servers, "abort", *AT)
    assert main([*at, "--start-offset", "0"]) == 0
    assert [line.split()[2] for line in same("find-hanging", *topic)] == ["78000"]
    named = ("--producer-id", "78000", "--producer-epoch", "3", "--coordinator-epoch", "-1")
    assert main([*at, *named]) == 0
    assert same("find-hanging", *topic) == []
    capsys.readouterr()
    stale = ("--producer-id", "78000", "--producer-epoch", "2", "--coordinator-epoch", "0")
    assert main([*at, *stale]) == 1
    assert "producerId=78000, producerEpoch=2" in capsys.readouterr().err


def test_terminate(servers: str, same: Same) -> None:
    held = begun(servers, "terminated", OTHER)
    at = ("transactions", "--bootstrap-server", servers)
    assert main([*at, "forceTerminateTransaction", "--transactionalId", "terminated"]) == 0
    await_ends(servers)  # or the two looks may see two states
    (described,) = same("describe", "--transactional-id", "terminated")
    assert described.split()[4] in ("CompleteAbort", "Empty")
    with pytest.raises(Exception, match="fenced"):
        held.commit_transaction(SECONDS)
