"""The data source `pykbroker`: topics of log directories as DataFrames, in batches and streams.

    spark.read.format("pykbroker").option("path", "/var/kafka-logs").option("subscribe", "orders")

Columns, options and offsets follow Spark's Kafka source (see option_names.py). Spark pickles these
objects: the reader is created, plans, and is sent to the workers with its tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from pykbroker.spark.columns import chosen_columns, spark_schema, worker_schema
from pykbroker.spark.faults import told_briefly
from pykbroker.spark.filters import Pushdown
from pykbroker.spark.options import SourceOptions, parse_options
from pykbroker.spark.stream_driver import LogStreamReader
from pykbroker.spark.task_reader import conform, read_task
from pykbroker.spark.tasks import LogTask, plan_tasks
from pykbroker.spark.worker_noise import hush_closed_pipes

hush_closed_pipes()  # also in the workers that only look for data sources, or plan a read


class LogReader(DataSourceReader):  # type: ignore[misc]
    """A batch read."""

    def __init__(self, options: SourceOptions, schema: StructType, tasks: int) -> None:
        self.options = options
        self.columns = chosen_columns(schema, options)
        self.arrow_schema = worker_schema(schema)
        self.at_least = tasks
        self.pushed = Pushdown()

    @told_briefly
    def partitions(self) -> list[InputPartition]:
        columns = self.columns if self.options.view == "records" else None
        return list(plan_tasks(self.options, self.pushed, columns=columns, at_least=self.at_least))

    def read(self, partition: InputPartition) -> Iterator[Any]:
        if not isinstance(partition, LogTask):
            return iter(())  # Spark's stand-in for no partitions at all
        return conform(read_task(partition), self.arrow_schema)


class FilteringLogReader(LogReader):
    """A batch read that accepts Spark's filters: option `pushdown`.

    Only for DataFrames that are used in one query, once: Spark 4.2 keeps the pushed filters and
    applies them to the next query on the same DataFrame, and to other branches of the same query.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        if self.options.view != "records":
            return list(filters)
        return list(self.pushed.push(filters, self.columns))


class LogSource(DataSource):  # type: ignore[misc]
    """Records, or the view that option `view` names."""

    #: The view that the name of the format has chosen.
    fixed_view: str | None = None
    #: At least so many tasks, if there is enough to read; `register` sets it to the cores.
    tasks: int = 1

    @classmethod
    def name(cls) -> str:
        return "pykbroker" if cls.fixed_view is None else f"pykbroker.{cls.fixed_view}"

    def _parsed(self) -> SourceOptions:
        return parse_options(dict(self.options), self.fixed_view)

    @told_briefly
    def schema(self) -> StructType:
        return spark_schema(self._parsed())

    @told_briefly
    def reader(self, schema: StructType) -> DataSourceReader:
        options = self._parsed()
        options.check_batch()
        kind = FilteringLogReader if options.pushdown else LogReader
        return kind(options, schema, self.tasks)

    @told_briefly
    def streamReader(self, schema: StructType) -> LogStreamReader:
        options = self._parsed()
        options.check_stream()
        return LogStreamReader(options, schema, self.tasks)


class BatchesSource(LogSource):
    """One row per record batch."""

    fixed_view = "batches"


class SegmentsSource(LogSource):
    """One row per segment."""

    fixed_view = "segments"


class TransactionsSource(LogSource):
    """One row per transaction in a partition."""

    fixed_view = "transactions"


SOURCES = (LogSource, BatchesSource, SegmentsSource, TransactionsSource)
