"""fsck finds faults, names their place, and reports nothing for intact files."""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import OfflineError, fsck, open_log, partition_listing
from pykbroker.offline.storage import list_directory
from pykbroker.protocol.record_batch import build_batch, compute_crc
from tests.offline.log_writer import random_log
from tests.offline.samples import (
    BASE_MS,
    partition_directory,
    simple_batches,
    write_segment,
)


def findings(root: Path) -> list[tuple[str, str | None]]:
    return [(row["check"], row["detail"]) for row in fsck(str(root)).to_pylist()]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two segments with nothing wrong."""
    directory = partition_directory(tmp_path)
    write_segment(directory, simple_batches(20, size=500), 0)
    write_segment(directory, simple_batches(20, base_offset=200, size=500), 200)
    return tmp_path


def test_nothing_is_wrong(log: Path, tmp_path: Path):
    assert findings(log) == []
    write_segment(partition_directory(tmp_path / "odd"), simple_batches(3, codec=4))
    assert findings(tmp_path / "odd") == []
    for seed in range(3):
        random_log(tmp_path / f"transactions-{seed}", seed)
        assert findings(tmp_path / f"transactions-{seed}") == []


def test_a_half_written_end_is_not_wrong(log: Path):
    with (log / "t-0" / f"{200:020d}.log").open("ab") as opened:
        opened.write(simple_batches(1, base_offset=400)[0][:80])
    assert findings(log) == []


def test_a_wrong_checksum(log: Path):
    path = log / "t-0" / f"{0:020d}.log"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    (row,) = fsck(str(log)).to_pylist()
    assert (row["severity"], row["check"]) == ("error", "batches")
    assert (row["path"], row["position"], row["offset"]) == (str(path), 0, 0)
    assert row["detail"] == "the checksum does not match the batch"


def test_offsets_that_do_not_ascend(tmp_path: Path):
    directory = partition_directory(tmp_path)
    batches = simple_batches(3)
    path = write_segment(directory, batches, 0)
    path.write_bytes(batches[0] + batches[2] + batches[1])
    write_segment(directory, simple_batches(1, base_offset=25), 25)
    assert findings(tmp_path) == [
        ("offsets", "offset 29 cannot be in this segment"),
        ("time index", "entry 0: no batch holds offset 29"),
    ]


def test_epochs_that_go_back(tmp_path: Path):
    batches = [
        bytes(build_batch([(None, None, BASE_MS, ())], base_offset=n, leader_epoch=epoch))
        for n, epoch in enumerate((0, 3, 2))
    ]
    write_segment(partition_directory(tmp_path), batches)
    assert findings(tmp_path) == [("epochs", "leader epoch 2 after 3")]


def test_sequences(tmp_path: Path):
    def batch(offset: int, epoch: int, sequence: int) -> bytes:
        row = [(None, None, BASE_MS, ())]
        producer: dict[str, Any]
        producer = {"producer_id": 7, "producer_epoch": epoch, "base_sequence": sequence}
        return bytes(build_batch(row, base_offset=offset, **producer))

    rows = [(0, 0, 5), (1, 0, 6), (2, 0, 8), (3, 1, 0), (4, 1, 0), (9, 1, 7)]
    write_segment(partition_directory(tmp_path), [batch(*row) for row in rows])
    assert findings(tmp_path) == [
        ("sequences", "producer 7: sequence 8 where 7 is expected"),
        ("sequences", "producer 7: sequence 0 is repeated; 1 is expected"),
    ]


def test_indexes_that_lie(log: Path):
    index = log / "t-0" / f"{0:020d}.index"
    entries = bytearray(index.read_bytes())
    struct.pack_into(">i", entries, 4, 17)
    index.write_bytes(entries)
    times = log / "t-0" / f"{200:020d}.timeindex"
    entry = bytearray(times.read_bytes())
    struct.pack_into(">q", entry, 0, BASE_MS - 5)
    times.write_bytes(entry)
    kinds = findings(log)
    assert kinds[0] == (
        "index",
        "entry 0: no batch begins at 17",
    )
    assert kinds[1][0] == "time index"
    assert "but the largest up to there is" in str(kinds[1][1])
    assert len(kinds) == 2


def test_a_transaction_index_that_lies(tmp_path: Path):
    log = random_log(tmp_path, 5)
    path = sorted(log.directory.glob("*.txnindex"))[0]
    right = path.read_bytes()
    producer, first, last = struct.unpack(">qqq", right[2:26])
    path.write_bytes(right[34:])
    assert findings(tmp_path) == [
        ("aborted", f"aborted {first} to {last} of producer {producer} is not in the index")
    ]
    path.write_bytes(right[:-1])
    assert findings(tmp_path) == [("aborted", "the transaction index is damaged")]


def test_foreign_files(log: Path):
    (log / "t-0" / "notes.txt").write_text("")
    assert findings(log) == []
    (note,) = fsck(str(log), notes=True).to_pylist()
    assert (note["severity"], note["detail"]) == ("note", "notes.txt belongs to no log")


def test_a_lie_under_a_right_checksum(tmp_path: Path):
    batches = simple_batches(3)
    bad = bytearray(simple_batches(1, base_offset=30)[0])
    bad[61] = 0xFF
    struct.pack_into(">I", bad, 17, compute_crc(bad))
    write_segment(partition_directory(tmp_path), batches, index_every=10**9)
    path = next((tmp_path / "t-0").glob("*.log"))
    path.write_bytes(path.read_bytes() + bytes(bad))
    kinds = [kind for kind, _ in findings(tmp_path)]
    assert kinds == ["batches"]


def test_a_file_that_cannot_be_read_is_one_finding(log: Path, monkeypatch: pytest.MonkeyPatch):
    broken = str(log / "t-0" / f"{0:020}.log")
    opened = os.open

    def refuse(path: str, *rest: Any, **named: Any) -> int:
        if os.fspath(path) == broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO), broken)
        return opened(path, *rest, **named)

    monkeypatch.setattr(os, "open", refuse)
    found = fsck(str(log)).to_pylist()
    assert [(each["check"], each["path"]) for each in found] == [("files", broken)]
    assert "Input/output error" in found[0]["detail"]


@pytest.mark.parametrize(
    "name,payload",
    [
        ("t-0/partition.metadata", b"version: 7"),
        ("t-0/leader-epoch-checkpoint", b"0\n2\n0 0\n"),
        ("log-start-offset-checkpoint", b"?"),
        ("replication-offset-checkpoint", b"0\n1\nt 0\n"),
    ],
)
def test_small_files_that_cannot_be_parsed(log: Path, name: str, payload: bytes):
    (log / name).write_bytes(payload)
    (row,) = fsck(str(log)).to_pylist()
    assert (row["severity"], row["check"], row["path"]) == ("error", "files", str(log / name))
    assert row["detail"].startswith("cannot be read: " + Path(name).name)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["log-start-offset-checkpoint", "replication-offset-checkpoint"])
def test_a_checkpoint_that_is_no_file(log: Path, name: str, make: Callable[[Path], None]):
    make(log / name)
    (row,) = fsck(log).to_pylist()
    assert (row["severity"], row["path"]) == ("error", str(log / name))
    with pytest.raises(OfflineError, match=f"{name} is"):
        open_log(log)


def test_a_partition_that_cannot_be_listed(log: Path, monkeypatch: pytest.MonkeyPatch):
    write_segment(partition_directory(log, "u"), simple_batches(2))
    real = list_directory

    def broken(path: str) -> object:
        if path == str(log / "u-0"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return real(path)

    monkeypatch.setattr(partition_listing, "list_directory", broken)
    (row,) = fsck(str(log)).to_pylist()
    assert (row["topic"], row["path"]) == ("u", str(log / "u-0"))
    assert "cannot be listed" in row["detail"]
    with pytest.raises(OfflineError, match="cannot be listed"):
        open_log(str(log))
