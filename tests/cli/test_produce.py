from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pykbroker.cli import produce
from pykbroker.cli.command import CommandError
from tests.cli.conftest import Outcome, Run
from tests.cli.test_console_producer import Type, type_in, values

__all__ = ["type_in", "values"]  # fixtures

Values = Callable[[str], list[str]]


def test_values(ask: Run, topic: str, values: Values) -> None:
    outcome = ask(
        *("produce", topic, "--key", "k", "--value", "one", "--value", "two"),
        *("--header", "h=1", "--header", "i=", "--partition", "1"),
    )
    assert outcome == Outcome(0, "", f"2 records to 1 partition of {topic}\n")
    assert values(topic) == ["h=1,i=\tk\tone", "h=1,i=\tk\ttwo"]


def test_a_tombstone(ask: Run, topic: str, values: Values) -> None:
    assert ask("produce", topic, "--key", "k", "--tombstone", "--quiet") == Outcome(0, "", "")
    assert values(topic) == ["\tk\tnull"]


def test_lines(ask: Run, topic: str, type_in: Type, values: Values) -> None:
    type_in(b"a\tone\nb\ttwo\tmore\n")
    outcome = ask("produce", topic, "--key-separator", "\\t", "--compression", "gzip")
    assert outcome.code == 0
    assert outcome.err.startswith("2 records to ")
    assert values(topic) == ["\ta\tone", "\tb\ttwo\tmore"]


def test_a_separator_in_any_script(ask: Run, topic: str, type_in: Type, values: Values) -> None:
    type_in("a→é\tb\n".encode())
    assert ask("produce", topic, "--key-separator", "→é\\t").code == 0
    assert values(topic) == ["\ta\tb"]


def test_forms(ask: Run, topic: str, type_in: Type, values: Values) -> None:
    type_in(b"6b76=Zm9v\n")
    forms = ("--key-format", "hex", "--value-format", "base64")
    # The first separator counts: base64 may end with one.
    assert ask("produce", topic, "--key-separator", "=", *forms).code == 0
    assert values(topic) == ["\tkv\tfoo"]


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        ((), ("all", None)),
        (("--command-property", "acks=1"), ("1", None)),
        (("--command-property", "compression.type=gzip"), ("all", "gzip")),
        (("--command-property", "acks=1", "--acks", "0"), ("0", None)),
        (("--command-property", "compression.type=gzip", "--compression", "none"), ("all", "none")),
    ],
)
def test_flags_and_properties(
    ask: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], wanted: tuple[str, str]
) -> None:
    """A flag overrides a property, but the default of a flag does not."""
    seen = []

    def make(servers: str, settings: dict[str, str]) -> None:
        seen.append((settings["acks"], settings.get("compression.type")))
        raise CommandError("no broker here")

    monkeypatch.setattr(produce, "make_producer", make)
    assert ask("produce", "orders", "--value", "v", *arguments).err == "no broker here\n"
    assert seen == [wanted]


def test_a_copy(ask: Run, filled: str, topic: str, type_in: Type) -> None:
    before = ask("consume", filled, "--json", "--quiet")
    type_in(before.out.encode())
    assert ask("produce", topic, "--json", "--partition", "0", "--quiet") == Outcome(0, "", "")
    after = ask("consume", topic, "--json", "--quiet")

    def contents(outcome: Outcome) -> list[tuple[object, ...]]:
        nodes = map(json.loads, outcome.lines)
        return [(each["timestamp"], each["key"], each["value"]) for each in nodes]

    assert len(contents(before)) == 10
    assert contents(after) == contents(before)


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--tombstone",), "--tombstone takes --key, and neither --value nor --json"),
        (("--json", "--key", "k"), "--json takes records as they are: leave --key out"),
        (("--key", "k", "--key-separator", ":"), "Give either --key or --key-separator, not both"),
        (("--key-separator", ""), "--key-separator '' is no text to look for"),
        (("--key-separator", "\\"), "--key-separator '\\\\' is no text to look for"),
        (("--header", "h"), "--header h: expected NAME=VALUE"),
        (("--value", "{", "--value-format", "json"), "not JSON (Expecting property name"),
        (("--acks", "2"), "pykbroker produce: argument --acks: invalid choice"),
        (("--command-property", "nonsense"), "Invalid command line properties"),
    ],
)
def test_wrong_usage(ask: Run, topic: str, arguments: tuple[str, ...], why: str) -> None:
    outcome = ask("produce", topic, *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(why)


def test_a_wrong_line(ask: Run, topic: str, type_in: Type, values: Values) -> None:
    type_in(b'{"value": "one"}\n{"valeu": "two"}\n')
    outcome = ask("produce", topic, "--json")
    assert outcome.code == 1
    first, second = outcome.err.splitlines()
    assert first == f"1 record to 1 partition of {topic}"
    assert second.startswith("line 2: unknown field 'valeu'; known are")
    assert values(topic) == ["\tnull\tone"]
    type_in(b"nothing\n")
    outcome = ask("produce", topic, "--key-separator", ":", "--quiet")
    assert outcome == Outcome(1, "", "line 1: no ':' between a key and a value\n")


def test_a_record_that_fails(ask: Run, topic: str) -> None:
    outcome = ask("produce", topic, "--value", "v", "--partition", "7")
    assert outcome.code == 1
    assert outcome.err.splitlines()[1:] == [
        f"0 records to 0 partitions of {topic}",
        "1 of 1 records failed",
    ]
