"""Faults in the headers and indexes of a partition, one each, and what is not a fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pykbroker.log.segments.txn_index import AbortedTxn, TransactionIndex
from pykbroker.offline import partition_check
from pykbroker.offline.layout import read_partitions
from pykbroker.offline.partition_check import PartitionCheck
from pykbroker.offline.segment_walk import HeaderRun, header_tables
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import build_batch
from tests.offline.samples import BASE_MS, partition_directory, write_segment

Found = list[tuple[str, str, int | None]]


def batch(
    base: int, count: int = 10, sequence: int = -1, producer: int = -1, epoch: int = 0, **more: Any
) -> bytes:
    rows = [(b"k", b"v" * 50, BASE_MS + base + n, ()) for n in range(count)]
    return bytes(
        build_batch(
            rows,
            base_offset=base,
            producer_id=producer,
            producer_epoch=epoch if producer >= 0 else -1,
            base_sequence=sequence,
            is_transactional=bool(more.pop("transactional", 0)),
            **more,
        )
    )


def marker(base: int, kind: int, producer: int, epoch: int = 0) -> bytes:
    made = build_marker_batch(
        EndTxnMarker(kind, 0),
        producer_id=producer,
        producer_epoch=epoch,
        timestamp_ms=BASE_MS + base,
    )
    made[0:8] = base.to_bytes(8)
    return bytes(made)


def check(root: Path, index_every: int = 300) -> Found:
    (files,) = read_partitions([str(root)])
    found = PartitionCheck(files).findings()
    return [(each.severity, each.check, each.offset) for each in found]


def written(root: Path, *segments: list[bytes]) -> Path:
    directory = partition_directory(root)
    for each in segments:
        write_segment(directory, each, index_every=300)
    return directory


def test_sound(tmp_path: Path):
    first = [batch(at, sequence=at, producer=7) for at in range(0, 100, 10)]
    second = [batch(at, sequence=at, producer=7) for at in range(100, 200, 10)]
    written(tmp_path, first, second)
    assert check(tmp_path) == []


def test_offsets_that_go_back(tmp_path: Path):
    written(tmp_path, [batch(0), batch(5), batch(20)])
    assert ("error", "offsets", 5) in check(tmp_path)


def test_a_segment_that_begins_within_the_one_before(tmp_path: Path):
    written(tmp_path, [batch(0), batch(10)], [batch(15)])
    assert ("error", "offsets", 10) in check(tmp_path)


@pytest.mark.parametrize("wrong", [1 << 56, 35])
def test_an_offset_beyond_the_segment_is_the_only_fault(tmp_path: Path, wrong: int):
    """It is not covered by the checksum."""
    damaged = bytearray(batch(10))
    damaged[0:8] = wrong.to_bytes(8)
    directory = partition_directory(tmp_path)
    for segment in ([batch(0), bytes(damaged), batch(20)], [batch(30)]):
        write_segment(directory, segment, index_every=1 << 30)
    errors = [each for each in check(tmp_path) if each[0] == "error" and each[1] == "offsets"]
    assert errors == [("error", "offsets", wrong)]


def test_findings_are_limited(tmp_path: Path):
    written(tmp_path, [batch(0, count=1)] * 2000)
    found = check(tmp_path)
    assert len(found) == 501
    assert found[-1] == ("note", "files", None)


def test_missing_offsets_are_a_note(tmp_path: Path):
    written(tmp_path, [batch(0), batch(30)], [batch(50)])
    assert check(tmp_path) == [("note", "offsets", None)]


def test_leader_epochs_that_fall(tmp_path: Path):
    written(tmp_path, [batch(0, leader_epoch=3), batch(10, leader_epoch=2)])
    assert check(tmp_path) == [("error", "epochs", 10)]


@pytest.mark.parametrize(
    "sequences, epochs, expected",
    [
        ((0, 10, 20), (0, 0, 0), []),
        ((0, 0, 10), (0, 0, 0), [("error", "sequences", 10)]),
        ((0, 12, 22), (0, 0, 0), [("error", "sequences", 10)]),
        ((0, 0, 10), (0, 1, 1), []),
        ((0, 10, 20), (0, 1, 1), [("error", "sequences", 10)]),
        ((0, 10, 20), (1, 0, 0), [("error", "sequences", 10)]),
        ((2**31 - 10, 0, 10), (0, 0, 0), []),
        ((2**31 - 5, 5, 15), (0, 0, 0), []),
    ],
    ids=[
        "right",
        "repeated",
        "gap",
        "new epoch",
        "new epoch goes on",
        "old epoch",
        "wraps",
        "wraps within",
    ],
)
def test_sequences(
    tmp_path: Path, sequences: tuple[int, ...], epochs: tuple[int, ...], expected: Found
):
    batches = [
        batch(10 * at, sequence=sequence, producer=7, epoch=epoch)
        for at, (sequence, epoch) in enumerate(zip(sequences, epochs, strict=True))
    ]
    written(tmp_path, batches)
    assert check(tmp_path)[:1] == expected


def test_group_coordinators_do_not_number_their_batches(tmp_path: Path):
    batches = [batch(at, sequence=0, producer=7, transactional=True) for at in (0, 10)]
    directory = partition_directory(tmp_path, "__consumer_offsets")
    write_segment(directory, batches, index_every=300)
    assert check(tmp_path) == []


def test_a_gap_in_sequences_where_offsets_are_gone_is_none(tmp_path: Path):
    """Compaction took the batch between."""
    written(tmp_path, [batch(0, sequence=0, producer=7), batch(20, sequence=20, producer=7)])
    assert check(tmp_path) == [("note", "offsets", None)]


def transaction_log(root: Path, entries: list[AbortedTxn]) -> Found:
    log = [
        batch(0, sequence=0, producer=7, transactional=1),
        marker(10, ABORT, 7),
        batch(11, sequence=10, producer=7, transactional=1),
        marker(21, COMMIT, 7),
        marker(22, ABORT, 9),  # without a record: nothing was aborted
    ]
    directory = written(root, log)
    index = TransactionIndex(0)
    payload = b"".join(index.append(each) for each in entries)
    (directory / f"{0:020d}.txnindex").write_bytes(payload)
    return check(root)


def test_aborted_transactions(tmp_path: Path):
    right = AbortedTxn(7, 0, 10, 11)
    assert transaction_log(tmp_path / "right", [right]) == []
    assert transaction_log(tmp_path / "none", []) == [("error", "aborted", 0)]
    extra = AbortedTxn(7, 11, 21, 22)
    assert transaction_log(tmp_path / "extra", [right, extra]) == [("error", "aborted", 11)]


def test_indexes(tmp_path: Path):
    directory = written(tmp_path, [batch(at) for at in range(0, 200, 10)], [batch(200)])
    index = directory / f"{0:020d}.index"
    entries = index.read_bytes()
    assert len(entries) >= 24
    index.write_bytes(entries[:8] + (1).to_bytes(4) + entries[12:])
    assert ("error", "index", 1) in check(tmp_path)
    index.write_bytes(entries[8:16] + entries[:8])
    assert [each[1] for each in check(tmp_path)] == ["index"]
    index.write_bytes(entries + bytes(8 * 100))
    assert check(tmp_path) == []  # preallocated
    index.unlink()
    assert check(tmp_path) == [("warning", "index", None)]


def test_time_index(tmp_path: Path):
    directory = written(tmp_path, [batch(at) for at in range(0, 200, 10)])
    index = directory / f"{0:020d}.timeindex"
    entries = bytearray(index.read_bytes())
    entries[7] ^= 1
    index.write_bytes(entries)
    assert [each[:2] for each in check(tmp_path)] == [("error", "time index")]


def test_foreign_files_and_damaged_snapshots(tmp_path: Path):
    directory = written(tmp_path, [batch(0)])
    (directory / "notes.md").write_text("?")
    (directory / f"{10:020d}.snapshot").write_bytes(b"damaged")
    assert sorted(check(tmp_path)) == [("note", "files", None), ("warning", "files", 10)]


def aborting(root: Path) -> tuple[Path, bytes]:
    """(a segment with an open transaction, the batches that abort it)."""
    directory = written(root, [batch(0, 2, 0, producer=7, transactional=1)])
    return directory / f"{0:020d}.log", marker(2, ABORT, 7)


def index_abort(path: Path, last: int = 2) -> None:
    entry = TransactionIndex(0).append(AbortedTxn(7, 0, last, 0))
    path.with_suffix(".txnindex").write_bytes(entry)


def test_a_transaction_index_that_is_made_after_the_listing(tmp_path: Path):
    path, abort = aborting(tmp_path)
    (files,) = read_partitions([str(tmp_path)])
    with path.open("ab") as opened:
        opened.write(abort)
    index_abort(path)
    times = path.with_suffix(".timeindex")
    times.write_bytes(times.read_bytes() + (BASE_MS + 2).to_bytes(8) + (2).to_bytes(4))
    assert not [each for each in PartitionCheck(files).findings() if each.severity == "error"]


def test_entries_behind_the_frozen_end_of_a_log_that_grows(tmp_path: Path):
    path, abort = aborting(tmp_path)
    (files,) = read_partitions([str(tmp_path)])
    looking = PartitionCheck(files)
    index_abort(path)
    times = path.with_suffix(".timeindex")
    times.write_bytes(times.read_bytes() + (BASE_MS + 2).to_bytes(8) + (2).to_bytes(4))
    found = [each.check for each in PartitionCheck(files).findings()]
    assert found == ["time index", "aborted"]  # at rest they are wrong
    with path.open("ab") as opened:
        opened.write(abort)
    assert not [each for each in looking.findings() if each.severity == "error"]


def test_indexes_of_a_segment_that_was_replaced_since(tmp_path: Path):
    path, _ = aborting(tmp_path)
    (files,) = read_partitions([str(tmp_path)])
    index_abort(path)
    looking = PartitionCheck(files).findings()
    opened = path.open("rb")
    try:
        replaced = path.read_bytes()
        found = iter(looking)
        real = header_tables

        def swapped(*of: object) -> Iterator[HeaderRun]:
            yield from real(*of)  # type: ignore[arg-type]
            path.unlink()
            path.write_bytes(replaced)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(partition_check, "header_tables", swapped)
            with pytest.raises(FileNotFoundError):
                list(found)
    finally:
        opened.close()
