"""Kafka log directories in Spark: the data source `pykbroker`, and functions
that run in the workers.

    from pykbroker.spark import register
    register(spark)
    spark.read.format("pykbroker").option("subscribe", "orders").load("/var/kafka-logs")

See docs/analytics.md. Needs pyspark 4.2 (`pip install '.[spark]'` in a checkout).

    register, tuned_builder, package           sessions                       session.py
    LogSource                                  batches and streams            source.py
    plan_tasks, map_batches, map_splits, map_items, aggregate                 in_worker.py
    to_parquet                                                                parquet_export.py
    read_cached                                                               record_cache.py
"""

from __future__ import annotations

from pykbroker.spark.faults import OptionError
from pykbroker.spark.in_worker import aggregate, map_batches, map_items, map_splits, plan_tasks
from pykbroker.spark.parquet_export import ExportReport, to_parquet
from pykbroker.spark.record_cache import read_cached
from pykbroker.spark.session import package, register, tuned_builder, tuned_conf
from pykbroker.spark.source import LogSource
from pykbroker.spark.tasks import LogTask

__all__ = [
    "ExportReport",
    "LogSource",
    "LogTask",
    "OptionError",
    "aggregate",
    "map_batches",
    "map_items",
    "map_splits",
    "package",
    "plan_tasks",
    "read_cached",
    "register",
    "to_parquet",
    "tuned_builder",
    "tuned_conf",
]
