"""Snapshots: their contents, and that the live log continues without affecting them."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pykbroker.offline import OfflineError, UnknownTopic, create_snapshot, fsck, open_log
from pykbroker.offline import snapshot as subject
from pykbroker.offline.frozen_end import FrozenEnd, freeze
from pykbroker.offline.partition_files import PartitionFiles
from tests.offline.samples import partition_directory, simple_batches, write_segment
from tests.offline.test_partition_check import aborting, index_abort

HALF = simple_batches(1, base_offset=300)[0][:100]


@pytest.fixture
def live(tmp_path: Path) -> Path:
    """Three segments, the last one with half a batch and a preallocated index."""
    root = tmp_path / "live"
    directory = partition_directory(root)
    for base in (0, 100, 200):
        path = write_segment(directory, simple_batches(10, base_offset=base, size=900), base)
    with path.open("ab") as opened:
        opened.write(HALF)
    index = path.with_suffix(".index")
    index.write_bytes(index.read_bytes() + bytes(8000))
    (directory / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    (directory / f"{200:020d}.snapshot").write_bytes(b"")
    write_segment(partition_directory(root, "__consumer_offsets"), simple_batches(1))
    (root / "log-start-offset-checkpoint").write_text("0\n1\nt 0 50\n")
    return root


def test_it_holds_what_was_there(live: Path, tmp_path: Path):
    before = open_log(str(live), topic_pattern=".*").read_all()
    report = create_snapshot(str(live), str(tmp_path / "taken"), taken_ms=5)
    assert (report.partitions, report.segments) == (2, 4)
    assert report.end_offsets == {"t-0": 300, "__consumer_offsets-0": 10}
    assert open_log(report.target, topic_pattern=".*").read_all().equals(before)
    taken = tmp_path / "taken" / "t-0"
    names = {path.name for path in taken.iterdir()}
    assert {"leader-epoch-checkpoint", f"{200:020d}.snapshot", f"{100:020d}.timeindex"} <= names
    first = f"{0:020d}.log"
    assert (taken / first).stat().st_ino == (live / "t-0" / first).stat().st_ino
    last = f"{200:020d}.log"
    assert (taken / last).stat().st_ino != (live / "t-0" / last).stat().st_ino
    assert (taken / last).stat().st_size == (live / "t-0" / last).stat().st_size - len(HALF)
    assert (taken / f"{200:020d}.index").stat().st_size < 100
    manifest = json.loads((tmp_path / "taken" / "snapshot.json").read_text())
    assert manifest["end_offsets"] == report.end_offsets
    assert manifest["taken_ms"] == 5
    assert (tmp_path / "taken" / "log-start-offset-checkpoint").read_text() == (
        "0\n2\n__consumer_offsets 0 0\nt 0 50\n"
    )


def test_it_is_on_disk_when_it_is_there(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Else the broker's recovery may cut a linked one after a power failure."""
    synced = set()
    fsync = os.fsync

    def noting(descriptor: int) -> None:
        found = os.fstat(descriptor)
        synced.add((found.st_dev, found.st_ino))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    report = create_snapshot(str(live), tmp_path / "snapshot")
    everything = [Path(report.target), *Path(report.target).rglob("*")]
    assert len([path for path in everything if path.suffix == ".log"]) == report.segments > 1
    assert {(path.stat().st_dev, path.stat().st_ino) for path in everything} <= synced


def test_the_live_log_goes_on(live: Path, tmp_path: Path):
    create_snapshot(str(live), str(tmp_path / "taken"), ["t"])
    before = open_log(str(tmp_path / "taken")).read_all()
    with (live / "t-0" / f"{200:020d}.log").open("ab") as opened:
        opened.write(simple_batches(1, base_offset=300)[0][100:])
    (live / "t-0" / f"{0:020d}.log").unlink()
    (live / "t-0" / f"{100:020d}.log").unlink()
    assert open_log(str(tmp_path / "taken")).read_all().equals(before)
    assert not (tmp_path / "taken" / "__consumer_offsets-0").exists()


def test_refusals(live: Path, tmp_path: Path):
    with pytest.raises(UnknownTopic, match="no topic 'x'"):
        create_snapshot(str(live), str(tmp_path / "taken"), ["x"])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    with pytest.raises(OfflineError, match="already exists and is not empty"):
        create_snapshot(str(live), str(tmp_path / "full"))
    with pytest.raises(OfflineError, match="local directories"):
        create_snapshot("s3://bucket/logs", str(tmp_path / "taken"))


def test_another_file_system(live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(source: str, target: str) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(OfflineError, match="cannot be linked"):
        create_snapshot(str(live), str(tmp_path / "one"), may_copy=False)
    report = create_snapshot(str(live), str(tmp_path / "two"))
    assert report.linked_bytes == 0
    assert report.not_linked == "segments cannot be linked: Invalid cross-device link"
    assert open_log(report.target).read_all().num_rows == 250


def test_a_full_disk_on_another_file_system_is_told_as_that(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(source: str, target: str) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    def full(source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), source, None, target)

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(shutil, "copyfile", full)
    why = "No space left on device.*segments cannot be linked: Invalid cross-device"
    with pytest.raises(OfflineError, match=why):
        create_snapshot(str(live), str(tmp_path / "taken"))
    assert list((tmp_path / "taken").iterdir()) == []


def test_a_segment_that_goes_away_meanwhile(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    link = os.link

    def first_one_is_gone(source: str, target: str) -> None:
        monkeypatch.setattr(os, "link", link)
        for path in (live / "t-0").glob(f"{0:020d}.*"):
            path.unlink()
        raise FileNotFoundError(source)

    monkeypatch.setattr(os, "link", first_one_is_gone)
    report = create_snapshot(str(live), str(tmp_path / "taken"), ["t"])
    assert report.segments == 2
    assert open_log(report.target).read_all()["offset"].to_pylist() == list(range(100, 300))


def test_a_segment_that_is_replaced_between_the_listing_and_the_link(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    link = os.link

    def a_swap_comes_first(source: str, target: str) -> None:
        monkeypatch.setattr(os, "link", link)
        first = live / "t-0" / f"{0:020d}.log"
        first.rename(f"{first}.deleted")
        write_segment(live / "t-0", simple_batches(4, size=900), 0)
        write_segment(live / "t-0", simple_batches(6, base_offset=40, size=900), 40)
        link(source, target)

    monkeypatch.setattr(os, "link", a_swap_comes_first)
    report = create_snapshot(str(live), str(tmp_path / "taken"), ["t"])
    assert report.segments == 4
    assert open_log(report.target).read_all()["offset"].to_pylist() == list(range(50, 300))


def test_a_segment_under_its_swap_name_has_its_own_in_the_snapshot(live: Path, tmp_path: Path):
    for path in (live / "t-0").glob(f"{100:020d}.*"):
        path.rename(f"{path}.swap")
    report = create_snapshot(str(live), str(tmp_path / "taken"), ["t"])
    assert not list((tmp_path / "taken" / "t-0").glob("*.swap"))
    assert open_log(report.target).read_all()["offset"].to_pylist() == list(range(50, 300))


@pytest.mark.parametrize("is_before", [True, False])
def test_a_transaction_index_made_after_the_listing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_before: bool
):
    """An abort before the end is frozen is in the snapshot's index, a later one is not."""
    path, abort = aborting(tmp_path / "live")
    real = freeze

    def beside_a_writer(files: PartitionFiles) -> FrozenEnd:
        end = None if is_before else real(files)
        with path.open("ab") as opened:
            opened.write(abort)
        index_abort(path)
        return end or real(files)

    monkeypatch.setattr(subject, "freeze", beside_a_writer)
    report = create_snapshot(str(tmp_path / "live"), str(tmp_path / "taken"))
    assert report.end_offsets == {"t-0": 3 if is_before else 2}
    assert fsck(report.target).to_pylist() == []


@pytest.mark.parametrize("name", ["live", "live/inside", "live/t-9", "link/t-9"])
def test_a_target_inside_of_the_source(live: Path, tmp_path: Path, name: str):
    (tmp_path / "link").symlink_to(live)
    with pytest.raises(OfflineError, match="the target must be outside"):
        create_snapshot(str(live), str(tmp_path / name))
    assert not (live / "inside").exists()
    assert not (live / "t-9").exists()


def test_of_one_partition(live: Path, tmp_path: Path):
    source = str(live / "t-0")
    with pytest.raises(OfflineError, match=f"is inside {live}: the target must be outside"):
        create_snapshot(source, str(live / "taken"))
    report = create_snapshot(source, str(tmp_path / "taken"))
    assert report.end_offsets == {"t-0": 300}
    assert (tmp_path / "taken" / "meta.properties").read_bytes() == (
        live / "meta.properties"
    ).read_bytes()


def test_a_snapshot_that_fails_leaves_nothing(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(source: str, target: str) -> None:
        raise OSError(18, "Invalid cross-device link")

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", refuse)
        with pytest.raises(OfflineError, match="cannot be linked"):
            create_snapshot(str(live), str(tmp_path / "taken"), may_copy=False)
    assert list((tmp_path / "taken").iterdir()) == []
    assert create_snapshot(str(live), str(tmp_path / "taken")).partitions == 2


@pytest.mark.parametrize(
    "name", ["leader-epoch-checkpoint", f"{0:020d}.txnindex", "../meta.properties"]
)
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_not_in_it(tmp_path: Path, name: str, make: Callable[[Path], None]):
    directory = partition_directory(tmp_path / "live")
    write_segment(directory, simple_batches(2))
    (directory / name).unlink(missing_ok=True)
    make(directory / name)
    create_snapshot(tmp_path / "live", tmp_path / "taken")
    assert not (tmp_path / "taken" / "t-0" / name).exists()
    assert open_log(tmp_path / "taken").read_all().num_rows == 20
