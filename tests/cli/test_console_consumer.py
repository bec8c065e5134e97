"""`console-consumer`; tests/interop/test_console.py compares it with Apache's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from kafka import TopicPartition as Partition

from pykbroker.cli.console_consumer import Receiver
from pykbroker.testing import Broker
from tests.cli.conftest import Outcome, Run
from tests.cli.consumed_record import Consumed


def test_from_the_beginning(ask: Run, filled: str) -> None:
    outcome = ask("console-consumer", "--topic", filled, "--from-beginning", "--max-messages", "10")
    assert sorted(outcome.lines) == [f"v{number}" for number in range(10)]
    assert (outcome.code, outcome.err) == (0, "Processed a total of 10 messages\n")


def test_a_partition(ask: Run, filled: str) -> None:
    scope = ("console-consumer", "--topic", filled, "--partition", "1")
    shown = (
        "--formatter-property",
        "print.offset=true",
        "--key-deserializer",
        "StringDeserializer",
    )
    outcome = ask(*scope, "--offset", "3", "--max-messages", "2", *shown)
    assert outcome.out == "Offset:3\tv7\nOffset:4\tv9\n"
    assert ask(*scope, "--offset", "earliest", "--max-messages", "1").out == "v1\n"
    assert ask(*scope, "--from-beginning", "--max-messages", "1").out == "v1\n"
    nothing = ask(*scope, "--timeout-ms", "300")
    hint = "No record came within 300 ms: only new records are read (--from-beginning reads all)\n"
    assert nothing == Outcome(0, "", f"{hint}Processed a total of 0 messages\n")


def test_a_pattern_of_topics(ask: Run, filled: str) -> None:
    outcome = ask(
        *("console-consumer", "--include", filled[:-1] + "[0-9]", "--from-beginning"),
        *("--max-messages", "10", "--formatter", "NoOpMessageFormatter"),
    )
    assert outcome == Outcome(0, "", "Processed a total of 10 messages\n")


def committed_offsets(broker: Broker, group: str, topic: str) -> list[int]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": group})
    found = consumer.committed([TopicPartition(topic, number) for number in range(2)], timeout=60)
    consumer.close()
    return [each.offset for each in found]


def test_a_group_commits_what_was_printed(
    ask: Run, broker: Broker, filled: str, group: str
) -> None:
    scope = ("console-consumer", "--topic", filled, "--group", group, "--from-beginning")
    first = ask(*scope, "--max-messages", "3")
    offsets = committed_offsets(broker, group, filled)
    assert sum(max(0, each) for each in offsets) == 3
    second = ask(*scope, "--max-messages", "7")
    assert sorted(first.lines + second.lines) == [f"v{number}" for number in range(10)]
    assert committed_offsets(broker, group, filled) == [5, 5]


class OfTwoBatches:
    """A consumer that has fetched two records of each of two partitions."""

    def __init__(self) -> None:
        self.sought: dict[Partition, int] = {}

    def poll(self, timeout_ms: int, max_records: int) -> dict[Partition, list[Consumed]]:
        return {
            Partition("t", number): [Consumed(offset=offset) for offset in (5, 6)]
            for number in range(2)
        }

    def assignment(self) -> set[Partition]:
        return {Partition("t", number) for number in range(2)}

    def seek(self, partition: Partition, offset: int) -> None:
        self.sought[partition] = offset


@pytest.mark.parametrize("taken, expected", [(1, [6, 5]), (2, [7, 5]), (3, [None, 6])])
def test_what_was_not_printed_is_not_passed_over(taken: int, expected: list[int | None]) -> None:
    consumer = OfTwoBatches()
    receiver = Receiver(consumer)
    records = receiver.records(None, None)
    for _ in range(taken):
        next(records)
    receiver.rewind()
    assert [consumer.sought.get(Partition("t", number)) for number in range(2)] == expected


def test_records_of_another_type(ask: Run, filled: str) -> None:
    scope = ("console-consumer", "--topic", filled, "--partition", "0", "--offset", "0")
    flags = ("--max-messages", "2", "--value-deserializer", "LongDeserializer")
    failed = ask(*scope, *flags)
    why = "Size of data received by LongDeserializer is not 8"
    assert failed.code == 1
    assert failed.err.splitlines() == [
        "Processed a total of 1 messages",
        f"{filled}-0 at offset 0: {why}",
    ]
    skipped = ask(*scope, *flags, "--skip-message-on-error", "--enable-systest-events")
    assert (skipped.code, skipped.out) == (0, "shutdown_complete\n")
    assert skipped.err.splitlines() == [
        f"{filled}-0 at offset 0 is skipped: {why}",
        f"{filled}-0 at offset 1 is skipped: {why}",
        "Processed a total of 2 messages",
    ]


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--topic", "t", "--offset", "3"), "The partition is required when offset is specified."),
        (("--include", "t", "--partition", "3"), "The topic is required when partition is"),
        (
            ("--topic", "t", "--partition", "3", "--offset", "-1"),
            "The provided offset value '-1' is incorrect.",
        ),
        (
            ("--topic", "t", "--partition", "3", "--offset", "1", "--from-beginning"),
            "Options from-beginning and offset cannot be specified together.",
        ),
        (
            ("--topic", "t", "--partition", "3", "--group", "g"),
            "Options group and partition cannot be specified together.",
        ),
        (
            ("--topic", "t", "--group", "g", "--command-property", "group.id=h"),
            "The group ids provided in different places",
        ),
        (
            ("--topic", "t", "--from-beginning", "--command-property", "auto.offset.reset=latest"),
            "Can't simultaneously specify --from-beginning and 'auto.offset.reset=latest'",
        ),
        (("--topic", "t", "--include", "t"), "pykbroker console-consumer: argument --include"),
        (("--topic", "t", "--formatter", "Mine"), "--formatter Mine: known are"),
    ],
)
def test_wrong_usage(ask: Run, arguments: tuple[str, ...], why: str) -> None:
    outcome = ask("console-consumer", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(why)


def test_properties_from_files(ask: Run, filled: str, tmp_path: Path) -> None:
    formatter, consumer = tmp_path / "formatter", tmp_path / "consumer"
    formatter.write_text("print.key=true\nkey.separator=|\n")
    consumer.write_text("auto.offset.reset=earliest\nclient.id=me\n")
    outcome = ask(
        *("console-consumer", "--topic", filled, "--consumer.config", str(consumer)),
        *("--formatter-config", str(formatter), "--max-messages", "10"),
    )
    assert sorted(outcome.lines) == [f"k|v{number}" for number in range(10)]


def test_the_reader_goes_away(broker: Broker, filled: str) -> None:
    """As `| head` does: it ends although no record follows."""
    command = [
        sys.executable, "-m", "pykbroker", "console-consumer", "--topic", filled,
        "--bootstrap-server", broker.bootstrap_servers, "--from-beginning",
    ]  # fmt: skip
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert len({process.stdout.readline() for _ in range(10)}) == 10
        process.stdout.close()
        assert process.stderr.read() == b"Processed a total of 10 messages\n"
        assert process.wait(120) == 1
