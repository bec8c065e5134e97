"""What the directory of a partition holds; what has the name of a file of a log, and is none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pykbroker.offline import OfflineError, fsck, open_log
from pykbroker.offline.layout import read_partitions
from tests.offline.samples import partition_directory, simple_batches, write_segment


def test_only_what_belongs_to_the_log(tmp_path: Path):
    directory = partition_directory(tmp_path, "t", 3)
    path = write_segment(directory, simple_batches(2))
    write_segment(directory, simple_batches(2, base_offset=20), 20)
    for name in (
        f"{40:020d}.log.deleted",
        f"{40:020d}.log.cleaned",
        f"{40:020d}.log.swap",
        "leader-epoch-checkpoint",
        "notes.txt",
        "40.log",
    ):
        (directory / name).write_bytes(b"x")
    (directory / f"{20:020d}.snapshot").write_bytes(b"")
    (directory / f"{20:020d}.txnindex").write_bytes(b"")
    (directory / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ")
    partition_directory(tmp_path, "t-4.0123456789abcdef0123456789abcdef-delete").rename(
        tmp_path / "t-4.0123456789abcdef0123456789abcdef-delete"
    )
    (files,) = read_partitions([str(tmp_path)])
    assert str(files) == "t-3"
    assert files.topic_id == bytes(15) + b"\x01"
    assert [each.base_offset for each in files.segments] == [0, 20]
    assert files.segments[0].path == str(path)
    assert files.segments[0].size_bytes == path.stat().st_size == files.size_bytes // 2
    assert files.segments[0].txn_index_path is None
    assert files.segments[1].txn_index_path == str(directory / f"{20:020d}.txnindex")
    assert files.producer_snapshots == ((20, str(directory / f"{20:020d}.snapshot")),)
    assert files.foreign == ("40.log", "notes.txt")


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


@pytest.mark.parametrize("make", [_dangling, os.mkfifo, os.mkdir])
def test_a_segment_that_is_no_file_is_not_left_out(tmp_path: Path, make: Callable[[Path], None]):
    directory = partition_directory(tmp_path)
    write_segment(directory, simple_batches(2))
    make(directory / f"{20:020d}.log")
    with pytest.raises(OfflineError, match=r"00020\.log is (neither a file|a directory)"):
        open_log(str(tmp_path))
    found = fsck(tmp_path).to_pylist()
    assert [(row["check"], row["path"]) for row in found] == [
        ("files", str(directory / f"{20:020d}.log"))
    ]


def test_a_partition_that_is_a_link_to_nothing(tmp_path: Path):
    write_segment(partition_directory(tmp_path), simple_batches(2))
    _dangling(tmp_path / "u-0")
    assert open_log(str(tmp_path), "t").read_all().num_rows == 20
    with pytest.raises(OfflineError, match="u-0 is neither a file nor a directory"):
        open_log(str(tmp_path))
    (row,) = fsck(tmp_path).to_pylist()
    assert (row["topic"], row["path"]) == ("u", str(tmp_path / "u-0"))


@pytest.mark.parametrize("make", [_dangling, os.mkfifo, os.mkdir])
def test_an_index_that_is_no_file_is_done_without(tmp_path: Path, make: Callable[[Path], None]):
    directory = partition_directory(tmp_path)
    write_segment(directory, simple_batches(2))
    index = directory / f"{0:020d}.index"
    index.unlink(missing_ok=True)
    make(index)
    assert open_log(str(tmp_path), start_offsets=15).read_all().num_rows == 5
    (row,) = fsck(tmp_path).to_pylist()
    assert (row["severity"], row["path"]) == ("error", str(index))
