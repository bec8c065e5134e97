"""Transactions of Apache's broker: committed, aborted, open, with as many records as were sent."""

from __future__ import annotations

import pandas as pd

from spark_jobs.transactions import JOB
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs, bookings_frame


def test_bookings(run_job: RunJob, apache: FlightLogs, flight_frame: pd.DataFrame):
    outcome = run_job(JOB, "--path", apache.path)
    rows = bookings_frame(flight_frame)
    states = outcome.tables["states"].to_pandas().set_index(["partition", "state"])
    expected = rows.groupby(["partition", "state"])
    assert set(outcome.tables["states"].column("topic").to_pylist()) == {"bookings"}
    assert states["records"].to_dict() == expected.size().to_dict()
    assert states["transactions"].to_dict() == expected["transaction"].nunique().to_dict()
    for state in ("committed", "aborted", "open"):
        assert outcome.summary[f"{state}_records"] == (rows["state"] == state).sum()
    assert outcome.summary["oldest_open"].startswith("bookings-")
    for _, mine in outcome.tables["transactions"].to_pandas().groupby("partition"):
        in_order = mine.sort_values("first_offset")["record_count"]
        assert in_order.tolist() == [500] * 12


def test_there_are_none(run_job: RunJob, ours: FlightLogs):
    outcome = run_job(JOB, "--path", ours.path, "--topics", "flights")
    assert outcome.tables["transactions"].num_rows == 0
    assert outcome.summary["open_transactions"] == 0
