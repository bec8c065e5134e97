from __future__ import annotations

import json
from pathlib import Path

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.delete_records import read_offsets
from tests.cli.conftest import Run


def offsets_file(directory: Path, *partitions: object, version: int = 1) -> Path:
    file = directory / "offsets.json"
    file.write_text(json.dumps({"partitions": partitions, "version": version}))
    return file


def entry(topic: str, partition: int, offset: int) -> dict[str, object]:
    return {"topic": topic, "partition": partition, "offset": offset}


def test_records_are_deleted(ask: Run, filled: str, tmp_path: Path) -> None:
    file = offsets_file(tmp_path, entry(filled, 0, 2), entry(filled, 1, -1))
    outcome = ask("delete-records", "--offset-json-file", str(file))
    assert (outcome.code, outcome.lines) == (
        0,
        [
            "Executing records delete operation",
            "Records delete operation completed:",
            f"partition: {filled}-0\tlow_watermark: 2",
            f"partition: {filled}-1\tlow_watermark: 5",
        ],
    )
    at = ("--topic", filled, "--time", "earliest")
    assert ask("get-offsets", *at).lines == [f"{filled}:0:2", f"{filled}:1:5"]


def test_what_cannot_be_deleted(ask: Run, filled: str, tmp_path: Path) -> None:
    file = offsets_file(tmp_path, entry(filled, 0, 99), entry("none", 0, 1))
    outcome = ask("delete-records", "--offset-json-file", str(file), "--json")
    assert outcome.code == 1
    errors = {each["topic"]: each["error"] for each in json.loads(outcome.out)}
    assert errors[filled].startswith("The requested offset is not within the range")
    assert errors["none"] == "This server does not host this topic-partition."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"version": 1}', "Missing partitions field"),
        ('{"version": 2, "partitions": []}', "Not supported version field value 2"),
        ('{"partitions": [1]}', "Not a partition: 1"),
        ('{"partitions": [{"topic": "a"}]}', 'Missing or wrong field "partition"'),
        ('{"partitions": [{"topic": 1}]}', 'Missing or wrong field "topic"'),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "f"
    file.write_text(text)
    with pytest.raises(CommandError, match=message):
        read_offsets(str(file))


def test_a_partition_twice(tmp_path: Path) -> None:
    file = offsets_file(tmp_path, entry("a", 0, 1), entry("a", 0, 2))
    with pytest.raises(CommandError, match="contains duplicate topic partitions: a-0"):
        read_offsets(str(file))
