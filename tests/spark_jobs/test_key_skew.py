"""Flights by plane, as pandas counts them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from spark_jobs.key_skew import JOB, _topics
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs


def test_flights(run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame):
    outcome = run_job(JOB, "--path", logs.path, "--topics", "flights", "--top", "50")
    hot = outcome.tables["hot_keys"].to_pandas()
    counts = flight_frame["key"].value_counts(dropna=False)
    without = int(flight_frame["key"].isna().sum())
    assert hot["records"].tolist() == counts.nlargest(50).tolist()
    assert hot["rank"].tolist() == list(range(1, 51))
    assert hot["key"].iloc[0] is None
    for key, records in zip(hot["key"][1:], hot["records"][1:], strict=True):
        assert counts[key] == records
    sizes = flight_frame.groupby("key")["size"].sum()
    assert hot["bytes"].iloc[1] == sizes[hot["key"].iloc[1]]
    (topic,) = outcome.tables["topics"].to_pylist()
    assert topic["records"] == len(flight_frame)
    assert topic["keys"] == flight_frame["tailnum"].nunique()
    assert topic["without_key"] == without == topic["hottest"]
    partitions = outcome.tables["partitions"].to_pandas().set_index("partition")
    expected = flight_frame.groupby("partition_of_flights")
    assert partitions["records"].to_dict() == expected.size().to_dict()
    assert partitions["keys"].to_dict() == expected["tailnum"].nunique().to_dict()
    assert partitions["bytes"].to_dict() == expected["size"].sum().to_dict()


def test_a_topic_without_keys_has_no_records_per_key(spark: Any):
    rows = [("with", 0, b"k", 4, 40), ("without", 0, None, 3, 30)]
    schema = "topic string, partition int, key binary, count bigint, bytes bigint"
    found = _topics(spark.createDataFrame(rows, schema)).toArrow().to_pylist()
    assert [(row["topic"], row["keys"], row["records_per_key"]) for row in found] == [
        ("with", 1, 4.0),
        ("without", 0, None),
    ]
