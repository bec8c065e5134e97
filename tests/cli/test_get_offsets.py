from __future__ import annotations

import json

import pytest

from pykbroker.cli import get_offsets
from pykbroker.cli.command import CommandError
from tests.cli.conftest import Run


def test_offsets_by_time(ask: Run, filled: str) -> None:
    at = ("--topic", filled, "--time")
    assert ask("get-offsets", "--topic", filled).lines == [f"{filled}:0:5", f"{filled}:1:5"]
    assert ask("get-offsets", *at, "earliest").lines == [f"{filled}:0:0", f"{filled}:1:0"]
    assert ask("get-offsets", *at, "max-timestamp").lines == [f"{filled}:0:4", f"{filled}:1:4"]
    assert ask("get-offsets", *at, "1600000000003").lines == [f"{filled}:0:2", f"{filled}:1:1"]
    assert ask("get-offsets", *at, "9600000000003").lines == []


def test_choice_of_partitions(ask: Run, filled: str) -> None:
    assert ask("get-offsets", "--topic", filled, "--partitions", "1").lines == [f"{filled}:1:5"]
    assert ask("get-offsets", "--topic-partitions", f"{filled}:-1").lines == [f"{filled}:0:5"]
    described = json.loads(ask("get-offsets", "--topic", filled, "--json").out)
    assert described[1] == {"topic": filled, "partition": 1, "offset": 5}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--topic", "none"), "Could not match any topic-partitions with the specified filters"),
        (("--time", "soon"), "Malformed time argument soon. Please use -1 or latest"),
        (("--partitions", "x"), "--partitions expects a comma separated list of numeric"),
        (("--topic-partitions", "a:b"), "Invalid rule specification: a:b"),
        (("--topic-partitions", "a", "--topic", "a"), "--topic-partitions cannot be used with"),
    ],
)
def test_refusals(ask: Run, arguments: tuple[str, ...], message: str) -> None:
    outcome = ask("get-offsets", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"Error occurred: {message}")


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ("t", {("t", 0), ("t", 1), ("t", 2)}),
        ("t:1", {("t", 1)}),
        ("t:1-", {("t", 1), ("t", 2)}),
        ("t:-1", {("t", 0)}),
        ("t:0-2", {("t", 0), ("t", 1)}),
        (":2", {("t", 2), ("u", 2)}),
        ("t:0,u:1", {("t", 0), ("u", 1)}),
        ("[tu]:1", {("t", 1), ("u", 1)}),
    ],
)
def test_rules(rules: str, wanted: set[tuple[str, int]]) -> None:
    fits = get_offsets.filter_of_rules(rules)
    everything = {(topic, number) for topic in "tu" for number in range(3)}
    assert {each for each in everything if fits(*each)} == wanted


def test_times() -> None:
    assert get_offsets.parse_time("latest") == -1
    assert get_offsets.parse_time("-2") == -2
    with pytest.raises(CommandError):
        get_offsets.parse_time("1.5")
