"""Late records, as pandas finds them with a running maximum."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_jobs.timestamp_disorder import JOB
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
