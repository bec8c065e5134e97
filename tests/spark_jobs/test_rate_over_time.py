"""Flights by day, as pandas counts them."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pandas as pd
import pytest

from spark_jobs.rate_over_time import JOB, duration_ms
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs

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
