"""Files are known by inode, size and first bytes, whatever their names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pykbroker.offline.file_identity import identity_of, is_same_file
from pykbroker.offline.split import Split
from pykbroker.offline.storage import open_file


@pytest.fixture
def split(tmp_path: Path) -> Split:
    path = tmp_path / "log"
    path.write_bytes(b"0123456789")
    with open_file(str(path)) as opened:
        identity = identity_of(opened)
    return Split(
        str(path), "t", 0, 0, 2, 8, behind_offset=5, file_identity=identity, head=(2, b"234")
    )


def is_same(split: Split) -> bool:
    with open_file(split.path) as opened:
        return is_same_file(opened, split)


def test_it_may_grow_if_it_was_the_last_one(split: Split):
    closed = replace(split, file_bytes=10)
    assert is_same(split)
    assert is_same(closed)
    with Path(split.path).open("ab") as opened:
        opened.write(b"more")
    assert is_same(split)
    assert not is_same(closed)


@pytest.mark.parametrize("content", [b"0123456", b"01x3456789"], ids=["cut", "written again"])
def test_what_has_changed_in_place(split: Split, content: bytes):
    Path(split.path).write_bytes(content)
    assert not is_same(split)


def test_an_equal_file_is_another_one(split: Split, tmp_path: Path):
    Path(split.path).rename(tmp_path / "old")
    Path(split.path).write_bytes(b"0123456789")
    assert not is_same(split)
    assert split.file_identity is not None
    elsewhere = ("another machine", *split.file_identity[1:])
    assert is_same(replace(split, file_identity=elsewhere))  # its numbers tell nothing here
