from __future__ import annotations

import pytest

from pykbroker.cli.main import COMMANDS
from pykbroker.cli.near_names import near_command
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    "name, near",
    [
        ("topic", "topics"),
        ("dump_log", "dump-log"),
        ("consum", "consume"),
        ("kafka-topics.sh", "topics"),
        ("kafka-consumer-groups.sh", "groups"),
        ("consumer-groups", "groups"),
        ("kafka-metadata-quorum", "quorum"),
        ("kafka-console-consumer.sh", "console-consumer"),
    ],
)
def test_commands(name: str, near: str) -> None:
    assert near_command(name, COMMANDS) == f" Did you mean {near}?"


def test_nothing_is_near() -> None:
    assert near_command("xyzzy", COMMANDS) == ""


def test_flags(run: Run) -> None:
    outcome = run("topics", "--bootstrp-server", "x", "--list")
    assert (outcome.code, outcome.out) == (1, "")
    assert "unrecognized arguments: --bootstrp-server x. Did you mean --bootstrap-server?\n" in (
        outcome.err
    )
    assert "Did you mean" not in run("topics", "--xyzzy").err


def test_subcommands(run: Run) -> None:
    assert "Did you mean describe?\n" in run("quorum", "descrbe").err
    assert "Did you mean" not in run("quorum", "xyzzy").err
