"""Late records, as pandas finds them with a running maximum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pykbroker.protocol.record_batch import build_batch
from spark_jobs.timestamp_disorder import JOB
from tests.offline.samples import BASE_MS, partition_directory, write_segment
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs, planes_frame


@pytest.mark.parametrize("split_bytes", ["256m", "1m"])
def test_flights(run_job: RunJob, ours: FlightLogs, flight_frame: pd.DataFrame, split_bytes: str):
    words = ("--path", ours.path, "--topics", "flights", "--option", f"splitBytes={split_bytes}")
    check(run_job(JOB, *words).tables["disorder"].to_pandas(), flight_frame)


def test_written_by_apache(run_job: RunJob, apache: FlightLogs, flight_frame: pd.DataFrame):
    words = ("--path", apache.path, "--topics", "flights")
    check(run_job(JOB, *words).tables["disorder"].to_pandas(), flight_frame)


def check(found: pd.DataFrame, flight_frame: pd.DataFrame) -> None:
    found = found.set_index("partition")
    for partition, rows in flight_frame.groupby("partition_of_flights"):
        times = rows["timestamp_ms"]
        reached = times.cummax()
        late = (reached - times)[reached > times]
        row = found.loc[partition]
        assert row["records"] == len(rows)
        assert row["late_records"] == len(late)
        assert row["late_max_ms"] == late.max()
        assert row["late_p50_ms"] == np.quantile(late, 0.5, method="inverted_cdf")
        assert row["late_p99_ms"] == np.quantile(late, 0.99, method="inverted_cdf")
        assert row["longest_pause_ms"] == reached.diff().max()
        assert row["missing_offsets"] == 0


def test_offsets_that_compaction_took(
    run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame
):
    outcome = run_job(JOB, "--path", logs.path, "--topics", "planes")
    planes = planes_frame(flight_frame)
    assert outcome.summary["records"] + outcome.summary["missing_offsets"] == len(planes)
    assert outcome.summary["missing_offsets"] > len(planes) / 2


@pytest.mark.parametrize("split_bytes", ["256m", "1000"])
def test_what_is_before_the_first_offset_makes_nothing_late(
    run_job: RunJob, tmp_path: Path, split_bytes: str
):
    """Offset 0 is the latest of all, and in a batch with 1 to 3."""
    times = [[9_000_000, 1, 2, 3], *([10 + each] * 4 for each in range(40))]
    batches = [
        bytes(build_batch([(None, b"x" * 50, BASE_MS + at, ()) for at in mine], base_offset=4 * n))
        for n, mine in enumerate(times)
    ]
    write_segment(partition_directory(tmp_path), batches, index_every=1)
    words = ("--path", str(tmp_path), "--option", f"splitBytes={split_bytes}")
    for start, late in ((0, 163), (1, 0)):
        offsets = f'startingOffsets={{"t":{{"0":{start}}}}}'
        (row,) = run_job(JOB, *words, "--option", offsets).tables["disorder"].to_pylist()
        assert (row["records"], row["late_records"]) == (164 - start, late)


@pytest.mark.parametrize("start,missing", [(0, 16), (1, 16), (4, 13)])
def test_offsets_missing_from_a_batch_at_the_edge(
    run_job: RunJob, tmp_path: Path, start: int, missing: int
):
    """Of ten offsets each batch has two."""
    batches = [
        bytes(
            build_batch(
                [(b"k", b"v", BASE_MS, ())] * 2,
                base_offset=base,
                offset_deltas=[0, 5],
                last_offset_delta=9,
            )
        )
        for base in (0, 10)
    ]
    write_segment(partition_directory(tmp_path), batches)
    offsets = f'startingOffsets={{"t":{{"0":{start}}}}}'
    outcome = run_job(JOB, "--path", str(tmp_path), "--option", offsets)
    assert outcome.summary["missing_offsets"] == missing


@pytest.mark.parametrize("split_bytes", ["256m", "100"])
@pytest.mark.parametrize("where", [(), ("--option", "where=key = 'k'")])
def test_records_without_a_time(
    run_job: RunJob, tmp_path: Path, split_bytes: str, where: tuple[str, ...]
):
    """They are not late, and there is no pause behind them."""
    times = [[-1, -1], [BASE_MS, -1], [-1, BASE_MS + 7], [-1, BASE_MS + 5]]
    batches = [
        bytes(build_batch([(b"k", b"v", at, ()) for at in mine], base_offset=2 * n))
        for n, mine in enumerate(times)
    ]
    write_segment(partition_directory(tmp_path), batches, index_every=1)
    words = ("--path", str(tmp_path), "--option", f"splitBytes={split_bytes}", *where)
    outcome = run_job(JOB, *words)
    (row,) = outcome.tables["disorder"].to_pylist()
    assert (row["records"], row["without_time"], row["late_records"]) == (8, 5, 1)
    assert (row["late_max_ms"], row["longest_pause_ms"]) == (2, 7)
    assert row["missing_offsets"] == (None if where else 0)
    found = [(row["late_ms"], row["records"]) for row in outcome.tables["lateness"].to_pylist()]
    assert found == [(0, 2), (2, 1)]


def test_no_record_has_a_time(run_job: RunJob, tmp_path: Path):
    batch = build_batch([(b"k", b"v", -1, ())] * 3)
    write_segment(partition_directory(tmp_path), [bytes(batch)])
    outcome = run_job(JOB, "--path", str(tmp_path))
    (row,) = outcome.tables["disorder"].to_pylist()
    assert (row["records"], row["without_time"], row["longest_pause_ms"]) == (3, 3, 0)
    assert outcome.tables["lateness"].num_rows == 0
