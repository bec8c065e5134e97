from __future__ import annotations

import struct
from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.segment_files import BASE, NAME, TIME, positions, write_segment


def test_indexes_that_fit(run: Run, tmp_path: Path) -> None:
    write_segment(tmp_path)
    second, third = positions(tmp_path)
    index = run("dump-log", "--files", f"{tmp_path}/{NAME}.index")
    assert index == (
        0,
        (
            f"Dumping {tmp_path}/{NAME}.index\noffset: 103 position: {second}\n"
            f"offset: 104 position: {third}\n"
        ),
        "",
    )
    times = run("dump-log", "--files", f"{tmp_path}/{NAME}.timeindex")
    assert times.err == ""
    assert times.lines[1:] == [
        f"timestamp: {TIME + 1} offset: 101",
        f"timestamp: {TIME + 4} offset: 104",
    ]
    both = f"{tmp_path}/{NAME}.index,{tmp_path}/{NAME}.timeindex"
    quiet = run("dump-log", "--files", both, "--verify-index-only")
    assert (quiet.err, len(quiet.lines)) == ("", 2)
    sane = run("dump-log", "--files", both, "--index-sanity-check")
    assert sane.lines[1::2] == [f"{each} passed sanity check." for each in both.split(",")]


def test_an_offset_index_that_does_not_fit(run: Run, tmp_path: Path) -> None:
    write_segment(tmp_path)
    second, _ = positions(tmp_path)
    index = tmp_path / f"{NAME}.index"
    index.write_bytes(struct.pack(">ii", 2, second))
    outcome = run("dump-log", "--files", str(index))
    assert outcome.code == 0
    assert outcome.err == f"Mismatches in :{index}\n  Index offset: 102, log offset: 103\n"
    index.write_bytes(struct.pack(">ii", 2, second + 1))
    nowhere = run("dump-log", "--files", str(index))
    assert nowhere.code == 1
    assert f"no batch at position {second + 1}" in nowhere.err


def test_a_time_index_that_does_not_fit(run: Run, tmp_path: Path) -> None:
    write_segment(tmp_path)
    times = tmp_path / f"{NAME}.timeindex"
    entries = ((TIME + 9, 1), (TIME + 3, 3), (TIME + 5, 2), (TIME + 6, 44))
    times.write_bytes(b"".join(struct.pack(">qi", *entry) for entry in entries))
    outcome = run("dump-log", "--files", str(times))
    assert outcome.code == 0
    assert outcome.err.splitlines() == [
        f"Found timestamp mismatch in :{times}",
        f"  Index timestamp: {TIME + 9}, log timestamp: {TIME + 1}",
        f"Found out of order timestamp in :{times}",
        f"  Index timestamp: {TIME + 3}, Previously indexed timestamp: {TIME + 9}",
        f"The following indexed offsets are not found in :{times}",
        f"Indexed offset: {BASE + 2}, found log offset: {BASE + 3}",
        f"Indexed offset: {BASE + 44}, found log offset: -1",
    ]


def test_empty_and_preallocated_indexes(run: Run, tmp_path: Path) -> None:
    write_segment(tmp_path)
    index = tmp_path / f"{NAME}.index"
    full = index.read_bytes()
    index.write_bytes(full + bytes(800))
    assert len(run("dump-log", "--files", str(index)).lines) == 3
    index.write_bytes(b"")
    assert run("dump-log", "--files", str(index)).lines[1] == f"{index} is empty."
    index.write_bytes(bytes(80))
    (tmp_path / f"{NAME}.log").write_bytes(b"")
    assert run("dump-log", "--files", str(index)).code == 0


def test_indexes_that_are_not_sane(run: Run, tmp_path: Path) -> None:
    write_segment(tmp_path)
    index, times = tmp_path / f"{NAME}.index", tmp_path / f"{NAME}.timeindex"
    index.write_bytes(bytes(13))
    torn = run("dump-log", "--files", str(index), "--index-sanity-check")
    assert (torn.code, torn.err) == (
        1,
        (
            f"Index file {index} is corrupt, found 13 bytes which is neither positive nor a "
            "multiple of 8\n"
        ),
    )
    index.write_bytes(struct.pack(">ii", -3, 0))
    below = run("dump-log", "--files", str(index), "--index-sanity-check")
    assert "the last offset is 97 which is less than the base offset 100" in below.err
    times.write_bytes(struct.pack(">qiqi", TIME, 1, TIME - 1, 2))
    back = run("dump-log", "--files", str(times), "--index-sanity-check")
    assert f"timestamp is {TIME - 1} which is less than the first timestamp {TIME}" in back.err
    times.write_bytes(struct.pack(">qi", TIME, -1))
    low = run("dump-log", "--files", str(times), "--index-sanity-check")
    assert "offset is 99 which is less than the first offset 100" in low.err


def test_aborted_transactions_and_snapshots(run: Run, tmp_path: Path) -> None:
    write_segment(tmp_path)
    aborted = run("dump-log", "--files", f"{tmp_path}/{NAME}.txnindex")
    assert aborted.lines[1:] == [
        "version: 0 producerId: 7 firstOffset: 102 lastOffset: 104 lastStableOffset: 105"
    ]
    snapshot = tmp_path / f"{BASE + 5:020d}.snapshot"
    assert run("dump-log", "--files", str(snapshot)).lines[1:] == [
        (
            "producerId: 7 producerEpoch: 1 coordinatorEpoch: 4 currentTxnFirstOffset: "
            f"OptionalLong.empty lastTimestamp: {TIME + 3} firstSequence: 5 lastSequence: 6 "
            f"lastOffset: 103 offsetDelta: 1 timestamp: {TIME + 3}"
        ),
        (
            "producerId: 8 producerEpoch: 0 coordinatorEpoch: -1 currentTxnFirstOffset: "
            f"OptionalLong[100] lastTimestamp: {TIME}"
        ),
    ]
    snapshot.write_bytes(snapshot.read_bytes()[:-1])
    assert "producer snapshot" in run("dump-log", "--files", str(snapshot)).err
    broken = tmp_path / f"{NAME}.txnindex"
    broken.write_bytes(b"\xff" * 34)
    assert run("dump-log", "--files", str(broken)).code == 1
