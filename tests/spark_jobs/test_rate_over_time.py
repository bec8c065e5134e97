"""Flights by day, as pandas counts them."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pandas as pd
import pytest

from spark_jobs.rate_over_time import JOB, duration_ms
from tests.offline.samples import BASE_MS
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
