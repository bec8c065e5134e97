"""The same tests on the disk and on the disk in memory; then what only the disk does."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pykbroker.log.files import IOV_MAX, ColdRead, Files, RealFiles
from pykbroker.log.memory_files import MemoryFiles


@pytest.fixture(params=["real", "memory"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Files, str]:
    if request.param == "real":
        return RealFiles(), str(tmp_path)
    files = MemoryFiles()
    files.mkdir("/d")
    return files, "/d"


def test_write_then_read(disk: tuple[Files, str]) -> None:
    files, root = disk
    file = files.open(f"{root}/a", create=True)
    assert file.size == 0
    assert file.pwritev([b"ab", bytearray(b"cd"), memoryview(b"ef")], 0) == 6
    assert file.size == 6
    assert file.pread(3, 2) == b"cde"
    assert file.pread(10, 4) == b"ef"
    assert file.pread(10, 6) == b""
    assert files.size(f"{root}/a") == 6
    file.sync()


def test_more_parts_than_one_writev_takes(disk: tuple[Files, str]) -> None:
    files, root = disk
    file = files.open(f"{root}/a", create=True)
    parts = [bytes([number % 251]) for number in range(2 * IOV_MAX + 7)]
    assert file.pwritev(parts, 0) == len(parts)
    assert file.pread(len(parts), 0) == b"".join(parts)


def test_truncate_and_grow(disk: tuple[Files, str]) -> None:
    files, root = disk
    file = files.open(f"{root}/a", create=True)
    file.pwritev([b"abcdef"], 0)
    file.truncate(2)
    assert (file.size, file.pread(9, 0)) == (2, b"ab")
    files.resize(f"{root}/sparse", 10)
    assert files.read_file(f"{root}/sparse") == bytes(10)
    files.resize(f"{root}/sparse", 3)
    assert files.size(f"{root}/sparse") == 3


def test_missing_files_are_file_not_found(disk: tuple[Files, str]) -> None:
    files, root = disk
    for attempt in (
        lambda: files.open(f"{root}/no"),
        lambda: files.read_file(f"{root}/no"),
        lambda: files.read_range(f"{root}/no", 0, 1),
        lambda: files.size(f"{root}/no"),
        lambda: files.rename(f"{root}/no", f"{root}/other"),
        lambda: files.listdir(f"{root}/no"),
        lambda: files.unlink(f"{root}/no", missing_ok=False),
        lambda: files.open(f"{root}/no/deeper", create=True),
    ):
        with pytest.raises(FileNotFoundError):
            attempt()
    files.unlink(f"{root}/no")
    assert not files.exists(f"{root}/no")


def test_directories(disk: tuple[Files, str]) -> None:
    files, root = disk
    files.mkdir(f"{root}/x/y")
    files.mkdir(f"{root}/x/y")
    files.write_file(f"{root}/x/b", b"12")
    files.write_file(f"{root}/x/a", b"1", sync=True)
    assert sorted(files.listdir(f"{root}/x")) == ["a", "b", "y"]
    assert files.list_sizes(f"{root}/x") == {"a": 1, "b": 2}
    assert files.is_dir(f"{root}/x/y")
    assert not files.is_dir(f"{root}/x/a")
    files.rename(f"{root}/x", f"{root}/z")
    assert files.read_range(f"{root}/z/b", 1, 5) == b"2"
    files.sync_dir(f"{root}/z")
    files.sync_file(f"{root}/z/a")
    files.remove_tree(f"{root}/z")
    assert not files.exists(f"{root}/z")


def test_replace_file_leaves_no_temporary(disk: tuple[Files, str]) -> None:
    files, root = disk
    files.replace_file(f"{root}/c", b"one")
    files.replace_file(f"{root}/c", b"two")
    assert files.read_file(f"{root}/c") == b"two"
    assert files.listdir(root) == ["c"]


def test_a_slice_outlives_its_file(disk: tuple[Files, str]) -> None:
    files, root = disk
    file = files.open(f"{root}/a", create=True)
    file.pwritev([b"0123456789"], 0)
    piece = file.slice(2, 5)
    files.rename(f"{root}/a", f"{root}/a.deleted")
    file.close()
    files.unlink(f"{root}/a.deleted")
    assert (len(piece), piece.part_size(), piece.read()) == (5, 5, b"23456")
    piece.release()


def test_a_slice_of_a_file_cut_meanwhile_is_an_error(disk: tuple[Files, str]) -> None:
    files, root = disk
    file = files.open(f"{root}/a", create=True)
    file.pwritev([b"0123456789"], 0)
    piece = file.slice(2, 5)
    file.truncate(4)
    with pytest.raises(OSError, match="only 2 left"):
        piece.read()


def test_modified_time_and_usage(disk: tuple[Files, str]) -> None:
    files, root = disk
    files.write_file(f"{root}/a", b"x")
    files.set_modified_ms(f"{root}/a", 1_234_567)
    assert files.modified_ms(f"{root}/a") == 1_234_567
    total, usable = files.disk_usage(root)
    assert 0 < usable <= total


def test_lock_is_exclusive(disk: tuple[Files, str]) -> None:
    files, root = disk
    lock = files.lock(f"{root}/.lock")
    assert lock is not None
    assert files.lock(f"{root}/.lock") is None
    lock.release()
    again = files.lock(f"{root}/.lock")
    assert again is not None
    again.release()


def test_closed_file_opens_again_under_its_new_name(disk: tuple[Files, str]) -> None:
    files, root = disk
    file = files.open(f"{root}/a", create=True)
    file.pwritev([b"abc"], 0)
    file.close()
    files.rename(f"{root}/a", f"{root}/b")
    file.path = f"{root}/b"
    assert file.pread(3, 0) == b"abc"


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
    preadv = os.preadv

    def never_cached(fd: int, buffers: list[bytearray], position: int, flags: int = 0) -> int:
        if flags & os.RWF_NOWAIT:
            raise BlockingIOError
        return preadv(fd, buffers, position)

    monkeypatch.setattr(os, "preadv", never_cached)
    for read in reads:
        with pytest.raises(ColdRead) as cold:
            read()
        cold.value.warm()
    files.may_wait = True
    assert [read() for read in reads] == [b"2345"] * 3


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
