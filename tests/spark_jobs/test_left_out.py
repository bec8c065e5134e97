"""What a job leaves out is counted, named, and of this run alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from spark_jobs import codec_what_if, key_skew
from spark_jobs.left_out import is_counted
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
    assert f"left out 1 corrupt batches ({row['size_bytes']} bytes)" in capsys.readouterr().err
    again = run(spark, out, "--path", place, "--mode", mode, "--option", "endingOffsets=latest")
    assert again["corrupt_batches"] == 1


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


def test_who_wants_the_side_table_elsewhere_has_it_there():
    words = ["--path", "x", "--mode", "PERMISSIVE"]
    assert is_counted(key_skew.JOB.parse(words))
    assert not is_counted(key_skew.JOB.parse(words[:2]))
    elsewhere = ["--option", "corruptBatchSink=/else"]
    assert not is_counted(codec_what_if.JOB.parse([*words, *elsewhere]))
