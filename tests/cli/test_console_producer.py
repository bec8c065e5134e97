"""`console-producer`; tests/interop/test_console.py compares it with Apache's."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from pykbroker.cli.command import CommandParser
from pykbroker.cli.console_producer import add_arguments, producer_settings
from tests.cli.conftest import Outcome, Run

# The default of 1500 ms is Apache's; a machine under load may take longer.
PATIENT = ("--request-timeout-ms", "60000")

Type = Callable[[bytes], None]


@pytest.fixture
def type_in(monkeypatch: pytest.MonkeyPatch) -> Type:
    """Gives the commands of a test this standard input."""

    def give(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give


@pytest.fixture
def values(ask: Run) -> Callable[[str], list[str]]:
    """The records of a topic as `consume` shows them, sorted."""

    def consume(topic: str) -> list[str]:
        shown = "headers,key,value"
        return sorted(ask("consume", topic, "--show", shown, "--quiet").lines)

    return consume


def test_lines(ask: Run, topic: str, type_in: Type, values: Callable[[str], list[str]]) -> None:
    type_in(b"h:1\tk\tv\nN\tN\tN\nh:2\tk\tlast")
    properties = ("parse.key=true", "parse.headers=true", "null.marker=N")
    flags = [word for each in properties for word in ("--reader-property", each)]
    outcome = ask("console-producer", "--topic", topic, *flags, *PATIENT)
    assert outcome == Outcome(0, "", "")
    assert values(topic) == ["\tnull\tnull", "h=1\tk\tv", "h=2\tk\tlast"]


@pytest.mark.parametrize("flag", ["--sync", "--compression-codec"])
def test_ways_to_send(
    ask: Run, topic: str, type_in: Type, values: Callable[[str], list[str]], flag: str
) -> None:
    type_in(b"a\r\nb\n\n")
    assert ask("console-producer", "--topic", topic, flag, *PATIENT) == Outcome(0, "", "")
    assert values(topic) == ["\tnull\t", "\tnull\ta", "\tnull\tb"]


def test_a_line_without_a_key(
    ask: Run, topic: str, type_in: Type, values: Callable[[str], list[str]], tmp_path: Path
) -> None:
    """What stands before it is sent."""
    type_in(b"a\tb\nnothing\nc\td\n")
    reader = tmp_path / "reader.properties"
    reader.write_text("parse.key=true\n")
    outcome = ask("console-producer", "--topic", topic, "--reader-config", str(reader), *PATIENT)
    error = "No key separator found on line number 2: 'nothing'\n"
    assert outcome == Outcome(1, "", error)
    assert values(topic) == ["\ta\tb"]


def test_a_record_that_is_too_large(ask: Run, topic: str, type_in: Type) -> None:
    type_in(b"x" * 2_000_000)
    outcome = ask("console-producer", "--topic", topic, *PATIENT)
    assert outcome.code == 1
    first, last = outcome.err.splitlines()
    assert first.startswith("A record was not sent: MessageSizeTooLargeError")
    assert last == "1 of 1 records failed"


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--line-reader", "com.example.Mine"), "--line-reader com.example.Mine: only org."),
        (("--property", "a=b"), "a: the reader has no such property"),
        (("--reader-property", "a"), "Invalid command line properties: a is not KEY=VALUE"),
        (("--property", "a=b", "--reader-property", "a=b"), "pykbroker console-producer: argum"),
        (("--batch-size", "x"), "pykbroker console-producer: argument --batch-size"),
        (("--command-property", "x.y=1"), "x.y: the client library kafka-python has no such"),
    ],
)
def test_wrong_usage(ask: Run, arguments: tuple[str, ...], why: str) -> None:
    outcome = ask("console-producer", "--topic", "t", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(why)


def settings_of(*arguments: str) -> dict[str, str]:
    parser = CommandParser()
    add_arguments(parser)
    options: argparse.Namespace = parser.parse_args(["--topic", "t", *arguments])
    return producer_settings(options)


def test_settings(tmp_path: Path) -> None:
    """Flags win over properties, properties over the file, the file over defaults of flags."""
    assert settings_of() == {
        "acks": "-1",
        "batch.size": "16384",
        "client.id": "console-producer",
        "compression.type": "none",
        "linger.ms": "1000",
        "max.block.ms": "60000",
        "metadata.max.age.ms": "300000",
        "request.timeout.ms": "1500",
        "retries": "3",
        "retry.backoff.ms": "100",
        "send.buffer.bytes": "102400",
    }
    file = tmp_path / "producer.properties"
    file.write_text("linger.ms=1\nacks=0\nclient.id=me\n")
    flags = ("--producer.config", str(file), "--producer-property", "acks=1", "--timeout", "7")
    settings = settings_of(*flags, "--max-memory-bytes", "9")
    assert (settings["linger.ms"], settings["acks"], settings["client.id"]) == ("7", "1", "me")
    assert settings_of("--compression-codec", "zstd")["compression.type"] == "zstd"
    assert settings_of("--request-required-acks", "all")["acks"] == "all"
