"""Sizes of keys and values, as numpy has their percentiles."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from spark_jobs.size_percentiles import JOB, SHARES, _groups
from tests.offline.samples import partition_directory
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs

PARTS = ("key", "record", "value")


def test_flights(run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame):
    outcome = run_job(JOB, "--path", logs.path, "--topics", "flights")
    found = {row["part"]: row for row in outcome.tables["percentiles"].to_pylist()}
    keys = flight_frame["key"].notna()
    expected = {
        "key": flight_frame["key_size"][keys],
        "value": flight_frame["value_size"],
        "record": flight_frame["size"],
    }
    assert found.keys() == expected.keys()
    for part, sizes in expected.items():
        row = found[part]
        assert row["records"] == len(sizes)
        assert row["bytes"] == sizes.sum()
        assert (row["min"], row["max"]) == (sizes.min(), sizes.max())
        for name, share in SHARES.items():
            assert row[name] == np.quantile(sizes, share, method="inverted_cdf"), (part, name)
    assert found["key"]["nulls"] == (~keys).sum()
    assert found["value"]["nulls"] == found["record"]["nulls"] == 0


def test_each_topic_is_looked_at_once():
    """Ten thousand topics: to look through the table for each would take a minute."""
    names = [f"t{number:05d}" for number in range(10_000)]
    rows = [(name, part, size) for name in names for part in PARTS for size in (1, 2)]
    topics, parts, found = zip(*rows, strict=True)
    sizes = pa.table({"topic": topics, "part": parts, "size": found, "records": found})
    began = time.process_time()
    groups = list(_groups(sizes))
    assert time.process_time() - began < 5
    assert [group[:2] for group in groups] == [(name, part) for name in names for part in PARTS]
    assert all(group[2].column("size").to_pylist() == [1, 2] for group in groups)


def test_no_records_are_no_picture(run_job: RunJob, tmp_path: Path):
    (partition_directory(tmp_path) / f"{0:020d}.log").touch()
    outcome = run_job(JOB, "--path", str(tmp_path))
    assert outcome.summary["records"] == 0
    assert JOB.draw is not None
    assert JOB.draw(outcome) is None
