"""The last row of each plane, as pandas keeps it."""

from __future__ import annotations

import pandas as pd

from spark_jobs.compaction_savings import JOB
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs, planes_frame


def test_flights(run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame):
    outcome = run_job(JOB, "--path", logs.path, "--topics", "flights")
    found = outcome.tables["savings"].to_pandas().set_index("partition")
    for partition, rows in flight_frame.groupby("partition_of_flights"):
        last = rows[rows["key"].notna()].drop_duplicates("key", keep="last")
        row = found.loc[partition]
        assert (row["records"], row["bytes"]) == (len(rows), rows["size"].sum())
        assert (row["kept_records"], row["kept_bytes"]) == (len(last), last["size"].sum())
        assert row["without_key"] == rows["key"].isna().sum()
        assert row["tombstones"] == 0


def test_what_is_left_after_compaction_is_what_was_said(
    run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame
):
    outcome = run_job(JOB, "--path", logs.path, "--topics", "planes")
    found = outcome.tables["savings"].to_pandas().set_index("partition")
    last = planes_frame(flight_frame).drop_duplicates(["partition", "key"], keep="last")
    expected = last.groupby("partition")
    assert found["kept_records"].to_dict() == expected.size().to_dict()
    assert found["kept_bytes"].to_dict() == expected["size"].sum().to_dict()
