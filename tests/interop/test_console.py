"""`console-producer` and `console-consumer` beside Apache's, on the same broker."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.cli.main import main
from tests.harness import apache
from tests.harness.commits import commit_offsets

LINES = "h1:v1,h2:v2\tk\tv\nN\tN\tN\nh:x:y\t\tpäivää\n:\tk2\ta\tb\n"
READER = ("parse.key=true", "parse.headers=true", "null.marker=N")
COLUMNS = ("timestamp", "partition", "offset", "delivery", "epoch", "headers", "key")


def properties(*values: str, flag: str) -> list[str]:
    return [word for value in values for word in (flag, value)]


def new_topic(servers: str, name: str, partitions: int = 1) -> str:
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(name, partitions, 1)])[name].result(60)
    return name


def contents(servers: str, topic: str) -> list[tuple[object, ...]]:
    """What stands in the partition, without times."""
    config = {"bootstrap.servers": servers, "group.id": "none", "enable.auto.commit": False}
    consumer = Consumer(config)
    partition = TopicPartition(topic, 0, 0)
    _, end = consumer.get_watermark_offsets(partition, timeout=60)
    consumer.assign([partition])
    messages = consumer.consume(end, timeout=60)
    consumer.close()
    assert len(messages) == end
    return [(each.key(), each.value(), each.headers()) for each in messages]


def test_lines_become_the_same_records(
    servers: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = properties(*READER, flag="--reader-property")
    flags += ["--request-timeout-ms", "60000"]
    topics = [new_topic(servers, f"{name}-{whose}") for whose in ("ours", "theirs")]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LINES.encode())))
    both = ("--bootstrap-server", servers, *flags, "--topic")
    assert main(["console-producer", *both, topics[0]]) == 0
    apache.run_tool(apache.CONSOLE_PRODUCER, *both, topics[1], stdin=LINES)
    ours, theirs = (contents(servers, topic) for topic in topics)
    assert len(ours) == 4
    assert ours == theirs


@pytest.fixture
def filled(servers: str, name: str) -> str:
    """Records with and without keys, values and headers, of eight bytes and of others."""
    topic = new_topic(servers, name)
    producer = Producer({"bootstrap.servers": servers})
    headers: list[tuple[str, str | bytes | None]] = [("h", b"1"), ("i", None)]
    for number, (key, value) in enumerate(
        [(b"12345678", b"abcdefgh"), (None, bytes(8)), (b"8 \xffbytes", None)]
    ):
        at = 1_600_000_000_000 + number
        producer.produce(topic, value, key, timestamp=at, headers=headers[:number])
    assert producer.flush(60) == 0
    return topic


def both_print(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str) -> tuple[bytes, bytes]:
    """Standard output of our console-consumer and of Apache's."""
    capfdbinary.readouterr()
    assert main(["console-consumer", *arguments]) == 0
    ours = capfdbinary.readouterr().out
    command = apache.java_command(apache.CONSOLE_CONSUMER, *arguments)
    theirs = subprocess.run(command, capture_output=True, timeout=300, check=True)
    return ours, theirs.stdout


JAVA = "org.apache.kafka.common.serialization."


@pytest.mark.parametrize(
    "flags",
    [
        properties(*(f"print.{each}=true" for each in COLUMNS), flag="--formatter-property"),
        properties(
            *("print.key=true", "print.value=false", "key.separator=|", "null.literal=-"),
            *("line.separator=$", "print.headers=true", "headers.separator=;"),
            flag="--formatter-property",
        ),
        ["--formatter", "org.apache.kafka.tools.consumer.NoOpMessageFormatter"],
        ["--value-deserializer", f"{JAVA}BytesDeserializer", "--offset", "1"],
        ["--key-deserializer", f"{JAVA}LongDeserializer", "--max-messages", "1",
         "--formatter-property", "print.key=true"],
    ],
)  # fmt: skip
def test_records_are_printed_the_same(
    servers: str, filled: str, capfdbinary: pytest.CaptureFixture[bytes], flags: list[str]
) -> None:
    scope = ["--bootstrap-server", servers, "--topic", filled, "--partition", "0"]
    if "--offset" not in flags:
        scope.append("--from-beginning")
    if "--max-messages" not in flags:
        scope += ["--max-messages", "2" if "--offset" in flags else "3"]
    ours, theirs = both_print(capfdbinary, *scope, *flags)
    assert ours == theirs
    assert ours or "NoOp" in flags[1]


def test_committed_offsets_are_printed_the_same(
    make_broker: Callable[..., Any], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """On a broker of its own: the first record of the partition is this group's."""
    group, topic = "console-group", "console-topic"
    with make_broker({"offsets.topic.num.partitions": "1"}) as broker:
        servers = str(broker.bootstrap_servers)
        new_topic(servers, topic)
        commit_offsets(servers, group, [TopicPartition(topic, 0, 2)])
        scope = ["--bootstrap-server", servers, "--topic", "__consumer_offsets"]
        scope += ["--partition", "0", "--from-beginning", "--max-messages", "1"]
        formatter = "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"
        ours, theirs = both_print(capfdbinary, *scope, "--formatter", formatter)
    assert json.loads(ours) == json.loads(theirs)
    assert json.loads(ours)["key"]["data"] == {"group": group, "topic": topic, "partition": 0}
