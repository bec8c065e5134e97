from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.json_files import entries, read_json_object


def test_an_object_is_read(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text('{"version": 1, "topics": [{"topic": "a", "more": null}]}')
    root = read_json_object(str(file))
    assert entries(root, "topics", {"topic": str}) == [{"topic": "a", "more": None}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The input string is not a valid JSON"),
        (b"{", "The input string is not a valid JSON"),
        (b"[]", "The input string is not a valid JSON"),
        (b"[" * 100_000, "The input string is not a valid JSON"),
        (b'{"version": "1"}', "Not supported version field value 1"),
        (b'{"version": 2}', "Not supported version field value 2"),
        (b"\xff", "'utf-8' codec can't decode"),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "f"
    file.write_bytes(content)
    with pytest.raises(CommandError, match=message):
        read_json_object(str(file))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, 'Field "topics" is no array'),
        ([1], "Not a topic: 1"),
        ([{}], 'Missing or wrong field "topic" in {}'),
        ([{"topic": True}], 'Missing or wrong field "topic" in {"topic": true}'),
    ],
)
def test_entries_that_are_wrong(value: object, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        entries({"topics": value}, "topics", {"topic": str}, "topic")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="none: No such file or directory"):
        read_json_object(str(tmp_path / "none"))
