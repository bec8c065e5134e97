"""Directories that fail: which calls, for how long, and on which disk."""

from __future__ import annotations

import errno

import pytest

from pykbroker.testing.world.broken_directories import BrokenDirectory
from pykbroker.testing.world.memory_files import MemoryFiles


def disk() -> MemoryFiles:
    files = MemoryFiles()
    for path in ("/a", "/a-2"):
        files.mkdir(path)
        files.write_file(f"{path}/file", b"content")
    return files


def failures(files: MemoryFiles, path: str) -> list[str]:
    """Return which of three calls fail in a directory."""
    failed = []
    for name, call in (
        ("read", lambda: files.read_file(f"{path}/file")),
        ("write", lambda: files.write_file(f"{path}/file", b"more")),
        ("rename", lambda: files.rename(f"{path}/file", f"{path}/file")),
        ("list", lambda: files.listdir(path)),
    ):
        try:
            call()
        except OSError:
            failed.append(name)
    return failed


@pytest.mark.parametrize(
    ("kind", "failing"),
    [
        ("dead", ["read", "write", "rename", "list"]),
        ("read-only", ["write", "rename"]),
        ("hiccup", ["write"]),
        ("stiff", ["rename"]),
    ],
)
def test_what_fails(kind: str, failing: list[str]) -> None:
    files = disk()
    files.broken.add(BrokenDirectory("/a", kind))
    assert failures(files, "/a") == failing
    assert failures(files, "/a-2") == []
    with files.peeked():
        assert failures(files, "/a") == []


def test_calls_that_still_succeed_are_counted() -> None:
    files = disk()
    files.broken.add(BrokenDirectory("/a", "read-only", 2))
    files.unlink("/a/other")
    files.read_file("/a/file")
    files.unlink("/a/other")
    for _ in range(2):
        with pytest.raises(OSError, match="fault of the world") as raised:
            files.unlink("/a/other")
        assert raised.value.errno == errno.EROFS


def test_it_outlives_the_process_until_it_is_mended() -> None:
    files = disk()
    files.broken.add(BrokenDirectory("/a", "dead"))
    following = files.hand_over()
    assert failures(following, "/a") == ["read", "write", "rename", "list"]
    assert "/a" in following.broken
    following.broken.mend("/a")
    assert failures(following, "/a") == []
    following.broken.add(BrokenDirectory("/a", "dead"))
    following.broken.mend_all()
    assert not following.broken
