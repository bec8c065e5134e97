from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.protocol.compression import GZIP
from tests.cli.conftest import Run
from tests.cli.segment_files import BASE, NAME, TIME, positions, write_segment
from tests.harness.old_messages import Old, compressed, message


def test_batches(run: Run, tmp_path: Path) -> None:
    log = write_segment(tmp_path)
    second, third = positions(tmp_path)
    outcome = run("dump-log", "--files", str(log))
    assert outcome.code == 0
    lines = outcome.lines
    assert lines[:2] == [f"Dumping {log}", "Log starting offset: 100"]
    crc = int.from_bytes(log.read_bytes()[17:21], "big")
    assert lines[2] == (
        "baseOffset: 100 lastOffset: 101 count: 2 baseSequence: -1 lastSequence: -1 "
        "producerId: -1 producerEpoch: -1 partitionLeaderEpoch: 3 isTransactional: false "
        f"isControl: false deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: {TIME + 1} "
        f"size: {second} magic: 2 compresscodec: none crc: {crc} isvalid: true"
    )
    assert (
        "baseSequence: 5 lastSequence: 6 producerId: 7 producerEpoch: 1 partitionLeaderEpoch: 3 "
        "isTransactional: true isControl: false"
    ) in lines[3]
    assert "compresscodec: gzip" in lines[3]
    assert f"isControl: true deleteHorizonMs: OptionalLong.empty position: {third} " in lines[4]
    assert len(lines) == 5


def test_records(run: Run, tmp_path: Path) -> None:
    log = write_segment(tmp_path)
    lines = run("dump-log", "--files", str(log), "--print-data-log").lines
    assert [line for line in lines if line.startswith("|")] == [
        (
            f"| offset: 100 CreateTime: {TIME} keySize: 2 valueSize: 2 sequence: -1 headerKeys: [] "
            "key: k0 payload: v0"
        ),
        (
            f"| offset: 101 CreateTime: {TIME + 1} keySize: -1 valueSize: 2 sequence: -1 "
            "headerKeys: [h,i] payload: v1"
        ),
        (
            f"| offset: 102 CreateTime: {TIME + 2} keySize: 2 valueSize: -1 sequence: 5 "
            "headerKeys: [] key: k2"
        ),
        (
            f"| offset: 103 CreateTime: {TIME + 3} keySize: 2 valueSize: 2 sequence: 6 "
            "headerKeys: [] key: k3 payload: v3"
        ),
        (
            f"| offset: 104 CreateTime: {TIME + 4} keySize: 4 valueSize: 6 sequence: -1 "
            "headerKeys: [] endTxnMarker: ABORT coordinatorEpoch: 4"
        ),
    ]


def test_records_without_metadata(run: Run, tmp_path: Path) -> None:
    log = write_segment(tmp_path)
    flags = ("--print-data-log", "--skip-record-metadata")
    lines = run("dump-log", "--files", str(log), *flags).lines
    assert [line for line in lines if not line.startswith("baseOffset")][2:] == [
        "| key: k0 payload: v0",
        "| payload: v1",
        "| key: k2",
        "| key: k3 payload: v3",
        "",
    ]


def test_deep_iteration_alone_shows_no_contents(run: Run, tmp_path: Path) -> None:
    out = run("dump-log", "--files", str(write_segment(tmp_path)), "--deep-iteration").out
    assert "| offset: 103" in out
    assert "payload" not in out


def test_what_is_left_at_the_end(run: Run, tmp_path: Path) -> None:
    log = write_segment(tmp_path)
    log.write_bytes(log.read_bytes()[:-7])
    out = run("dump-log", "--files", str(log)).out
    assert "baseOffset: 104" not in out
    _, third = positions(tmp_path)
    torn = len(log.read_bytes()) - third
    assert f"Found {torn} invalid bytes at the end of {NAME}.log\n" in out
    limited = run("dump-log", "--files", str(log), "--max-bytes", str(positions(tmp_path)[0] + 1))
    assert limited.code == 0
    assert len(limited.lines) == 3


def test_gaps_are_told(run: Run, tmp_path: Path) -> None:
    log = write_segment(tmp_path)
    err = run("dump-log", "--files", str(log), "--deep-iteration").err
    assert err == f"Non-consecutive offsets in {log}\n  -1 is followed by {BASE}\n"


def test_a_wrong_checksum(run: Run, tmp_path: Path) -> None:
    log = write_segment(tmp_path)
    content = bytearray(log.read_bytes())
    content[-1] ^= 1
    log.write_bytes(content)
    lines = run("dump-log", "--files", str(log)).lines
    assert [line.rpartition(" ")[2] for line in lines[2:]] == ["true", "true", "false"]


def test_a_directory_is_named_and_the_rest_is_dumped(run: Run, tmp_path: Path) -> None:
    log = write_segment(tmp_path)
    outcome = run("dump-log", "--files", f"{tmp_path},{log}")
    assert outcome.code == 1
    assert outcome.err == (
        f"{tmp_path}: is a directory; name the files in it, or check them all by --verify\n"
    )
    assert outcome.lines[:2] == [f"Dumping {tmp_path}", f"Dumping {log}"]
    assert outcome.lines[2].startswith("Log starting offset: ")


def test_files_that_are_wrong(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("x")
    strange = run("dump-log", "--files", str(other))
    assert (strange.code, strange.err) == (
        1,
        (
            f"{other}: not a file that can be dumped; the name has to end in .log, .index, "
            ".timeindex, .snapshot, .txnindex or .checkpoint\n"
        ),
    )
    missing = tmp_path / f"{NAME}.log"
    for path in (missing, tmp_path / "nothing"):
        outcome = run("dump-log", "--files", str(path))
        assert (outcome.code, outcome.err) == (1, f"{path}: No such file or directory\n")
    unnamed = tmp_path / "x.log"
    unnamed.write_bytes(b"")
    assert run("dump-log", "--files", str(unnamed)).err == (
        f"{unnamed}: the name does not begin with an offset\n"
    )
    missing.write_bytes(bytes(100))
    assert run("dump-log", "--files", str(missing)).err == (
        f"Found record size 0 smaller than minimum record overhead (14) in file {NAME}.log.\n"
    )


def test_names_of_snapshots(run: Run, tmp_path: Path) -> None:
    good = tmp_path / "00000000000000000007-0000000002.checkpoint"
    good.write_bytes(b"")
    assert run("dump-log", "--files", str(good)).lines[1] == "Snapshot end offset: 7, epoch: 2"
    bootstrap = tmp_path / "bootstrap.checkpoint"
    bootstrap.write_bytes(b"")
    assert run("dump-log", "--files", str(bootstrap)).lines[1] == "KRaft bootstrap snapshot"
    bad = tmp_path / "x.checkpoint"
    bad.write_bytes(b"")
    assert run("dump-log", "--files", str(bad)).code == 1


@pytest.mark.parametrize(
    ("flags", "value"), [(("--value-decoder-class", "StringDecoder"), "v0"), ((), None)]
)
def test_decoders_print_contents(
    run: Run, tmp_path: Path, flags: tuple[str, ...], value: str | None
) -> None:
    out = run("dump-log", "--files", str(write_segment(tmp_path)), *flags).out
    assert (f"payload: {value}" in out) == (value is not None)


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_before_magic_2(magic: int, run: Run, tmp_path: Path) -> None:
    plain = message(0, Old(b"k", b"v", 7), magic=magic)
    wrapper = compressed(1, [Old(None, b"1", 8), Old(b"k2", None, 9)], magic=magic, codec=GZIP)
    path = tmp_path / f"{0:020d}.log"
    path.write_bytes(plain + wrapper[:-1] + bytes([wrapper[-1] ^ 1]))
    outcome = run("dump-log", "--files", str(path), "--print-data-log")
    time = "CreateTime: {}" if magic else "NoTimestampType: -1"
    size = len(plain)
    crc = int.from_bytes(plain[12:16])
    lines = outcome.out.splitlines()
    assert lines[2:4] == [
        (
            f"offset: 0 position: 0 {time.format(7)} size: {size} magic: {magic} "
            f"compresscodec: none crc: {crc} isvalid: true"
        ),
        (
            f"| offset: 0 {time.format(7)} keySize: 1 valueSize: 1 isValid: true crc: {crc} "
            "key: k payload: v"
        ),
    ]
    assert lines[4].startswith(f"offset: 2 position: {size} {time.format(9)} ")
    assert lines[4].endswith("isvalid: false")
    path.write_bytes(plain + wrapper)
    lines = run("dump-log", "--files", str(path), "--deep-iteration").out.splitlines()
    assert lines[5].startswith(f"| offset: 1 {time.format(8)} keySize: -1 valueSize: 1 isValid: t")
    assert lines[6].startswith(f"| offset: 2 {time.format(9)} keySize: 2 valueSize: -1 isValid: t")
