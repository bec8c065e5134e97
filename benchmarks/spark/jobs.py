"""The jobs: each by Spark's connector from the broker, and by us from the broker's files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import functions as F

from benchmarks.spark.topics import Topic
from pykbroker.spark import aggregate, read_cached, to_parquet

#: The number of records, then what else was found of them (not by every way).
Found = tuple[int, ...]


@dataclass(frozen=True)
class Place:
    """Where the data is: a broker, its log directory, and a directory for a cache of records."""

    spark: Any
    servers: str
    path: str
    cache: str

    def connector(self, topic: Topic, tuned: bool) -> Any:
        reader = self.spark.read.format("kafka").option("kafka.bootstrap.servers", self.servers)
        if tuned:
            reader = (
                reader.option("minPartitions", "8")
                .option("kafka.max.partition.fetch.bytes", str(8 << 20))
                .option("kafka.fetch.max.bytes", str(64 << 20))
                .option("kafka.max.poll.records", "20000")
            )
        return reader.option("subscribe", topic.name).load()

    def ours(self, topic: Topic, columns: str | None = None) -> Any:
        reader = self.spark.read.format("pykbroker").option("subscribe", topic.name)
        if columns is not None:
            reader = reader.option("columns", columns)
        return reader.load(self.path)

    def cached(self, topic: Topic) -> Any:
        """Read the cache, which the first read fills (unless --cold, in the warm-up round)."""
        return read_cached(self.spark, {"path": self.path, "subscribe": topic.name}, self.cache)


@dataclass(frozen=True)
class Job:
    """Two ways to one result; `goals`: how many times as fast ours must be, by size of values."""

    name: str
    theirs: Callable[[Place, Topic, bool], Found]
    ours: Callable[[Place, Topic], Found]
    goals: dict[int, float]

    @property
    def kind(self) -> str:
        """The kind of the job; jobs of one kind answer the same question."""
        return self.name.partition(":")[0]


def _sums(frame: Any) -> Found:
    row = frame.agg(F.count("*"), F.sum(F.length("value"))).collect()[0]
    return row[0], row[1]


def _sums_of_sizes(frame: Any) -> Found:
    row = frame.agg(F.count("*"), F.sum("value_size")).collect()[0]
    return row[0], row[1]


def _groups(frame: Any) -> Found:
    return _records_and_groups(frame.groupBy("key").count())


def _groups_in_worker(place: Place, topic: Topic) -> Found:
    options = {"path": place.path, "subscribe": topic.name}
    return _records_and_groups(aggregate(place.spark, options))


def _records_and_groups(groups: Any) -> Found:
    row = groups.agg(F.sum("count"), F.count("*")).collect()[0]
    return row[0], row[1]


def _sums_in_worker(place: Place, topic: Topic) -> Found:
    total = aggregate(place.spark, {"path": place.path, "subscribe": topic.name}, by=())
    return (total.collect()[0]["count"],)


def _written(frame: Any) -> Found:
    target = tempfile.mkdtemp(prefix="pykbroker-bench-")
    try:
        frame.select("key", "value", "offset", "timestamp").write.mode("overwrite").parquet(target)
        return (_rows_of(target),)
    finally:
        shutil.rmtree(target)


def _exported(place: Place, topic: Topic) -> Found:
    target = tempfile.mkdtemp(prefix="pykbroker-bench-")
    options = {
        "path": place.path,
        "subscribe": topic.name,
        "columns": "key,value,offset,timestamp",
    }
    try:
        to_parquet(place.spark, options, target)
        return (_rows_of(target),)
    finally:
        shutil.rmtree(target)


def _rows_of(target: str) -> int:
    """Return the row count in the footers of the Parquet files in a directory."""
    files = Path(target).glob("*.parquet")
    return sum(pq.read_metadata(file).num_rows for file in files)


JOBS = (
    Job(
        "count, sum of lengths: all columns",
        lambda place, topic, tuned: _sums(place.connector(topic, tuned)),
        lambda place, topic: _sums(place.ours(topic)),
        {100: 5, 1024: 3},
    ),
    Job(
        "count, sum of lengths: the column chosen",
        lambda place, topic, tuned: _sums(place.connector(topic, tuned)),
        lambda place, topic: _sums(place.ours(topic, "value")),
        {100: 5, 1024: 3},
    ),
    Job(
        "count, sum of lengths: the size chosen",
        lambda place, topic, tuned: _sums(place.connector(topic, tuned)),
        lambda place, topic: _sums_of_sizes(place.ours(topic, "value_size")),
        {100: 5, 1024: 3},
    ),
    Job(
        "count, sum of lengths: read_cached()",
        lambda place, topic, tuned: _sums(place.connector(topic, tuned)),
        lambda place, topic: _sums(place.cached(topic)),
        {100: 12, 1024: 6},
    ),
    Job(
        "count, sum of lengths: aggregate()",
        lambda place, topic, tuned: _sums(place.connector(topic, tuned)),
        _sums_in_worker,
        {100: 10, 1024: 5},
    ),
    Job(
        "group by key: a DataFrame of keys",
        lambda place, topic, tuned: _groups(place.connector(topic, tuned)),
        lambda place, topic: _groups(place.ours(topic, "key")),
        {100: 8},
    ),
    Job(
        "group by key: aggregate()",
        lambda place, topic, tuned: _groups(place.connector(topic, tuned)),
        _groups_in_worker,
        {100: 8},
    ),
    Job(
        "Parquet: df.write.parquet",
        lambda place, topic, tuned: _written(place.connector(topic, tuned)),
        lambda place, topic: _written(place.ours(topic, "key,value,offset,timestamp")),
        {},
    ),
    Job(
        "Parquet: to_parquet()",
        lambda place, topic, tuned: _written(place.connector(topic, tuned)),
        _exported,
        {100: 5},
    ),
)
