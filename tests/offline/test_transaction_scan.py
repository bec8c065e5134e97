"""read_committed: aborted transactions are left out, and nothing is served behind an open one."""

from __future__ import annotations

import random
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from pykbroker.offline import (
    CorruptSegment,
    ReadOptions,
    Selection,
    open_log,
    plan,
    read_split,
    storage,
    transaction_scan,
    transactions,
)
from pykbroker.offline.frozen_end import freeze
from pykbroker.offline.layout import read_partitions
from pykbroker.offline.transaction_events import segment_events
from pykbroker.offline.transaction_scan import transaction_state
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import build_batch
from tests.offline.log_writer import LogWriter, random_log
from tests.offline.samples import BASE_MS, partition_directory, write_segment


def committed(root: Path, **options: Any) -> list[int]:
    log = open_log(str(root), isolation="read_committed", columns=["offset"], **options)
    found: list[int] = log.read_all()["offset"].to_pylist()
    return found


@pytest.mark.parametrize("seed", range(12))
def test_indexes_and_headers_agree_with_what_was_committed(tmp_path: Path, seed: int):
    log = random_log(tmp_path, seed)
    assert committed(tmp_path) == log.expected()
    assert committed(tmp_path, decoder="plain") == log.expected()
    assert committed(tmp_path, split_bytes=300) == log.expected()
    for path in log.directory.glob("*.snapshot"):
        path.unlink()
    assert committed(tmp_path) == log.expected()


@pytest.mark.parametrize("damage", ["txnindex", "snapshot", "no indexes"])
def test_damaged_files_are_not_believed(tmp_path: Path, damage: str):
    log = random_log(tmp_path, 5)
    assert list(log.directory.glob("*.txnindex"))
    suffixes = ("index", "timeindex", "txnindex") if damage == "no indexes" else (damage,)
    for suffix in suffixes:
        for path in log.directory.glob(f"*.{suffix}"):
            if damage == "no indexes":
                path.unlink()
            else:
                path.write_bytes(path.read_bytes()[:-5] + b"\xff")
    assert committed(tmp_path) == log.expected()


@pytest.mark.parametrize(
    "damage",
    ["missing", "emptied", "cut by one entry", "of a commit", "first offset", "last offset"],
)
def test_an_index_that_looks_sound_is_not_believed(tmp_path: Path, damage: str):
    log = LogWriter(tmp_path, segment_batches=9)
    for number in range(12):
        log.write(10, 3)
        log.write(11, 2)
        log.end(10, ABORT)
        log.end(11, COMMIT if number % 2 else ABORT)
    log.roll()
    assert committed(tmp_path) == log.expected()
    closed = sorted(log.directory.glob("*.txnindex"))[:-1]
    assert closed
    for path in closed:
        payload = path.read_bytes()
        if damage == "missing":
            path.unlink()
        elif damage == "emptied":
            path.write_bytes(b"")
        elif damage == "cut by one entry":
            path.write_bytes(payload[:-34])
        else:  # the producer of the other transaction, or an offset beside the right one
            at = {"of a commit": 9, "first offset": 17, "last offset": 25}[damage]
            entries = [bytearray(payload[at : at + 34]) for at in range(0, len(payload), 34)]
            for entry in entries:
                entry[at] ^= 1
            path.write_bytes(b"".join(entries))
    assert committed(tmp_path) == log.expected()


def test_an_abort_marker_of_a_transaction_without_records_needs_no_entry(tmp_path: Path):
    log = LogWriter(tmp_path, segment_batches=3)
    log.write(10, 2)
    log.end(11, ABORT)
    log.end(10, ABORT)
    log.write(-1, 2)
    log.roll()
    assert committed(tmp_path) == log.expected() == [4, 5]


def test_control_batches_are_never_rows(tmp_path: Path):
    log = random_log(tmp_path, 1)
    rows = open_log(str(tmp_path), columns=["offset", "is_control"]).read_all()
    assert rows.num_rows < log.offset
    assert not any(rows["is_control"].to_pylist())
    assert all(offset in rows["offset"].to_pylist() for offset in log.committed_offsets)


def test_nothing_behind_an_open_transaction(tmp_path: Path):
    log = LogWriter(tmp_path)
    log.write(-1, 2)
    log.write(10, 2)
    log.write(-1, 5)
    log.roll()
    assert committed(tmp_path) == [0, 1]
    planned = plan(Selection((str(tmp_path),), isolation="read_committed"))
    assert planned.partitions[0].last_stable_offset == 2
    assert planned.partitions[0].log_end_offset == 9
    assert open_log(str(tmp_path)).read_all().num_rows == 9


def test_a_marker_behind_the_high_watermark_does_not_count(tmp_path: Path):
    log = LogWriter(tmp_path)
    log.write(10, 2)
    log.end(10, COMMIT)
    log.roll()
    (tmp_path / "replication-offset-checkpoint").write_text("0\n1\nt 0 2\n")
    assert committed(tmp_path) == [0, 1]
    assert committed(tmp_path, end_bound="hw") == []


def test_aborted_ranges_travel_with_the_splits(tmp_path: Path):
    log = random_log(tmp_path, 3)
    planned = plan(Selection((str(tmp_path),), isolation="read_committed"))
    options = ReadOptions(columns=("offset",))
    found = [
        offset
        for split in planned.splits
        for batch in read_split(split, options)
        for offset in batch.column("offset").to_pylist()
    ]
    assert found == log.expected()
    assert any(split.aborted for split in planned.splits)


def test_the_view_of_transactions(tmp_path: Path):
    log = LogWriter(tmp_path)
    log.write(10, 2)
    log.write(11, 3)
    log.write(10, 1)
    log.end(10, COMMIT)
    log.end(11, ABORT)
    log.write(12, 4)
    log.roll()
    rows = transactions(str(tmp_path)).to_pylist()
    assert [
        (row["producer_id"], row["state"], row["first_offset"], row["last_offset"]) for row in rows
    ] == [(10, "committed", 0, 6), (11, "aborted", 2, 7), (12, "open", 8, 11)]
    assert [(row["batch_count"], row["record_count"]) for row in rows] == [(2, 3), (1, 3), (1, 4)]
    assert rows[0]["first_timestamp_ms"] == BASE_MS
    assert rows[0]["end_timestamp_ms"] == BASE_MS + 6


def flipped(log: LogWriter, at: int, mask: int = 0xFF) -> None:
    (path,) = log.directory.glob("*.log")
    content = bytearray(path.read_bytes())
    content[at] ^= mask
    path.write_bytes(content)


def marked_log(root: Path) -> tuple[LogWriter, int]:
    """Two records, their commit marker, seven plain records; and where the marker stands."""
    log = LogWriter(root)
    log.write(10, 2)
    position = len(log.batches[0])
    log.end(10, COMMIT)
    for records in (3, 1, 1, 1, 1):
        log.write(-1, records)
    log.roll()
    return log, position


@pytest.mark.parametrize("at", [69, 22, 50, 9], ids=["type", "attributes", "producer id", "length"])
@pytest.mark.parametrize("has_indexes", [True, False])
def test_a_damaged_marker_is_corruption_and_no_open_transaction(
    tmp_path: Path, at: int, has_indexes: bool
):
    log, position = marked_log(tmp_path)
    flipped(log, position + at)
    if not has_indexes:
        for path in (*log.directory.glob("*.index"), *log.directory.glob("*.snapshot")):
            path.unlink()
    with pytest.raises(CorruptSegment, match=f"position {position}"):
        committed(tmp_path)
    scan = open_log(
        str(tmp_path), isolation="read_committed", columns=["offset"], mode="DROPMALFORMED"
    )
    found = scan.read_all()["offset"].to_pylist()
    assert found == list(range(3, 10))  # what became of the others nobody knows
    assert scan.corrupt_batches == 1


def test_a_damaged_batch_begins_no_transaction(tmp_path: Path):
    log = LogWriter(tmp_path)
    for _ in range(4):
        log.write(-1, 1)
    position = len(log.batches[0])
    log.roll()
    flipped(log, position + 22, 0x10)
    with pytest.raises(CorruptSegment):
        committed(tmp_path)
    scan = open_log(
        str(tmp_path), isolation="read_committed", columns=["offset"], mode="DROPMALFORMED"
    )
    assert scan.read_all()["offset"].to_pylist() == [0, 2, 3]
    assert scan.corrupt_batches == 1


def test_damage_that_is_no_marker_frees_no_open_transaction(tmp_path: Path):
    log = LogWriter(tmp_path)
    log.write(10, 1)
    log.write(-1, 1)
    position = sum(map(len, log.batches))
    log.write(-1, 7)
    log.write(-1, 1)
    log.roll()
    flipped(log, position + 65)
    for mode in ("FAILFAST", "DROPMALFORMED"):
        assert committed(tmp_path, mode=mode) == []


def test_transactions_behind_one_of_unknown_outcome(tmp_path: Path):
    log = LogWriter(tmp_path)
    log.write(10, 2)
    position = len(log.batches[0])
    log.end(10, ABORT)
    log.write(10, 2)
    log.write(11, 1)
    log.end(10, COMMIT)
    log.end(11, ABORT)
    log.write(-1, 1)
    log.roll()
    flipped(log, position + 69)
    with pytest.raises(CorruptSegment, match=f"position {position}"):
        committed(tmp_path)
    assert committed(tmp_path, mode="DROPMALFORMED") == [3, 4, 8]
    assert committed(tmp_path, mode="DROPMALFORMED", decoder="plain") == [3, 4, 8]


def test_a_marker_behind_the_range_is_checked_too(tmp_path: Path):
    log = LogWriter(tmp_path)
    log.write(-1, 3)
    log.write(10, 2)
    position = sum(map(len, log.batches))
    log.end(10, COMMIT)
    log.write(-1, 1)
    log.roll()
    flipped(log, position + 69, 0x01)  # COMMIT becomes ABORT
    with pytest.raises(CorruptSegment, match=f"position {position}"):
        committed(tmp_path, end_offsets=5)


def damage(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


@pytest.mark.parametrize("is_damaged", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_log_that_grows_is_as_one_that_is_read_anew(
    tmp_path: Path, seed: int, is_damaged: bool, monkeypatch: pytest.MonkeyPatch
):
    """Also after retention, and where less than all is asked for."""
    chance = random.Random(seed)
    random_log(tmp_path, seed)
    segments = sorted((tmp_path / "t-0").glob("*.log"))
    if is_damaged:
        for path in segments[::2]:
            damage(path, chance)
    walked: list[str] = []
    events = segment_events

    def noted(opened: storage.SegmentFile, *rest: Any) -> Any:
        walked.append(opened.path)
        return events(opened, *rest)

    monkeypatch.setattr(transaction_scan, "segment_events", noted)
    growing = partition_directory(tmp_path / "growing")
    for number, path in enumerate(segments):
        shutil.copy2(path, growing)
        if number == 5:
            (growing / segments[0].name).unlink()
        (files,) = read_partitions([str(tmp_path / "growing")])
        frozen = freeze(files)
        for end in (frozen.next_offset - 7, frozen.next_offset):
            walked.clear()
            known = transaction_state(files, *frozen, end)
            assert number == 5 or len(set(walked)) <= 3
            with monkeypatch.context() as patched:
                patched.setattr(transaction_scan, "_closed", {})
                assert transaction_state(files, *frozen, end) == known
            assert known.left_out(20) == tuple(
                each for each in known.left_out(0) if each.last_offset >= 20
            )


def test_another_log_of_that_name_and_size_is_another_log(tmp_path: Path):
    """In one process: a topic made again, a directory copied anew."""
    expected = {COMMIT: [0, 1, 3], ABORT: [3]}
    for kind in (COMMIT, ABORT, COMMIT):
        log = LogWriter(tmp_path)
        log.write(10, 2)
        log.end(10, kind)
        log.roll()
        log.write(-1, 1)
        log.roll()
        assert committed(tmp_path) == expected[kind]
        shutil.rmtree(log.directory)


def test_that_of_an_object_store_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    local = fs.LocalFileSystem()
    monkeypatch.setattr(
        storage, "remote_place", lambda path: (local, path.removeprefix("store://"))
    )
    for kind, expected in ((COMMIT, [0, 1, 3]), (ABORT, [3]), (COMMIT, [0, 1, 3])):
        log = LogWriter(tmp_path)
        log.write(10, 2)
        log.end(10, kind)
        log.roll()
        log.write(-1, 1)
        log.roll()
        scan = open_log(f"store://{tmp_path}", isolation="read_committed", columns=["offset"])
        assert scan.read_all()["offset"].to_pylist() == expected
        shutil.rmtree(log.directory)


def test_files_of_an_object_store_are_told_apart_by_one_listing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[object] = []

    class Store(fs.LocalFileSystem):  # type: ignore[misc]
        def get_file_info(self, what: object) -> object:
            asked.append(what)
            return super().get_file_info(what)

    store = Store()
    monkeypatch.setattr(
        storage, "remote_place", lambda path: (store, path.removeprefix("store://"))
    )
    paths = [tmp_path / f"{number:020d}.log" for number in range(20)]
    for path in paths:
        path.write_bytes(b"")
    versions = storage.file_versions([f"store://{path}" for path in paths])
    assert versions == [(path.stat().st_mtime_ns,) for path in paths]
    assert len(asked) == 1


def test_what_is_damaged_before_an_open_transaction_does_not_free_it(tmp_path: Path):
    log = LogWriter(tmp_path)
    log.write(-1, 1)
    log.write(-1, 1)
    log.write(10, 2)
    log.write(-1, 3)
    position = len(log.batches[0])
    log.roll()
    flipped(log, position + 65)
    scan = open_log(
        str(tmp_path), isolation="read_committed", columns=["offset"], mode="DROPMALFORMED"
    )
    assert scan.read_all()["offset"].to_pylist() == [0]
    assert scan.corrupt_batches == 1


@pytest.mark.parametrize("kind", [ABORT, None])
@pytest.mark.parametrize("mode", ["FAILFAST", "PERMISSIVE"])
def test_a_damaged_length_does_not_swallow_a_transaction(
    tmp_path: Path, kind: int | None, mode: str
):
    """Readers that begin behind the damage, by the index, must know what began within it."""
    rows = [(b"k", bytes(5000), BASE_MS, ())]
    pids = [-1, 7, 7, -1, -1]
    batches = [
        bytes(build_batch(rows, base_offset=base, producer_id=pid, is_transactional=pid > 0))
        for base, pid in enumerate(pids)
    ]
    if kind is not None:
        marker = EndTxnMarker(kind, 3)
        batches[3] = bytes(
            build_marker_batch(
                marker, producer_id=7, producer_epoch=0, timestamp_ms=BASE_MS, base_offset=3
            )
        )
    path = write_segment(partition_directory(tmp_path), batches, index_every=4096)
    length = (len(batches[0]) + len(batches[1]) - 12).to_bytes(4)
    for start in range(1, 5):
        path.write_bytes(b"".join([batches[0][:8] + length + batches[0][12:], *batches[1:]]))
        try:
            found = committed(tmp_path, start_offsets=start, mode=mode, fail_on_data_loss=False)
        except CorruptSegment:
            assert mode == "FAILFAST"
            continue
        assert not {1, 2, 3}.intersection(found)
        assert kind is not None or found == []


@pytest.mark.parametrize("split_bytes", [1, 10**9])
@pytest.mark.parametrize("decoder", ["numpy", "plain"])
def test_what_follows_damage_is_the_same_however_the_log_is_cut(
    tmp_path: Path, split_bytes: int, decoder: str
):
    """A wrong length, a transaction that the index does not know, and another broken batch."""
    batches = [
        bytes(
            build_batch(
                [(b"k", bytes(300), BASE_MS, ())],
                base_offset=base,
                producer_id=7 if base == 1 else -1,
                is_transactional=base == 1,
            )
        )
        for base in range(5)
    ]
    path = write_segment(partition_directory(tmp_path), batches)
    size = len(batches[0])
    entries = [struct.pack(">ii", base, base * size) for base in (2, 3, 4)]
    path.with_suffix(".index").write_bytes(b"".join(entries))
    batches[0] = batches[0][:8] + (1 << 20).to_bytes(4) + batches[0][12:]
    batches[2] = batches[2][:-1] + b"!"
    path.write_bytes(b"".join(batches))
    given = {"split_bytes": split_bytes, "decoder": decoder}
    assert committed(tmp_path, mode="PERMISSIVE", **given) == [3, 4]
    with pytest.raises(CorruptSegment):
        committed(tmp_path, **given)


def test_a_batch_that_is_there_twice_moves_no_transaction(tmp_path: Path):
    """Decoders leave the second one out, and go on from the offset before it."""
    log = LogWriter(tmp_path)
    log.write(-1, 20)
    log.write(10, 1)
    log.write(-1, 30)
    log.end(10, ABORT)
    log.write(-1, 1)
    log.batches.insert(0, log.batches[0])
    log.roll()
    assert committed(tmp_path, mode="PERMISSIVE") == log.expected()
    with pytest.raises(CorruptSegment, match="base offset 0 after offset 19"):
        committed(tmp_path)
