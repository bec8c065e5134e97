"""What only the disk does: descriptors, the page cache, links. test_files has the rest."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pykbroker.environment.files import ColdRead
from pykbroker.environment.real.files import RealFiles
from tests.harness.cold import empty_page_cache


def test_out_of_descriptors_an_idle_file_gives_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = RealFiles()
    opened = [files.open(str(tmp_path / str(number)), create=True) for number in range(3)]
    for file in opened[:2]:
        file.pwritev([b"x"], 0)
    real_open = os.open

    def full(path: str, flags: int, mode: int = 0o777) -> int:
        if files.open_count > 1:
            raise OSError(errno.EMFILE, "Too many open files")
        return real_open(path, flags, mode)

    monkeypatch.setattr(os, "open", full)
    assert opened[2].pwritev([b"y"], 0) == 1
    assert files.open_count == 2
    assert opened[0].pread(1, 0) == b"x"  # opened again


def test_open_descriptors_are_bounded(tmp_path: Path) -> None:
    files = RealFiles(max_open=4)
    opened = [files.open(f"{tmp_path}/{number}", create=True) for number in range(20)]
    for number, file in enumerate(opened):
        file.pwritev([str(number).encode()], 0)
    assert files.open_count <= 4
    assert [file.pread(9, 0) for file in opened] == [str(n).encode() for n in range(20)]
    assert files.open_count <= 4


def test_a_full_disk_fails_the_write(tmp_path: Path) -> None:
    full = RealFiles().open("/dev/full")
    with pytest.raises(OSError, match="space"):
        full.pwritev([b"x" * 10], 0)


def test_where_nobody_may_wait_only_the_page_cache_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = RealFiles()
    path = str(tmp_path / "a")
    file = files.open(path, create=True)
    file.pwritev([b"0123456789"], 0)
    reads: list[Callable[[], bytes]] = [
        lambda: file.pread(4, 2),
        lambda: files.read_range(path, 2, 4),
        lambda: files.read_file(path)[2:6],
    ]
    files.may_wait = False
    assert [read() for read in reads] == [b"2345"] * 3
    empty_page_cache(monkeypatch)
    for read in reads:
        with pytest.raises(ColdRead) as cold:
            read()
        cold.value.warm()
    files.may_wait = True
    assert [read() for read in reads] == [b"2345"] * 3


def test_behind_the_end_of_a_file_nothing_is_waited_for(tmp_path: Path) -> None:
    files = RealFiles()
    file = files.open(str(tmp_path / "a"), create=True)
    file.pwritev([b"0123456789"], 0)
    files.may_wait = False
    assert [file.pread(9, 8), file.pread(9, 10), file.pread(9, 50)] == [b"89", b"", b""]


def test_a_segment_behind_a_link_is_one(tmp_path: Path) -> None:
    files = RealFiles()
    (tmp_path / "elsewhere").write_bytes(b"abc")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "0.log").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "d" / "1.log").symlink_to(tmp_path / "nothing")
    assert files.list_sizes(f"{tmp_path}/d") == {"0.log": 3}


def test_what_is_behind_a_link_is_not_removed(tmp_path: Path) -> None:
    files = RealFiles()
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "0.log").write_bytes(b"abc")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    files.remove_tree(f"{tmp_path}/link")
    assert not (tmp_path / "link").is_symlink()
    assert files.list_sizes(f"{tmp_path}/kept") == {"0.log": 3}


def test_one_thread_at_a_time_is_alone_with_a_path() -> None:
    files = RealFiles()
    section: Any = files.alone("/d/a")
    with section:
        same: Any = files.alone("/d/" + "a")
        assert not same.acquire(blocking=False)
    assert same.acquire(blocking=False)
    same.release()
