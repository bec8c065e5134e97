"""Every job by both ways, small, in the session of the tests; of one size of records.

The sizes differ in numbers alone. What a job finds is compared in the benchmark itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.spark.__main__ import LATENCIES, LEAST_RECORDS, main
from benchmarks.spark.jobs import JOBS
from tests.benchmarks.running import numbers, run

EFFORT = ("--scale", "0.0001", "--sizes", "100", "--rounds", "1", "--cold", "--batches", "3")


@pytest.mark.interop
@pytest.mark.spark
@pytest.mark.timeout(1260)
def test_every_job_has_both_figures(
    spark: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    assert main([*EFFORT, "--json", str(file)]) == 0
    assert spark.range(3).count() == 3  # the session is left to who made it
    lines = [line for line in capfd.readouterr().out.splitlines() if line]
    summary, head, *rows = lines
    assert summary.startswith(f"{LEAST_RECORDS:,} records of 100 B, ")
    assert " ".join(head.split()) == "connector pykbroker M rec/s MB/s limit ratio CPU goal"
    names = [job.name for job in JOBS] + [name for name, _, _ in LATENCIES]
    assert len(rows) == len(names)
    for row, name in zip(rows, names, strict=True):
        assert row[:42].strip() == name
        theirs, ours, *_ = numbers(row[42:])
        assert min(theirs, ours) > 0
    told = json.loads(file.read_text())["rows"]
    assert [each["job"] for each in told] == names
    jobs, latencies = told[: len(JOBS)], told[len(JOBS) :]
    for each in jobs:
        assert each["records"] == LEAST_RECORDS
        assert each["size_bytes"] > 100 * LEAST_RECORDS
        figures = [*each["connector"].values(), *each["pykbroker"].values()]
        assert min(*figures, each["ratio"], each["cpu_ratio"], each["part_of_limit"]) > 0
    for each in latencies:
        assert min(each["connector_ms"], each["pykbroker_ms"], each["goal"]) > 0


def test_a_job_that_is_not_there_starts_nothing() -> None:
    with pytest.raises(AssertionError, match="contains this text; jobs are: count, sum"):
        run("spark", "--jobs", "no such job")
