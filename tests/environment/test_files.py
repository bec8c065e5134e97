"""The same tests on the disk and on the disk in memory; test_real_files has what only it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.environment.files import FileCutShort, Files
from pykbroker.environment.real.files import IOV_MAX, RealFiles
from pykbroker.testing.world.memory_files import MemoryFiles


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
    with pytest.raises(FileCutShort, match="3 bytes are missing"):
        piece.read()


def test_a_slice_can_be_read_without_waiting_once_it_is_warm(disk: tuple[Files, str]) -> None:
    files, root = disk
    file = files.open(f"{root}/a", create=True)
    file.pwritev([b"0123456789"], 0)
    piece = file.slice(2, 5)
    fetch = piece.warming(2, 5)
    assert piece.is_cached(2, 5)
    assert piece.read_cached() == b"23456"
    file.truncate(4)
    assert piece.read_cached() is None
    piece.release()
    fetch()  # may run after the release: the job holds the file open


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


def test_a_section_ends_with_what_it_raises(disk: tuple[Files, str]) -> None:
    files, root = disk
    for _ in range(2):
        with pytest.raises(OSError, match="full"), files.alone(f"{root}/a"):
            raise OSError(28, "full")
    with files.alone(f"{root}/b"):
        files.write_file(f"{root}/b", b"b")
    assert files.read_file(f"{root}/b") == b"b"


def test_closed_file_opens_again_under_its_new_name(disk: tuple[Files, str]) -> None:
    files, root = disk
    file = files.open(f"{root}/a", create=True)
    file.pwritev([b"abc"], 0)
    file.close()
    files.rename(f"{root}/a", f"{root}/b")
    file.path = f"{root}/b"
    assert file.pread(3, 0) == b"abc"
