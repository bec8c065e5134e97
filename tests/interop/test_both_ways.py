"""A data directory goes from Apache Kafka 4.4 to pykbroker and back, and the other way round.

At every step: stock clients see the same records (in both isolation levels), bounds, times,
configurations, groups, producers and sizes as before the move, and Apache's DumpLogSegments and our
dump-log say the same of every file. Each node writes on before it is stopped, or killed.

PYKBROKER_ALL_WAYS=1 runs the one combination that is left out to save time.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from pykbroker.testing import Broker
from tests.harness.apache import ApacheBroker, java_command
from tests.harness.commits import commit_offsets
from tests.harness.markers import await_ends
from tests.harness.waiting import wait_for
from tests.harness.ways import ways
from tests.interop.cluster_facts import (
    dumps_agree,
    facts,
    same_but,
    table,
)

TRANSACTIONS = Path(__file__).parent / "java" / "Transactions.java"
SETTINGS = {
    "log.cleaner.backoff.ms": "100",
    "log.index.interval.bytes": "500",
    "group.initial.rebalance.delay.ms": "0",
    "log.retention.check.interval.ms": "1000",
    "log.flush.start.offset.checkpoint.interval.ms": "100",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "log.initial.task.delay.ms": "100",
}
# After a kill Apache waits for the old session of the broker to end.
SHORT_SESSION = {"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "500"}
PLAIN, MONEY, TABLE, CUT = "plain", "money", "table", "cut"
TOPICS = [PLAIN, MONEY, CUT]
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
GROUPS = ["reader", "bank"]

ENDINGS_OF_OURS = ways(["killed"], ["stopped"])

Node = Any  # ApacheBroker or Broker


def ours(apache: ApacheBroker) -> Broker:
    """A node of ours on the directory and the ports of `apache`."""
    controller = f"127.0.0.1:{apache.controller_port}"
    listeners = f"PLAINTEXT://127.0.0.1:{apache.port},CONTROLLER://{controller}"
    overrides = {
        "listeners": listeners,
        "controller.quorum.bootstrap.servers": controller,
        **SETTINGS,
    }
    return Broker(data_dir=apache.data_dir, overrides=overrides)


def end(node: Node, ending: str) -> None:
    """Stop it in good order, or kill it."""
    node.stop() if ending == "stopped" else node.kill()


def make_topics(servers: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    compacted = {"cleanup.policy": "compact", "segment.ms": "300", "min.cleanable.dirty.ratio": "0"}
    wanted = [
        NewTopic(PLAIN, 2, 1, config={"segment.bytes": "1048576", "retention.ms": "-1"}),
        NewTopic(MONEY, 1, 1, config={"min.insync.replicas": "1"}),
        NewTopic(TABLE, 1, 1, config=compacted),
        NewTopic(CUT, 1, 1, config={"message.timestamp.type": "LogAppendTime"}),
    ]
    for future in admin.create_topics(wanted).values():
        future.result(60)
    change = ConfigResource(
        ResourceType.BROKER,
        "1",
        incremental_configs=[
            ConfigEntry(
                "message.max.bytes",
                "2000000",
                incremental_operation=AlterConfigOpType.SET,
            )
        ],
    )
    (future,) = admin.incremental_alter_configs([change]).values()
    future.result(60)


def produce(servers: str, topic: str, round_number: int, count: int) -> None:
    """Some of every codec, plain and idempotent, null keys and values, headers."""
    for number, codec in enumerate(CODECS):
        producer = Producer(
            {
                "bootstrap.servers": servers,
                "compression.type": codec,
                "enable.idempotence": bool(number % 2),
                "linger.ms": 20,
            }
        )
        for index in range(count):
            key = None if topic != TABLE and index % 5 == 0 else b"key-%d" % (index % 50)
            value = None if index % 11 == 0 else b"%d %d " % (round_number, index) + bytes(index)
            headers = [("h", b"%d" % index), ("null", None)] if index % 3 == 0 else []
            partition = index % 2 if topic == PLAIN else 0
            producer.produce(topic, value, key, partition, headers=list(headers))
        assert producer.flush(60) == 0


def commit(servers: str, offset: int) -> None:
    """The group `reader` commits, as a member that joined would."""
    at = TopicPartition(PLAIN, 1, offset, metadata="it was here")
    commit_offsets(servers, "reader", [at])


def transactions(servers: str, first: int, *ends: str) -> None:
    """The Java client's transactions; the group `bank` commits in each."""
    arguments = [str(TRANSACTIONS), servers, MONEY, "bank", str(first), *ends]
    done = subprocess.run(
        java_command(*arguments), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split()[-1] == str(first + 10 * len(ends))
    await_ends(servers)


def write(servers: str, data_dir: Path, round_number: int) -> None:
    """What any of the two nodes can take."""
    for topic in (PLAIN, TABLE, CUT):
        produce(servers, topic, round_number, 300)
    commit(servers, 100 * round_number)
    admin = AdminClient({"bootstrap.servers": servers})
    deletion = admin.delete_records([TopicPartition(CUT, 0, 401 * round_number)])
    for future in deletion.values():
        assert future.result(60).low_watermark == 401 * round_number
    await_checkpoint(data_dir / "log-start-offset-checkpoint", CUT, 401 * round_number)


def await_cleaning(data_dir: Path, at_least: int) -> None:
    """The compacted topic was cleaned up to some offset."""
    await_checkpoint(data_dir / "cleaner-offset-checkpoint", TABLE, at_least)


def await_checkpoint(path: Path, topic: str, at_least: int) -> None:
    """A checkpoint file holds at least this offset: a kill cannot take it back any more."""

    def written() -> bool:
        lines = path.read_text().split("\n") if path.exists() else []
        return any(
            line.startswith(f"{topic} 0 ") and int(line.split()[2]) >= at_least for line in lines
        )

    wait_for(written, path.name)


def roll_table(servers: str) -> None:
    """segment.ms is short: a record that comes later closes the segment."""
    time.sleep(0.35)
    producer = Producer({"bootstrap.servers": servers})
    producer.produce(TABLE, b"rolls the segment", b"roll")
    assert producer.flush(60) == 0


class Journey:
    """One directory, and what was last seen of it."""

    def __init__(self, apache: ApacheBroker) -> None:
        self.apache = apache
        self.seen: dict[str, Any] = {}
        self.rows: dict[bytes | None, bytes | None] = {}

    @property
    def servers(self) -> str:
        return self.apache.bootstrap_servers

    def look(self) -> dict[str, Any]:
        self.rows = table(self.servers, TABLE)
        return facts(self.servers, TOPICS, GROUPS)

    def leave(self, node: Node, ending: str) -> None:
        """Remember all that there is, and end the node."""
        self.seen = self.look()
        end(node, ending)
        dumps_agree(self.apache.data_dir, [*TOPICS, TABLE])

    def arrive(self, *changing: str) -> None:
        """The other node runs now: nothing changed."""
        rows, seen = self.rows, self.seen
        same_but(seen, self.look(), *changing)
        assert self.rows == rows


def committed(seen: dict[str, Any]) -> list[bytes]:
    """The values of committed transactions, and that no aborted one is among them."""
    values = [record.value for record in seen[f"{MONEY}-0 read_committed"]]
    assert all(value.startswith(b"commit ") for value in values)
    return values


@pytest.fixture
def apache(tmp_path: Path) -> Any:
    node = ApacheBroker(tmp_path / "data", config=SETTINGS | SHORT_SESSION)
    yield node
    node.close()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("ending", ["stopped", "killed"])
def test_from_apache_and_back(apache: ApacheBroker, ending: str) -> None:
    journey = Journey(apache)
    apache.start()
    make_topics(journey.servers)
    write(journey.servers, apache.data_dir, 1)
    transactions(journey.servers, 0, "commit", "abort", "commit", "abort", "commit")
    roll_table(journey.servers)
    await_cleaning(apache.data_dir, 1)
    journey.leave(apache, ending)
    assert len(committed(journey.seen)) == 30

    node = ours(apache)
    node.start()
    try:
        journey.arrive()
        write(journey.servers, apache.data_dir, 2)
        roll_table(journey.servers)
        await_cleaning(apache.data_dir, 1501)
        journey.leave(node, ending)
        assert "Traceback" not in node.log_text
    finally:
        node.kill()

    apache.start()
    journey.arrive()
    transactions(journey.servers, 50, "abort", "commit")
    write(journey.servers, apache.data_dir, 3)
    assert len(committed(journey.look())) == 40
    end(apache, ending)
    assert complaints(apache) == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("ending", ENDINGS_OF_OURS)
def test_from_us_and_back(apache: ApacheBroker, ending: str) -> None:
    journey = Journey(apache)
    node = ours(apache)
    node.start()
    try:
        make_topics(journey.servers)
        write(journey.servers, apache.data_dir, 1)
        produce(journey.servers, MONEY, 1, 20)
        roll_table(journey.servers)
        await_cleaning(apache.data_dir, 1)
        journey.leave(node, ending)

        apache.start()
        journey.arrive()
        write(journey.servers, apache.data_dir, 2)
        # The last one hangs: what follows it is not for read_committed until it is ended.
        transactions(journey.servers, 0, "commit", "abort", "open")
        produce(journey.servers, MONEY, 2, 20)
        journey.leave(apache, ending)
        assert len(journey.seen[f"{MONEY}-0 read_committed"]) == 5 * 20 + 10

        node.start()
        journey.arrive()
        write(journey.servers, apache.data_dir, 3)
        produce(journey.servers, MONEY, 3, 20)
        journey.leave(node, ending)
        assert "Traceback" not in node.log_text
    finally:
        node.kill()

    apache.start()
    journey.arrive()
    transactions(journey.servers, 30, "commit")  # its first step aborts the one that hangs
    values = [record.value for record in journey.look()[f"{MONEY}-0 read_committed"]]
    assert [v for v in values if v and b" " in v and v.split()[0].isalpha()] == [
        b"commit %d" % number for number in [*range(10), *range(30, 40)]
    ]
    assert len(values) == 3 * 5 * 20 + 20
    end(apache, ending)
    assert complaints(apache) == []


def complaints(apache: ApacheBroker) -> list[str]:
    """Lines in which Apache is not content with a log."""
    words = ("corrupt", "Corrupt", "orphaned", "Could not find", "Truncat", "stray")
    lines = apache.server_log().splitlines()
    return [line for line in lines if any(word in line for word in words)]
