"""The last row of each plane, as pandas keeps it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pykbroker.protocol.record_batch import build_batch
from spark_jobs.compaction_savings import JOB
from tests.offline.samples import BASE_MS, partition_directory, write_segment
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


def test_records_of_no_bytes(run_job: RunJob, tmp_path: Path):
    rows = [(None, b"", BASE_MS, ())] * 5
    write_segment(partition_directory(tmp_path, "empty"), [bytes(build_batch(rows))])
    (row,) = run_job(JOB, "--path", str(tmp_path)).tables["savings"].to_pylist()
    assert (row["records"], row["bytes"], row["saved_share"]) == (5, 0, None)
