"""Directories that workers write into."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.spark.target import Target


@pytest.mark.parametrize("prefix", ["", "file://", "file:"])
def test_whole_files_only(tmp_path: Path, prefix: str) -> None:
    target = Target(f"{prefix}{tmp_path}/a/b")
    assert target.names() == []
    with target.open("x") as stream:
        stream.write(b"half")
        assert "x" not in target.names()
    assert target.names() == ["x"]
    assert target.size("x") == 4
    assert (target.has("x"), target.has("y")) == (True, False)
    with pytest.raises(ZeroDivisionError):
        _fail_while_writing(target)
    assert target.names() == ["x"]
    target.write("x", b"again!")
    assert (tmp_path / "a" / "b" / "x").read_bytes() == b"again!"
    target.delete("x")
    assert "x" not in target.names()


def test_whether_it_can_be_written_to(tmp_path: Path) -> None:
    target = Target(str(tmp_path / "new"))
    target.check_writable()
    assert target.names() == []
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file/out"):
        Target(str(tmp_path / "file" / "out")).check_writable()


def test_the_first_error_is_told(tmp_path: Path) -> None:
    """Not that there is nothing to delete."""
    with pytest.raises(OSError, match="name too long"):
        Target(str(tmp_path)).write("y" * 250, b"")
    with pytest.raises(ZeroDivisionError):
        _fail_while_writing(Target(str(tmp_path)), tmp_path)


def test_two_writers_of_one_file(tmp_path: Path) -> None:
    target = Target(str(tmp_path))
    with target.open("x") as first, target.open("x") as second:
        first.write(b"first")
        second.write(b"second")
    assert target.read("x") == b"first"  # it ended last


def test_a_file_that_cannot_take_its_name_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "y").mkdir()
    with pytest.raises(OSError, match="Is a directory"):
        Target(str(tmp_path)).write("y", b"whole")
    assert Target(str(tmp_path)).names() == []


def _fail_while_writing(target: Target, where: Path | None = None) -> None:
    with target.open("y") as stream:
        stream.write(b"half")
        if where is not None:
            (passing,) = where.glob(".y.*.passing")
            passing.unlink()
        stream.write(bytes(1 // 0))
