"""Flights by day, as pandas counts them."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pandas as pd
import pytest

from pykbroker.protocol.record_batch import build_batch
from pykbroker.spark.faults import OptionError
from spark_jobs.rate_over_time import JOB, duration_ms
from tests.offline.samples import (
    BASE_MS,
    batches_without_a_base,
    partition_directory,
    simple_batches,
    write_segment,
)
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs
from tests.spark_jobs.test_find import odd_times

DAY = 86_400_000


def test_by_day(run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame):
    words = ("--path", logs.path, "--topics", "flights", "--every", "1d")
    found = run_job(JOB, *words).tables["rate"].to_pandas().set_index("bucket_ms")
    days = flight_frame.groupby(flight_frame["timestamp_ms"] // DAY * DAY)
    assert found["records"].to_dict() == days.size().to_dict()
    assert found["bytes"].to_dict() == days["size"].sum().to_dict()


def test_width_is_chosen_and_headers_agree_in_sum(
    run_job: RunJob, ours: FlightLogs, flight_frame: pd.DataFrame
):
    words = ("--path", ours.path, "--topics", "flights", "--by", "headers")
    outcome = run_job(JOB, *words)
    assert outcome.summary["every_ms"] == 2 * DAY
    assert outcome.summary["records"] == len(flight_frame)
    assert outcome.tables["rate"].num_rows <= 200


def test_durations():
    assert duration_ms("15m") == 900_000
    for wrong in ("15", "0m", "m", "1.5h"):
        with pytest.raises(ArgumentTypeError):
            duration_ms(wrong)


@pytest.mark.parametrize("by", ["records", "headers"])
def test_times_that_no_calendar_has(run_job: RunJob, tmp_path: Path, by: str):
    odd_times(tmp_path)
    outcome = run_job(JOB, "--path", str(tmp_path), "--by", by)
    assert outcome.summary["every_ms"] == 1000  # they do not widen it
    assert outcome.summary["records"] == 5
    assert outcome.summary["records_without_a_date"] == 3
    rows = outcome.tables["rate"].to_pylist()
    found = [(row["bucket_ms"], row["records"], row["bucket"] is None) for row in rows]
    assert found == [
        (BASE_MS // 1000 * 1000, 2, False),
        (BASE_MS * 1000, 2, True),
        ((1 << 61) // 1000 * 1000, 1, True),
    ]
    assert JOB.draw is not None
    (axes,) = JOB.draw(outcome).axes
    assert "not drawn: 3 records" in axes.get_xlabel()
    # A single bucket is a dot between two zeros.
    assert axes.lines[0].get_ydata().tolist() == [0, 2, 0]
    assert axes.lines[1].get_marker() == "o"


@pytest.mark.parametrize("by", ["records", "headers"])
def test_records_without_a_time(run_job: RunJob, tmp_path: Path, by: str):
    """They are of no piece of time, and do not widen it."""
    times = [[-1, -1, -1], [BASE_MS, -1], [BASE_MS + 1000]]
    batches = [
        bytes(build_batch([(b"k", b"v", at, ()) for at in mine], base_offset=3 * n))
        for n, mine in enumerate(times)
    ]
    write_segment(partition_directory(tmp_path), batches)
    outcome = run_job(JOB, "--path", str(tmp_path), "--by", by)
    found = [
        (row["bucket_ms"], row["records"], row["bucket"] is None)
        for row in outcome.tables["rate"].to_pylist()
    ]
    # A batch is counted by its largest time.
    none, first = (3, 2) if by == "headers" else (4, 1)
    assert found == [(None, none, True), (BASE_MS, first, False), (BASE_MS + 1000, 1, False)]
    summary = outcome.summary
    assert (summary["every_ms"], summary["records"], summary["buckets"]) == (1000, 6, 2)
    assert summary["records_without_a_date"] == none
    assert summary["peak_records_per_second"] == first


@pytest.mark.parametrize("by", ["records", "headers"])
def test_a_delete_horizon_is_no_time_of_a_record(run_job: RunJob, tmp_path: Path, by: str):
    """It is a day later than all of them: no reason for wider buckets."""
    write_segment(partition_directory(tmp_path), batches_without_a_base())
    outcome = run_job(JOB, "--path", str(tmp_path), "--by", by)
    assert outcome.summary["every_ms"] == 1000
    found = [(row["bucket_ms"], row["records"]) for row in outcome.tables["rate"].to_pylist()]
    assert found == [(BASE_MS, 9)]


def test_headers_of_a_range(run_job: RunJob, tmp_path: Path):
    write_segment(partition_directory(tmp_path), simple_batches(3))
    words = ("--path", str(tmp_path), "--since", str(BASE_MS + 4), "--until", str(BASE_MS + 25))
    assert run_job(JOB, *words, "--by", "headers").summary["records"] == 21


def test_headers_of_committed_records(run_job: RunJob, apache: FlightLogs):
    words = ("--path", apache.path, "--topics", "bookings", "--isolation", "read_committed")
    assert run_job(JOB, *words, "--by", "headers").summary["records"] == 7000
    assert run_job(JOB, *words).summary["records"] == 7000


def test_the_picture_of_one_bucket(run_job: RunJob, tmp_path: Path):
    """The axis is as wide as the bucket, not a second."""
    write_segment(partition_directory(tmp_path), simple_batches(3))
    outcome = run_job(JOB, "--path", str(tmp_path), "--every", "7d")
    assert JOB.draw is not None
    (axes,) = JOB.draw(outcome).axes
    low, high = axes.get_xlim()  # in days
    assert 7 < high - low < 21
    (line,) = (each for each in axes.lines if each.get_drawstyle() == "steps-post")
    assert line.get_ydata().tolist() == [0, 30, 0]


def test_conditions_on_records(run_job: RunJob, tmp_path: Path):
    """Headers do not know: they are not ignored."""
    write_segment(partition_directory(tmp_path), simple_batches(3))
    words = ("--path", str(tmp_path), "--option", "where=key = 'key-3'")
    assert run_job(JOB, *words).summary["records"] == 4
    with pytest.raises(OptionError, match="where"):
        run_job(JOB, *words, "--by", "headers")
