from __future__ import annotations

import json
from pathlib import Path

import pytest

from pykbroker.cli import group_offsets
from pykbroker.cli.command import CommandError
from tests.cli.conftest import Run


def offsets(ask: Run, group: str) -> dict[int, int]:
    """Committed offsets by partition."""
    (described,) = json.loads(ask("groups", "--describe", "--group", group, "--json").out)
    return {each["partition"]: each["currentOffset"] for each in described["partitions"]}


@pytest.mark.parametrize(
    ("way", "wanted"),
    [
        (("--to-earliest",), {0: 0, 1: 0}),
        (("--to-latest",), {0: 5, 1: 5}),
        (("--to-offset", "4"), {0: 4, 1: 4}),
        (("--to-offset", "40"), {0: 5, 1: 5}),
        (("--to-current",), {0: 3, 1: 5}),
        (("--to-datetime", "2020-09-13T12:26:40.004"), {0: 2, 1: 2}),
        (("--to-datetime", "2020-09-13T14:26:40.004+02:00"), {0: 2, 1: 2}),
        (("--by-duration", "PT1H"), {0: 5, 1: 5}),
    ],
)
def test_ways_to_reset(
    ask: Run, committed: str, filled: str, way: tuple[str, ...], wanted: dict[int, int]
) -> None:
    scope = ("--reset-offsets", "--group", committed, "--topic", filled)
    dry = ask("groups", *scope, *way, "--dry-run")
    assert offsets(ask, committed) == {0: 3}
    done = ask("groups", *scope, *way, "--execute")
    assert (dry.code, done.code) == (0, 0)
    assert done.out == dry.out
    rows = [line.split() for line in done.lines if line.startswith(committed)]
    assert rows == [[committed, filled, str(n), str(at)] for n, at in wanted.items()]
    assert offsets(ask, committed) == wanted


def test_shift(ask: Run, committed: str, filled: str) -> None:
    scope = ("--reset-offsets", "--group", committed, "--execute")
    assert ask("groups", *scope, "--all-topics", "--shift-by", "-2").code == 0
    assert offsets(ask, committed) == {0: 1}
    low = ask("groups", *scope, "--all-topics", "--shift-by", "-9")
    assert "WARN New offset (-8) is lower than earliest offset" in low.err
    assert offsets(ask, committed) == {0: 0}
    never = ask("groups", *scope, "--topic", f"{filled}:1", "--shift-by", "1")
    assert never.code == 1
    assert f"Cannot shift offset for partition {filled}-1 since there is no current" in never.err


def test_without_execute_nothing_happens(ask: Run, committed: str, filled: str) -> None:
    outcome = ask("groups", "--reset-offsets", "--group", committed, "--all-topics", "--to-latest")
    assert outcome.code == 0
    assert outcome.err.startswith("WARN: No action will be performed as the --execute option is")
    assert offsets(ask, committed) == {0: 3}


def test_export_and_import(ask: Run, committed: str, filled: str, tmp_path: Path) -> None:
    scope = ("--reset-offsets", "--group", committed)
    exported = ask("groups", *scope, "--topic", filled, "--to-latest", "--export", "--dry-run")
    assert exported.out == f"{filled},0,5\n{filled},1,5\n\n"
    plan = tmp_path / "plan.csv"
    plan.write_text(exported.out)
    assert ask("groups", *scope, "--from-file", str(plan), "--execute").code == 0
    assert offsets(ask, committed) == {0: 5, 1: 5}
    plan.write_text(f"{committed},{filled},0,1\nother,{filled},0,2\n")
    assert ask("groups", *scope, "--from-file", str(plan), "--execute").code == 0
    assert offsets(ask, committed)[0] == 1
    plan.write_text("nonsense\n")
    bad = ask("groups", *scope, "--from-file", str(plan), "--execute")
    assert f"{plan}, line 1: expected topic,partition,offset" in bad.err


def test_a_group_that_does_not_exist_yet(ask: Run, group: str, filled: str) -> None:
    scope = ("--reset-offsets", "--group", group, "--topic", f"{filled}:1", "--execute", "--json")
    outcome = ask("groups", *scope, "--to-earliest")
    assert json.loads(outcome.out) == [
        {"group": group, "topic": filled, "partition": 1, "newOffset": 0}
    ]
    assert offsets(ask, group) == {1: 0}


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        ("none", "This server does not host this topic-partition."),
        ("{topic}:9", 'The partitions "{topic}-9" do not exist'),
        ("{topic}:x", "Invalid partition 'x' specified in topic arg '{topic}:x'"),
        ("{topic}:0:1", "Invalid topic arg '{topic}:0:1', expected topic name and partitions"),
    ],
)
def test_partitions_that_are_wrong(
    ask: Run, committed: str, filled: str, scope: str, message: str
) -> None:
    where = ("--topic", scope.format(topic=filled))
    outcome = ask("groups", "--reset-offsets", "--group", committed, *where, "--to-latest",
                  "--execute")  # fmt: skip
    assert outcome.code == 1
    assert outcome.err == (
        f"\nError: Executing consumer group command failed due to {message.format(topic=filled)}\n"
    )
    assert offsets(ask, committed) == {0: 3}


def test_delete_offsets(ask: Run, committed: str, filled: str) -> None:
    outcome = ask("groups", "--delete-offsets", "--group", committed, "--topic", filled)
    assert outcome.code == 0
    assert [line.split() for line in outcome.lines] == [
        f"Request succeeded for deleting offsets from group {committed}.".split(),
        [],
        ["TOPIC", "PARTITION", "STATUS"],
        [filled, "0", "Successful"],
        [filled, "1", "Successful"],
    ]
    described = ask("groups", "--describe", "--group", committed, "--json")
    assert described.code == 1 or offsets(ask, committed) == {}


def test_delete_offsets_of_nothing(ask: Run, committed: str, filled: str) -> None:
    unknown = ask("groups", "--delete-offsets", "--group", "none", "--topic", f"{filled}:0")
    assert unknown.code == 1
    assert unknown.lines[1] == "Error: The group id does not exist."
    missing = ask("groups", "--delete-offsets", "--group", committed, "--topic", "none")
    assert missing.code == 1
    assert missing.lines[-1].split()[:2] == ["none", "-"]


def test_durations() -> None:
    assert group_offsets.parse_duration_ms("PT1H30M") == 5_400_000
    assert group_offsets.parse_duration_ms("P1DT0.5S") == 86_400_500
    assert group_offsets.parse_duration_ms("-PT1S") == -1000
    for bad in ("1H", "P", "PT", "P1M", ""):
        with pytest.raises(CommandError, match="Text cannot be parsed to a Duration"):
            group_offsets.parse_duration_ms(bad)


def test_datetimes() -> None:
    assert group_offsets.parse_datetime("1970-01-01T00:00:01.500") == 1500
    assert group_offsets.parse_datetime("1970-01-01T00:00:01Z") == 1000
    assert group_offsets.parse_datetime("1970-01-01T01:00:01.000+0100") == 1000
    for bad in ("yesterday", "1970-01-01", "1970-13-01T00:00:01.500"):
        with pytest.raises(CommandError, match="Unparseable date"):
            group_offsets.parse_datetime(bad)
