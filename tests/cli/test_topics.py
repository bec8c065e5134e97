from __future__ import annotations

import pytest

from pykbroker.cli import topics
from pykbroker.cli.command import CommandError
from tests.cli.conftest import Run


def test_life_of_a_topic(ask: Run) -> None:
    name = "cli-life"
    created = ask("topics", "--create", "--topic", name, "--config", "retention.ms=5000")
    assert (created.code, created.out) == (0, f"Created topic {name}.\n")
    assert name in ask("topics", "--list").lines
    described = ask("topics", "--describe", "--topic", name).lines
    assert described[0].startswith(f"Topic: {name}\tTopicId: ")
    assert "\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: " in described[0]
    assert "retention.ms=5000" in described[0]
    assert described[1].startswith(
        f"\tTopic: {name}\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\tElr: "
    )
    assert ask("topics", "--alter", "--topic", name, "--partitions", "3").code == 0
    assert len(ask("topics", "--describe", "--topic", name).lines) == 4
    assert ask("topics", "--delete", "--topic", name).code == 0
    assert name not in ask("topics", "--list").lines


def test_names_that_may_collide_are_warned_of(ask: Run) -> None:
    outcome = ask("topics", "--create", "--topic", "cli.collide")
    assert outcome.lines[0].startswith("WARNING: Due to limitations in metric names")
    assert ask("topics", "--delete", "--topic", "cli.collide").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--create", "--topic", "bad/name"), "Topic name is invalid: 'bad/name' contains one or"),
        (("--create", "--topic", "x", "--replication-factor", "3"), "Unable to replicate the"),
        (("--create", "--topic", "x", "--replication-factor", "0"), "The replication factor must"),
        (("--create", "--topic", "x", "--partitions", "0"), "The partitions must be greater"),
        (("--create", "--topic", "x", "--config", "nope=1"), "Unknown topic config name: nope"),
        (("--create", "--topic", "x", "--config", "nope"), "requirement failed: Invalid topic"),
        (
            ("--create", "--topic", "x", "--config", "retention.ms=x"),
            "Invalid value x for configuration retention.ms: Not a number of type LONG",
        ),
        (("--create", "--topic", "x", "--replica-assignment", "7"), ""),
        (("--describe", "--topic", "none"), "Topic 'none' does not exist as expected"),
        (("--delete", "--topic", "none"), "Topic 'none' does not exist as expected"),
        (("--alter", "--topic", "none", "--partitions", "2"), "Topic 'none' does not exist"),
        (
            ("--describe", "--topic-id", "mZLBCX6nSbSMqy4jLJVNHA"),
            "TopicId 'mZLBCX6nSb",
        ),
        (("--describe", "--topic-id", "x"), "Input string `x` is not a topic id"),
        (("--list", "--topic", "("), "( is an invalid regex."),
    ],
)
def test_refusals(ask: Run, arguments: tuple[str, ...], message: str) -> None:
    outcome = ask("topics", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"Error while executing topic command : {message}")


def test_a_topic_that_exists(ask: Run, topic: str) -> None:
    again = ask("topics", "--create", "--topic", topic)
    assert (again.code, again.err) == (
        1,
        f"Error while executing topic command : Topic '{topic}' already exists.\n",
    )
    assert ask("topics", "--create", "--topic", topic, "--if-not-exists").code == 0
    fewer = ask("topics", "--alter", "--topic", topic, "--partitions", "1")
    assert fewer.code == 1
    assert "2 partition(s); 1 would not be an increase" in fewer.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Command must include exactly one action: --list, --describe, --create, --alter or"),
        (("--list", "--create"), "Command must include exactly one action"),
        (("--create",), 'Missing required argument "[topic]"'),
        (("--alter", "--topic", "x"), 'Missing required argument "[partitions]"'),
        (
            ("--list", "--partitions", "2"),
            'Option "[partitions]" can',
        ),
        (
            ("--create", "--topic", "x", "--replica-assignment", "1", "--partitions", "1"),
            'Option "[replica-assignment]" can\'t be used with option "[partitions]"',
        ),
    ],
)
def test_wrong_usage(ask: Run, arguments: tuple[str, ...], message: str) -> None:
    outcome = ask("topics", *arguments)
    assert outcome.code == 1
    assert outcome.err.startswith(f"pykbroker topics: {message}")


def test_if_exists_keeps_quiet(ask: Run) -> None:
    for action in ("--describe", "--delete"):
        outcome = ask("topics", action, "--topic", "none", "--if-exists")
        assert outcome == (0, "", "")


def test_replicas_by_hand(ask: Run) -> None:
    name = "cli-by-hand"
    assert ask("topics", "--create", "--topic", name, "--replica-assignment", "1,1").code == 0
    more = ("--partitions", "3", "--replica-assignment", "1,1,1")
    assert ask("topics", "--alter", "--topic", name, *more).code == 0
    assert len(ask("topics", "--describe", "--topic", name).lines) == 4
    assert ask("topics", "--delete", "--topic", name).code == 0


def test_patterns() -> None:
    chosen = topics.include_list("a.*, b")
    assert all(map(chosen.fullmatch, ("abc", "b")))
    assert not chosen.fullmatch("bc")
    with pytest.raises(CommandError, match="is an invalid regex"):  # with or without topics
        topics.include_list("(")


def test_assignments() -> None:
    assert topics.parse_assignment("1:2,2:3") == [[1, 2], [2, 3]]
    assert topics.parse_assignment(None) == []
    for text, message in (
        ("1:1", "Partition replica lists may not contain duplicate entries: 1"),
        ("1:2,1", r"Partition 1 has different replication factor: \[1\]"),
        ("x", 'For input string: "x"'),
    ):
        with pytest.raises(CommandError, match=message):
            topics.parse_assignment(text)
