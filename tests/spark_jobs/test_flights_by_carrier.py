"""Flights and mean delays by carrier: Spark on the files says what pandas says of the package."""

from __future__ import annotations

from typing import Any

import pandas as pd

from tests.spark_jobs.flight_logs import FlightLogs, bookings_frame, planes_frame

FIELDS = "carrier string, dep_delay double, arr_delay double"


def by_carrier(spark: Any, logs: FlightLogs, topic: str, **options: str) -> pd.DataFrame:
    from pyspark.sql import functions as f

    read = spark.read.format("pykbroker").options(path=logs.path, subscribe=topic, **options)
    flights = read.load().select(f.from_json(f.col("value").cast("string"), FIELDS).alias("f"))
    found = flights.groupBy("f.carrier").agg(
        f.count("*").alias("flights"),
        f.mean("f.dep_delay").alias("dep_delay"),
        f.mean("f.arr_delay").alias("arr_delay"),
    )
    table: pd.DataFrame = found.toPandas().set_index("carrier").sort_index()
    return table


def expected_of(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.groupby("carrier").agg(
        flights=("carrier", "size"),
        dep_delay=("dep_delay", "mean"),
        arr_delay=("arr_delay", "mean"),
    )


def same(found: pd.DataFrame, rows: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, expected_of(rows), check_names=False, check_dtype=False)


def test_all_codecs(spark: Any, logs: FlightLogs, flight_frame: pd.DataFrame):
    same(by_carrier(spark, logs, "flights"), flight_frame)


def test_compacted_topic(spark: Any, logs: FlightLogs, flight_frame: pd.DataFrame):
    """The table view: the last row of each plane, whatever the cleaner has left before it."""
    from pyspark.sql import functions as f

    read = spark.read.format("pykbroker").options(path=logs.path, subscribe="planes")
    last = read.load().groupBy("partition", "key").agg(f.max_by("value", "offset").alias("value"))
    found = (
        last.select(f.from_json(f.col("value").cast("string"), FIELDS).alias("f"))
        .groupBy("f.carrier")
        .agg(
            f.count("*").alias("flights"),
            f.mean("f.dep_delay").alias("dep_delay"),
            f.mean("f.arr_delay").alias("arr_delay"),
        )
    )
    planes = planes_frame(flight_frame).drop_duplicates(["partition", "key"], keep="last")
    same(found.toPandas().set_index("carrier").sort_index(), planes)


def test_committed_and_all_transactions(spark: Any, apache: FlightLogs, flight_frame: pd.DataFrame):
    rows = bookings_frame(flight_frame)
    committed = by_carrier(spark, apache, "bookings", isolation="read_committed")
    same(committed, rows[rows["state"] == "committed"])
    same(by_carrier(spark, apache, "bookings"), rows)
