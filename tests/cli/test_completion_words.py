from __future__ import annotations

import pytest

from pykbroker.cli.completion_words import Flag, Words, all_words
from pykbroker.cli.main import COMMANDS


@pytest.fixture(scope="module")
def words() -> dict[tuple[str, ...], Words]:
    return {each.path: each for each in all_words(COMMANDS)}


def test_every_command_has_words(words: dict[tuple[str, ...], Words]) -> None:
    assert {path[0] for path in words} == set(COMMANDS)
    for name in COMMANDS:
        assert words[name,].text == COMMANDS[name]
        assert "--help" in [flag.name for flag in words[name,].flags]


def test_subcommands_and_positional_choices(words: dict[tuple[str, ...], Words]) -> None:
    assert words["perf",].subcommands == ("produce", "consume", "end-to-end")
    assert words["completion",].subcommands == ("bash", "zsh", "fish")
    assert words["perf", "produce"].text.startswith("Measure producing")
    assert "--record-size" in [flag.name for flag in words["perf", "produce"].flags]


def test_flags(words: dict[tuple[str, ...], Words]) -> None:
    flags = {flag.name: flag for flag in words["produce",].flags}
    acks = flags["--acks"]
    assert acks == Flag("--acks", acks.text, True, ("0", "1", "all"), False)
    assert acks.text.startswith("wait for ")
    assert flags["--command-config"].is_file
    assert not flags["--json"].takes_value
    assert flags["--partition"].takes_value
    assert "-h" not in flags
