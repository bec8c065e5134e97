"""What a job leaves out is counted, named, and of this run alone."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pyarrow.parquet as pq
import pytest

from pykbroker.spark.target import Target
from spark_jobs import codec_what_if, key_skew
from spark_jobs.parts.job import Job
from spark_jobs.parts.left_out import fresh_place, is_counted, left_out
from spark_jobs.parts.results import Outcome
from tests.offline.samples import partition_directory, simple_batches, write_segment


@pytest.fixture
def damaged(tmp_path: Path) -> tuple[str, int]:
    """A log of 100 records with one bad batch of ten, and where that stands."""
    batches = simple_batches(10)
    position = sum(map(len, batches[:3]))
    path = write_segment(partition_directory(tmp_path / "logs"), batches)
    content = bytearray(path.read_bytes())
    content[position + 80] ^= 1
    path.write_bytes(content)
    return str(tmp_path / "logs"), position


def run(spark: Any, out: Path, *words: str) -> dict[str, Any]:
    job = key_skew.JOB
    assert job.run_and_write(spark, job.parse([*words, "--out", str(out), "--quiet"])) == 0
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return summary


@pytest.mark.parametrize("mode", ["PERMISSIVE", "DROPMALFORMED"])
def test_it_is_counted(
    spark: Any,
    damaged: tuple[str, int],
    tmp_path: Path,
    mode: str,
    capsys: pytest.CaptureFixture[str],
):
    place, position = damaged
    out = tmp_path / "out"
    summary = run(spark, out, "--path", place, "--mode", mode)
    assert (summary["records"], summary["corrupt_batches"]) == (90, 1)
    (row,) = pq.read_table(out / "left_out.parquet").to_pylist()
    assert (row["position"], row["record_count"]) == (position, 10)
    assert f"left out 1 corrupt batch ({row['size_bytes']} bytes)" in capsys.readouterr().err
    again = run(spark, out, "--path", place, "--mode", mode, "--option", "endingOffsets=latest")
    assert again["corrupt_batches"] == 1


def row(position: int, size_bytes: int) -> dict[str, object]:
    """A line of a side table."""
    place = {"topic": "t", "partition": 0, "path": "t-0/0.log", "segment_base_offset": 0}
    what = {"base_offset": 7, "record_count": 1, "reason": "checksum", "raw": "AAAA"}
    return place | {"position": position, "size_bytes": size_bytes} | what


def test_more_than_fit_into_the_side_tables(tmp_path: Path):
    """Whoever reads three rows must not be told that three batches were left out."""
    target = Target(str(tmp_path))
    for task, rows in (("a", [row(0, 10), row(10, 20)]), ("b", [row(10, 20), row(99, 5)])):
        lines = "".join(json.dumps(each) + "\n" for each in rows)
        target.write(f"corrupt-{task}.json", lines.encode())
    totals = {"batches": 400, "bytes": 9000, "rows": 2, "row_bytes": 30}
    target.write("counts-a.json", json.dumps(totals).encode())
    (tmp_path / ".corrupt-c.json.passing").write_text('{"topic": "half a l')
    found = left_out(target)
    assert (found.batches, found.bytes) == (3 + 398, 35 + 8970)
    assert found.table.column("position").to_pylist() == [0, 10, 99]
    assert "raw" not in found.table.column_names


def test_they_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def run(spark: object, arguments: Namespace) -> Outcome:
        target = Target(dict(arguments.option)["corruptBatchSink"])
        target.write("corrupt-a.json", json.dumps(row(0, 10)).encode())
        totals = {"batches": 400, "bytes": 9000, "rows": 1, "row_bytes": 10}
        target.write("counts-a.json", json.dumps(totals).encode())
        return Outcome({}, {})

    job = Job(__file__, None, run)
    words = ("--path", "x", "--mode", "PERMISSIVE", "--quiet", "--out", str(tmp_path / "out"))
    assert job.run_and_write(MagicMock(), job.parse(words)) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["corrupt_batches"], summary["corrupt_bytes"]) == (400, 9000)
    told = (
        "test_left_out: left out 400 corrupt batches (9,000 bytes): 1 of them in table left_out\n"
    )
    assert capsys.readouterr().err == told


def test_the_place_of_a_uri_with_options(monkeypatch: pytest.MonkeyPatch):
    """Whatever is in that place is deleted: it must not be OUT itself."""
    made = MagicMock()
    monkeypatch.setattr("spark_jobs.parts.left_out.Target", made)
    fresh_place("s3://b/out/?region=x")
    made.assert_called_once_with("s3://b/out/left-out?region=x")


def test_files_of_others_stay(tmp_path: Path):
    place = tmp_path / "left-out"
    place.mkdir()
    for name in ("corrupt-t-0-1.json", "counts-t-0-1.json", "mine.json"):
        (place / name).write_text("")
    fresh_place(str(tmp_path))
    assert [each.name for each in place.iterdir()] == ["mine.json"]


@pytest.mark.parametrize("mode", ["FAILFAST", "PERMISSIVE"])
def test_a_run_that_fails_takes_nothing(tmp_path: Path, mode: str):
    """And leaves nothing."""

    def run(spark: object, arguments: Namespace) -> Outcome:
        for sink in dict(arguments.option).values():
            Target(sink).write("corrupt-t-0-2.json", b"")
        raise OSError("no")

    job = Job(__file__, None, run)
    (tmp_path / "left-out").mkdir()
    old = tmp_path / "left-out" / "corrupt-t-0-1.json"
    old.write_text("")
    words = ["--path", "x", "--quiet", "--out", str(tmp_path), "--mode", mode]
    with pytest.raises(OSError, match="no"):
        job.run_and_write(MagicMock(), job.parse(words))
    assert list(old.parent.iterdir()) == [old]


def test_nothing_of_an_earlier_run_stands_beside_the_result(
    spark: Any, damaged: tuple[str, int], tmp_path: Path
):
    place, _ = damaged
    out = tmp_path / "out"
    run(spark, out, "--path", place, "--mode", "PERMISSIVE")
    assert (out / "key_skew.png").exists()
    words = ("--path", place, "--mode", "PERMISSIVE", "--format", "json", "--no-picture")
    run(spark, out, *words)
    files = {each.name for each in out.iterdir() if each.is_file()}
    tables = {"hot_keys", "topics", "partitions", "left_out"}
    assert files == {f"{table}.json" for table in tables} | {"summary.json"}
    assert list((out / "left-out").iterdir())
    write_segment(partition_directory(tmp_path / "sound"), simple_batches(2))
    run(spark, out, "--path", str(tmp_path / "sound"))
    files = {each.name for each in out.iterdir() if each.is_file()}
    own = {f"{table}.parquet" for table in tables - {"left_out"}}
    assert files == own | {"summary.json", "key_skew.png"}
    assert not list((out / "left-out").iterdir())


def test_who_wants_the_side_table_elsewhere_has_it_there():
    words = ["--path", "x", "--mode", "PERMISSIVE"]
    assert is_counted(key_skew.JOB.parse(words))
    assert not is_counted(key_skew.JOB.parse(words[:2]))
    elsewhere = ["--option", "corruptBatchSink=/else"]
    assert not is_counted(codec_what_if.JOB.parse([*words, *elsewhere]))


def test_a_format_without_a_side_table(capsys: pytest.CaptureFixture[str]):
    """It is read back here as JSON."""
    words = ["--path", "x", "--mode", "PERMISSIVE", "--option", "corruptBatchFormat=parquet"]
    with pytest.raises(SystemExit):
        key_skew.JOB.parse(words)
    assert "corruptBatchFormat is for corruptBatchSink" in capsys.readouterr().err
    assert not is_counted(key_skew.JOB.parse([*words, "--option", "corruptBatchSink=/else"]))
