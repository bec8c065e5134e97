"""A split is read from what it was planned on, or by its offsets from what took its place."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from pykbroker.offline import open_log
from pykbroker.offline.faults import OffsetsGone, SegmentGone
from pykbroker.offline.reader import LogScan
from pykbroker.offline.split import Split
from pykbroker.offline.split_file import open_parts
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import build_batch
from tests.offline.samples import partition_directory, simple_batches, write_segment

DECODERS = pytest.mark.parametrize("decoder", ["numpy", "plain"])
LOSS = pytest.mark.parametrize("fail_on_data_loss", [True, False])


def batches(offsets: Iterable[int]) -> list[bytes]:
    return [each for at in offsets for each in simple_batches(1, 1, base_offset=at)]


def rewrite(directory: Path, base: int, offsets: Iterable[int]) -> None:
    """As the cleaner does: a new file under the old name."""
    (directory / f"{base:020d}.log").unlink(missing_ok=True)
    write_segment(directory, batches(offsets), base)


def offsets_of(log: LogScan) -> list[int]:
    rows: list[int] = log.read_all().column("offset").to_pylist()
    assert log.corrupt_batches == 0
    return rows


def test_the_file_or_its_old_name_or_nothing(tmp_path: Path):
    path = tmp_path / "log"
    path.write_bytes(b"12345")
    split = Split(str(path), "t", 0, 0, 0, 5, file_bytes=5)
    for expected in (path, tmp_path / "log.deleted"):
        ((_, opened),) = open_parts(split)
        with opened:
            assert opened.read(9, 0) == b"12345"
        if expected == path:
            path.rename(tmp_path / "log.deleted")
            path.write_bytes(b"123")
    (tmp_path / "log.deleted").unlink()
    with pytest.raises(OffsetsGone, match="is no longer the same file"):
        list(open_parts(split))
    assert list(open_parts(replace(split, fail_on_data_loss=False))) == []


@DECODERS
@LOSS
@pytest.mark.parametrize("is_merged", [False, True])
@pytest.mark.parametrize("split_bytes", [100, 1 << 20])
def test_what_survives_a_compaction_is_read(
    tmp_path: Path, decoder: str, fail_on_data_loss: bool, is_merged: bool, split_bytes: int
):
    directory = partition_directory(tmp_path)
    for low, high in ((0, 10), (10, 20), (20, 21)):
        write_segment(directory, batches(range(low, high)), low, index_every=0)
    log = open_log(
        str(tmp_path),
        decoder=decoder,
        fail_on_data_loss=fail_on_data_loss,
        split_bytes=split_bytes,
    )
    assert len(log.splits) == (3 if split_bytes > 1000 else 21)
    if is_merged:
        rewrite(directory, 0, [*range(2, 10), *range(11, 20)])
        (directory / f"{10:020d}.log").unlink()
    else:
        rewrite(directory, 0, range(2, 10))
        rewrite(directory, 10, range(11, 20))
    assert offsets_of(log) == [*range(2, 10), *range(11, 21)]


@DECODERS
@pytest.mark.parametrize("is_kept", [True, False])
def test_the_last_segment_rolls_and_is_compacted(tmp_path: Path, decoder: str, is_kept: bool):
    directory = partition_directory(tmp_path)
    path = write_segment(directory, batches(range(20)), 0, index_every=0)
    log = open_log(str(tmp_path), decoder=decoder, split_bytes=500)
    if is_kept:
        path.rename(f"{path}.deleted")
    rewrite(directory, 0, [3, 5, 11, 19])
    write_segment(directory, batches(range(20, 25)), 20)
    assert offsets_of(log) == (list(range(20)) if is_kept else [3, 5, 11, 19])


@DECODERS
def test_the_last_segment_grows(tmp_path: Path, decoder: str):
    path = write_segment(partition_directory(tmp_path), batches(range(20)), 0)
    log = open_log(str(tmp_path), decoder=decoder)
    with path.open("ab") as opened:
        opened.write(b"".join(batches(range(20, 22))))
    assert offsets_of(log) == list(range(20))
    inode = path.stat().st_ino
    assert log.splits[0].file_identity == (os.uname().nodename, path.stat().st_dev, inode)


@DECODERS
def test_a_truncation_is_told_as_such(tmp_path: Path, decoder: str):
    path = write_segment(partition_directory(tmp_path), batches(range(20)), 0)
    options = {"decoder": decoder, "split_bytes": 500}
    logs = [
        open_log(str(tmp_path), fail_on_data_loss=each, **options)  # type: ignore[arg-type]
        for each in (True, False)
    ]
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(SegmentGone, match="the log was truncated, it ends at 10 now"):
        logs[0].read_all()
    assert offsets_of(logs[1]) == list(range(10))


@DECODERS
def test_retention(tmp_path: Path, decoder: str):
    directory = partition_directory(tmp_path)
    for low in (0, 10):
        write_segment(directory, batches(range(low, low + 10)), low)
    logs = [
        open_log(str(tmp_path), fail_on_data_loss=each, decoder=decoder) for each in (True, False)
    ]
    (directory / f"{0:020d}.log").unlink()
    with pytest.raises(SegmentGone, match=r"the log begins at 10 now \(retention\)"):
        logs[0].read_all()
    assert offsets_of(logs[1]) == list(range(10, 20))


@DECODERS
def test_a_topic_made_again_is_another_one(tmp_path: Path, decoder: str):
    directory = partition_directory(tmp_path)
    metadata = directory / "partition.metadata"
    metadata.write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAg\n")
    path = write_segment(directory, batches(range(20)), 0)
    logs = [
        open_log(str(tmp_path), fail_on_data_loss=each, decoder=decoder) for each in (True, False)
    ]
    path.rename(tmp_path / "elsewhere")  # its inode is not free
    write_segment(directory, simple_batches(30, 1, size=90), 0)
    metadata.write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAw\n")
    with pytest.raises(SegmentGone, match="its name now belongs to another topic"):
        logs[0].read_all()
    assert offsets_of(logs[1]) == []


@DECODERS
def test_aborted_records_stay_aborted(tmp_path: Path, decoder: str):
    def transaction(base: int, producer: int) -> bytes:
        return bytes(
            build_batch(
                [(b"k", b"v" * 50, 0, ())] * 2,
                base_offset=base,
                producer_id=producer,
                producer_epoch=0,
                base_sequence=0,
                is_transactional=True,
            )
        )

    def marker(base: int, producer: int, kind: int) -> bytes:
        made = build_marker_batch(
            EndTxnMarker(kind, 0), producer_id=producer, producer_epoch=0, timestamp_ms=0
        )
        made[0:8] = base.to_bytes(8)
        return bytes(made)

    directory = partition_directory(tmp_path)
    old = [transaction(0, 7), transaction(2, 8), marker(4, 7, ABORT), marker(5, 8, COMMIT)]
    write_segment(directory, [*batches([6]), *batches([7])], 6)
    path = write_segment(directory, old, 0)
    log = open_log(str(tmp_path), decoder=decoder, isolation="read_committed")
    path.unlink()
    write_segment(directory, old[:3], 0)  # of the open range, the marker of 8 is gone
    assert offsets_of(log) == [2, 3, 6, 7]
