"""Sizes of keys and values, as numpy has their percentiles."""

from __future__ import annotations

import numpy as np
import pandas as pd

from spark_jobs.size_percentiles import JOB, SHARES
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs


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
