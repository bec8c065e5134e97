from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run


def test_list(ask: Run, committed: str) -> None:
    assert committed in ask("groups", "--list").lines
    with_state = ask("groups", "--list", "--state", "--type").lines
    assert with_state[0].split() == ["GROUP", "TYPE", "STATE"]
    assert [committed, "Classic", "Empty"] in [line.split() for line in with_state]
    assert [committed, "Empty"] in [
        line.split() for line in ask("groups", "--list", "--state", "empty,Stable").lines
    ]
    assert committed not in ask("groups", "--list", "--state", "Stable").out
    listed = json.loads(ask("groups", "--list", "--json").out)
    assert {"group": committed, "type": "Classic", "state": "Empty"} in listed


def test_delete(ask: Run, committed: str) -> None:
    outcome = ask("groups", "--delete", "--group", committed, "--group", "none")
    assert outcome.code == 1
    assert outcome.lines == [
        "",
        "Error: Deletion of some consumer groups failed:",
        (
            "* Group 'none' could not be deleted due to: "
            "org.apache.kafka.common.errors.GroupIdNotFoundException: The group id does not exist."
        ),
        "",
        f"These consumer groups were deleted successfully: '{committed}'",
    ]
    assert committed not in ask("groups", "--list").lines


def test_delete_alone(ask: Run, committed: str) -> None:
    outcome = ask("groups", "--delete", "--group", committed)
    assert (outcome.code, outcome.out) == (
        0,
        f"Deletion of requested consumer groups ('{committed}') was successful.\n",
    )


def test_validate_regex(run: Run) -> None:
    good = run("groups", "--validate-regex", "a.*")
    assert (good.code, good.out) == (0, "The regular expression `a.*` is valid.\n")
    bad = run("groups", "--validate-regex", "(")
    assert bad.code == 1
    assert bad.out.startswith("The regular expression `(` is invalid: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Command must include exactly one action: --list, --describe, --delete"),
        (("--describe",), "Option [describe] takes one of these options: [group], [all-groups]"),
        (("--describe", "--group", "a", "--all-groups"), 'Option "[group]" can'),
        (
            ("--describe", "--group", "a", "--members", "--offsets"),
            "Option [describe] takes at most one of these options: [members], [offsets], [state]",
        ),
        (
            ("--describe", "--group", "a", "--state", "x"),
            "Option [describe] does not take a value for [state]",
        ),
        (("--list", "--members"), "Options --members, --offsets and --verbose need --describe"),
        (("--delete", "--group", "a", "--topic", "t"), "The consumer does not support"),
        (("--delete-offsets", "--group", "a"), "Option [delete-offsets] takes the following"),
        (
            ("--reset-offsets", "--group", "a", "--dry-run", "--topic", "t"),
            "Option '[reset-offsets]' requires one of the following scenarios: [to-offset]",
        ),
        (
            ("--reset-offsets", "--group", "a", "--dry-run", "--execute", "--to-latest"),
            "Option [reset-offsets] only accepts one of [execute] and [dry-run]",
        ),
        (
            ("--reset-offsets", "--group", "a", "--dry-run", "--to-latest"),
            "One of the reset scopes should be defined: --all-topics, --topic.",
        ),
        (("--describe", "--group", "a", "--type", "x"), "Option --type needs --list"),
    ],
)
def test_wrong_usage(ask: Run, arguments: tuple[str, ...], message: str) -> None:
    outcome = ask("groups", *arguments)
    assert outcome.code == 1
    assert outcome.err.startswith(f"pykbroker groups: {message}")


def test_refusals(ask: Run) -> None:
    failed = "\nError: Executing consumer group command failed due to "
    state = ask("groups", "--list", "--state", "bogus")
    assert state.code == 1
    assert state.err.startswith(f"{failed}Invalid state list 'bogus'. Valid state are: Empty, Dead")
    unknown = ask("groups", "--describe", "--group", "none")
    assert (unknown.code, unknown.err) == (1, f"{failed}Group none not found.\n")
