"""Flights by plane, as pandas counts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from pykbroker.protocol.record_batch import build_batch
from spark_jobs.key_skew import JOB, _topics
from tests.offline.samples import BASE_MS, partition_directory, write_segment
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
    assert topic["without_key"] == without
    assert topic["hottest"] == flight_frame["tailnum"].value_counts().max()
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


def test_records_without_a_key_have_no_part_in_what_is_told_of_keys(
    run_job: RunJob, tmp_path: Path
):
    rows = [(b"a", b"", BASE_MS, ())] * 6 + [(b"b", b"", BASE_MS, ())] * 2
    nulls = [(None, b"", BASE_MS, ())] * 40
    write_segment(partition_directory(tmp_path, "some"), [bytes(build_batch([*rows, *nulls]))])
    write_segment(partition_directory(tmp_path, "none"), [bytes(build_batch(nulls))])
    outcome = run_job(JOB, "--path", str(tmp_path))
    none, some = outcome.tables["topics"].to_pylist()
    assert (some["records_per_key"], some["hottest"], some["without_key"]) == (4, 6, 40)
    assert (none["records_per_key"], none["hottest"], none["hottest_share"]) == (None, None, None)
    assert outcome.summary == {"topics": 2, "records": 88, "keys": 2, "records_without_key": 80}
    assert outcome.notes == [
        "none: 0 keys, 40 records without a key",
        "some: 2 keys, the hottest has 12.50% of the records, 40 records without a key",
    ]
