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


def _fail_while_writing(target: Target) -> None:
    with target.open("y") as stream:
        stream.write(b"half")
        stream.write(bytes(1 // 0))
