"""Sound logs are sound; every kind of damage is found, where it is."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pykbroker.offline import Selection, Split, batches
from pykbroker.spark.options import SourceOptions
from spark_jobs import fsck
from spark_jobs.fsck import JOB
from spark_jobs.parts.results import Outcome
from tests.harness.flights import COUNT
from tests.offline.samples import partition_directory, write_segment
from tests.offline.test_partition_check import batch
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs


def findings(outcome: Outcome) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = outcome.tables["findings"].to_pylist()
    return rows


def test_sound(run_job: RunJob, logs: FlightLogs):
    outcome = run_job(JOB, "--path", logs.path)
    assert findings(outcome) == []
    assert outcome.summary["is_sound"]
    assert outcome.exit_code == 0
    assert outcome.summary["records"] > COUNT
    whole = Path(logs.path).glob("flights-*/*.log")
    files = outcome.tables["files"].to_pandas()
    by_path = files.groupby("path")["bytes"].sum()
    for path in whole:
        assert by_path[str(path)] == path.stat().st_size


def flip(path: Path, position: int, count: int = 1) -> None:
    with open(path, "r+b") as file:
        file.seek(position)
        old = file.read(count)
        file.seek(position)
        file.write(bytes(each ^ 0x55 for each in old))


def first(directory: Path, suffix: str) -> Path:
    return min(directory.glob(f"*{suffix}"))


def damaged_record(logs: Path) -> tuple[str, Path, int]:
    """A byte in the third batch of a closed segment."""
    path = first(logs / "flights-0", ".log")
    row = batches(str(logs), "flights", partitions=[0]).to_pylist()[2]
    flip(path, row["position"] + 100)
    return "batches", path, row["position"]


def damaged_offset_index(logs: Path) -> tuple[str, Path, int]:
    """An entry that points into the middle of a batch."""
    path = first(logs / "flights-1", ".index")
    flip(path, 8 + 7)
    return "index", path, 8


def damaged_time_index(logs: Path) -> tuple[str, Path, int]:
    path = first(logs / "flights-0", ".timeindex")
    flip(path, 5)
    return "time index", path, 0


def lost_transaction_index(logs: Path) -> tuple[str, Path, int | None]:
    """Readers of committed records would be served aborted ones."""
    path = first(logs / "bookings-1", ".txnindex")
    path.write_bytes(path.read_bytes()[:-34])
    return "aborted", path, None


def lost_batch(logs: Path) -> tuple[str, Path, int | None]:
    """A batch cut out in the middle: its offsets are gone, which compaction does as well."""
    path = first(logs / "flights-2", ".log")
    row = batches(str(logs), "flights", partitions=[2]).to_pylist()[1]
    payload = path.read_bytes()
    at = row["position"]
    path.write_bytes(payload[:at] + payload[at + row["size_bytes"] :])
    return "index", path.with_suffix(".index"), None


def repeated_batch(logs: Path) -> tuple[str, Path, int | None]:
    path = first(logs / "flights-3", ".log")
    row = batches(str(logs), "flights", partitions=[3]).to_pylist()[1]
    payload = path.read_bytes()
    at, end = row["position"], row["position"] + row["size_bytes"]
    path.write_bytes(payload[:end] + payload[at:])
    return "sequences", path, end


Damage = Callable[[Path], tuple[str, Path, int | None]]
DAMAGES: list[Damage] = [
    damaged_record,
    damaged_offset_index,
    damaged_time_index,
    lost_transaction_index,
    lost_batch,
    repeated_batch,
]


def test_damage_is_found(run_job: RunJob, apache: FlightLogs, tmp_path: Path):
    """All at once, each in a partition (or file) of its own."""
    logs = tmp_path / "logs"
    shutil.copytree(apache.path, logs, ignore=shutil.ignore_patterns("__*"))
    expected = [damage(logs) for damage in DAMAGES]
    outcome = run_job(JOB, "--path", str(logs))
    assert outcome.exit_code == 1
    assert not outcome.summary["is_sound"]
    found = findings(outcome)
    for check, path, position in expected:
        mine = [row for row in found if row["check"] == check and row["path"] == str(path)]
        assert mine, (check, path, found)
        assert mine[0]["severity"] == "error"
        assert position is None or position in [row["position"] for row in mine]
    notes = [row["detail"] for row in found if row["severity"] == "note"]
    assert any("offsets are missing" in note for note in notes)
    sound = {"planes", "flights-4"}
    assert not [row for row in found if f"{row['topic']}-{row['partition']}" in sound]


@pytest.mark.parametrize("tail", [b"\x00" * 5000, b"half a batch"])
def test_an_unfinished_end_is_a_note(
    run_job: RunJob, ours: FlightLogs, tmp_path: Path, tail: bytes
):
    shutil.copytree(Path(ours.path) / "flights-4", tmp_path / "flights-4")
    last = max((tmp_path / "flights-4").glob("*.log"))
    with open(last, "ab") as file:
        file.write(tail)
    outcome = run_job(JOB, "--path", str(tmp_path / "flights-4"))
    assert outcome.exit_code == 0
    (note,) = findings(outcome)
    assert (note["severity"], note["check"], note["path"]) == ("note", "tail", str(last))
    assert str(len(tail)) in note["detail"]


def test_a_length_that_is_too_big_before_sound_batches(run_job: RunJob, tmp_path: Path):
    """In the active segment; a half-written end looks alike, but nothing follows it."""
    parts = [batch(base) for base in (0, 10, 20)]
    directory = partition_directory(tmp_path)
    write_segment(directory, parts, index_every=1 << 30)
    path = first(directory, ".log")
    payload = bytearray(path.read_bytes())
    at = len(parts[0])
    payload[at + 8 : at + 12] = (1 << 28).to_bytes(4)
    path.write_bytes(payload)
    outcome = run_job(JOB, "--path", str(tmp_path))
    assert outcome.exit_code == 1
    errors = [row for row in findings(outcome) if row["severity"] == "error"]
    assert at in [row["position"] for row in errors]


def test_the_picture_names_what_stands_in_no_segment():
    place = {"topic": "t", "partition": 0}
    row = place | {"severity": "error", "check": "index", "path": "/t-0/0.index", "position": 8}
    tail = place | {"severity": "note", "check": "tail", "path": "/t-0/0.log", "position": 100}
    found = [
        row | {"detail": "entry 1"},
        tail | {"detail": "900 bytes after the last whole batch"},
    ]
    files = [place | {"path": "/t-0/0.log", "bytes": 100}]
    tables = {"findings": pa.Table.from_pylist(found), "files": pa.Table.from_pylist(files)}
    assert JOB.draw is not None
    (axes,) = JOB.draw(Outcome(tables)).axes
    (text,) = (each.get_text() for each in axes.texts)
    assert "error: index (1)" in text
    assert "first at 8 of 0.index" in text
    assert "900 bytes after" in text


@pytest.mark.parametrize(
    "words",
    [
        "--since 2030-01-01",
        "--until 2000-01-01",
        "--isolation read_committed",
        "--mode DROPMALFORMED",
        "--option where=offset<3",
        "--option startingTimestamp=1900000000000",
        "--option endBound=hw",
        "--option verifyChecksums=false",
        "--option columns=offset",
        "--option mode=FAILFAST",
    ],
)
def test_it_cannot_look_at_less(words: str):
    with pytest.raises(SystemExit) as ended:
        JOB.parse(["--path", "x", *words.split()])
    assert ended.value.code == 2


def test_damage_in_an_aborted_transaction(run_job: RunJob, apache: FlightLogs, tmp_path: Path):
    logs = tmp_path / "logs"
    shutil.copytree(f"{apache.path}/bookings-0", logs / "bookings-0")
    rows = batches(str(logs)).to_pylist()
    committed = batches(Selection((str(logs),), isolation="read_committed"))
    seen = committed["base_offset"].to_pylist()
    hidden = next(row for row in rows if row["base_offset"] not in seen)
    flip(first(logs / "bookings-0", ".log"), hidden["position"] + 100)
    outcome = run_job(JOB, "--path", str(logs))
    assert not outcome.summary["is_sound"]
    assert hidden["position"] in [row["position"] for row in findings(outcome)]


def two_partitions(logs: Path) -> tuple[Path, Path]:
    """Of two segments each; the first ones."""
    found = []
    for number in range(2):
        directory = partition_directory(logs, "t", number)
        for base in (0, 20):
            write_segment(directory, [batch(base), batch(base + 10)])
        found.append(first(directory, ".log"))
    return found[0], found[1]


def test_a_snapshot_that_is_not_what_it_was(run_job: RunJob, tmp_path: Path):
    """A finding as any other: all the rest is checked."""
    changed, damaged = two_partitions(tmp_path)
    sizes = {"t-0": {changed.name: changed.stat().st_size + 1}}
    (tmp_path / "snapshot.json").write_text(json.dumps({"version": 1, "sizes": sizes}))
    flip(damaged, 100)
    outcome = run_job(JOB, "--path", str(tmp_path))
    found = [(row["partition"], row["check"], row["path"]) for row in findings(outcome)]
    assert found == [(0, "files", str(changed)), (1, "batches", str(damaged))]
    assert outcome.summary["records"] == 70
    assert outcome.exit_code == 1


def test_what_is_no_file_is_a_finding_among_others(run_job: RunJob, tmp_path: Path):
    directory = partition_directory(tmp_path)
    path = write_segment(directory, [batch(0), batch(10)])
    flip(path, 70)
    (directory / f"{20:020d}.log").mkdir()
    (tmp_path / "u-0").symlink_to(tmp_path / "nowhere")
    (tmp_path / "replication-offset-checkpoint").write_text("?")
    outcome = run_job(JOB, "--path", str(tmp_path))
    found = {(row["topic"], Path(row["path"]).name, row["check"]) for row in findings(outcome)}
    assert found == {
        ("t", path.name, "batches"),
        ("t", f"{20:020d}.log", "files"),
        ("t", "replication-offset-checkpoint", "files"),
        ("u", "replication-offset-checkpoint", "files"),
        ("u", "u-0", "files"),
    }


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A segment of one of two partitions that this process (no worker) cannot read."""
    segment, _ = two_partitions(tmp_path)
    opened = os.open

    def refuse(path: str, *rest: Any, **named: Any) -> int:
        if os.fspath(path) == str(segment):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(segment))
        return opened(path, *rest, **named)

    monkeypatch.setattr(os, "open", refuse)
    return segment


def test_a_file_that_cannot_be_read_when_it_is_planned(run_job: RunJob, broken: Path):
    outcome = run_job(JOB, "--path", str(broken.parents[1]))
    (row,) = findings(outcome)
    assert (row["severity"], row["check"], row["path"]) == ("error", "files", str(broken))
    assert "Input/output error" in row["detail"]
    assert outcome.summary["records"] == 40
    assert outcome.exit_code == 1


def test_a_file_that_cannot_be_read_in_a_worker(broken: Path):
    """What can be read of the task is."""
    splits = [
        Split(str(path), "t", 0, int(path.stem), 0, path.stat().st_size)
        for path in sorted(broken.parent.glob("*.log"))
    ]
    (found,) = fsck._read(tuple(splits), fsck.read_options(SourceOptions(paths=("x",))))
    rows = [(row["check"], row["path"], row["records"]) for row in found.to_pylist()]
    paths = [split.path for split in splits]
    assert rows == [("files", paths[0], None), (None, paths[0], 0), (None, paths[1], 20)]


def test_an_offset_out_of_order_is_one_finding(run_job: RunJob, tmp_path: Path):
    parts = [batch(base) for base in (0, 10, 20)]
    parts[2] = (5).to_bytes(8) + parts[2][8:]
    write_segment(partition_directory(tmp_path), parts)
    outcome = run_job(JOB, "--path", str(tmp_path))
    assert [row["check"] for row in findings(outcome)] == ["offsets"]


def test_a_segment_is_one_row(run_job: RunJob, tmp_path: Path):
    path = write_segment(
        partition_directory(tmp_path), [batch(n * 10) for n in range(50)], index_every=100
    )
    outcome = run_job(JOB, "--path", str(tmp_path), "--option", "splitBytes=1000")
    (row,) = outcome.tables["files"].to_pylist()
    assert (row["path"], row["records"], row["bytes"]) == (str(path), 500, path.stat().st_size)


def test_remarks_stand_within_the_picture():
    place = {"topic": "a-topic-with-a-name", "partition": 0, "path": f"/logs/t-0/{0:020d}.log"}
    fault = {"severity": "error", "position": 16, "detail": "x" * 100}
    checks = ("batches", "index", "time index", "transaction index", "sequence", "tail")
    findings = [place | fault | {"check": check} for check in checks]
    tables = {
        "files": pa.Table.from_pylist([place | {"records": 1, "bytes": 4_000_000}]),
        "findings": pa.Table.from_pylist(findings),
    }
    assert JOB.draw is not None
    made = JOB.draw(Outcome(tables))
    made.canvas.draw()
    (axes,) = made.axes
    (remark,) = axes.texts
    assert "error: batches (1)" in remark.get_text()
    width = made.get_window_extent().x1
    assert remark.get_window_extent().x1 <= width
    assert axes.get_xlim()[1] < 4.4  # the bar has the width, too
