"""Work that is done in the workers: only its results are sent to the JVM.

    map_batches   any function over the record batches of a task
    map_splits    any function over a split, for functions that read raw batches
    map_items     any function over any values
    aggregate     group, count, sum; Spark merges the results of the tasks

Measured against a DataFrame of records: group by key 1.7 times as fast. See parquet_export.py, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from pykbroker.offline import ALL_COLUMNS, ReadOptions, Split
from pykbroker.spark.faults import OptionError
from pykbroker.spark.options import parse_options
from pykbroker.spark.task_reader import read_task, settle_worker
from pykbroker.spark.tasks import LogTask
from pykbroker.spark.tasks import plan_tasks as plan_parsed

OnBatches = Callable[[Iterator[Any]], Iterator[Any]]
OnSplit = Callable[[Split, ReadOptions], Iterator[Any]]
_Item = TypeVar("_Item")

#: So many records are grouped at once in a worker; half as many groups are handed to Spark.
_ROWS_AT_ONCE: Final = 1 << 18
#: Options that say what `aggregate` says itself.
_COLUMN_OPTIONS: Final = frozenset({"columns", "includeheaders", "includebatchmetadata"})


def plan_tasks(
    options: Mapping[str, object], at_least: int = 1, split_bytes: int | None = None
) -> list[LogTask]:
    """Return the tasks of a batch read with these options of the source."""
    given = dict(options) if split_bytes is None else {**options, "splitBytes": split_bytes}
    return plan_parsed(parse_options(given), at_least=at_least)


def map_items(
    spark: Any, items: Sequence[_Item], function: Callable[[_Item], Iterator[Any]], schema: Any
) -> Any:
    """Return a DataFrame of the record batches that `function(item)` yields in the workers, one
    task per item; `schema` is DDL or a StructType.
    """
    chosen = list(items)

    def run(numbers: Iterator[Any]) -> Iterator[Any]:
        settle_worker()
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from function(chosen[number])

    return spark.range(0, len(chosen), 1, max(1, len(chosen))).mapInArrow(run, schema)


def parallelism(spark: Any) -> int:
    """Return how many tasks run at once, as far as known."""
    context = getattr(spark, "_sc", None)
    return int(context.defaultParallelism) if context is not None else 1


def map_batches(spark: Any, options: Mapping[str, object], function: OnBatches, schema: Any) -> Any:
    """Return a DataFrame of what `function` yields. It is called in the workers with the record
    batches of each task, and must yield record batches of `schema` (DDL or StructType).
    """
    tasks = plan_tasks(options, parallelism(spark))
    return map_items(spark, tasks, lambda task: function(read_task(task)), schema)


def map_splits(spark: Any, options: Mapping[str, object], function: OnSplit, schema: Any) -> Any:
    """The same with one call for each split: for jobs that look at files, not at records.

    Raises OptionError for conditions (`where`) that need the records.
    """
    tasks = plan_tasks(options, parallelism(spark))
    if any(task.filters for task in tasks):
        raise OptionError(
            "where", "whole batches are read, so conditions on their records are not possible"
        )

    def run(task: LogTask) -> Iterator[Any]:
        for split in task.splits:
            yield from function(split, task.read_options)

    return map_items(spark, tasks, run, schema)


# -- aggregate ----------------------------------------------------------------------------------


def aggregate(spark: Any, options: Mapping[str, object], by: Sequence[str] = ("key",)) -> Any:
    """Return by..., count, bytes (of keys and values): grouped in the workers, merged by Spark."""
    from pyspark.sql import functions
    from pyspark.sql.pandas.types import from_arrow_schema

    for option in options:
        if option.lower() in _COLUMN_OPTIONS:
            raise OptionError(
                option, "cannot be used with aggregate, which reads the columns of `by`"
            )
    names = tuple(by)
    for name in names:
        if name not in ALL_COLUMNS or pa.types.is_nested(ALL_COLUMNS[name]):
            raise OptionError("by", f"cannot group by {name!r}")
    columns = dict.fromkeys((*names, "key_size", "value_size"))
    tasks = plan_tasks({**options, "columns": ",".join(columns)}, parallelism(spark))
    partial = pa.schema(
        [(name, ALL_COLUMNS[name]) for name in names]
        + [("count", pa.int64()), ("bytes", pa.int64())]
    )
    found = map_items(
        spark,
        tasks,
        lambda task: _partial_groups(read_task(task), names, partial),
        from_arrow_schema(partial),
    )
    return found.groupBy(*names).agg(
        functions.sum("count").alias("count"), functions.sum("bytes").alias("bytes")
    )


def _partial_groups(batches: Iterator[Any], names: tuple[str, ...], schema: Any) -> Iterator[Any]:
    """Groups of many batches at once: grouping costs by the call and by the group."""
    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(_measured(batch, names))
        rows += held[-1].num_rows
        if rows > _ROWS_AT_ONCE:
            groups = _group(pa.concat_tables(held), names, schema)
            held, rows = [groups], groups.num_rows
            if rows > _ROWS_AT_ONCE // 2:  # almost as many groups as rows
                yield from groups.combine_chunks().to_batches()
                held, rows = [], 0
    if held:
        groups = _group(pa.concat_tables(held), names, schema)
        yield from groups.combine_chunks().to_batches()


def _measured(batch: Any, names: tuple[str, ...]) -> Any:
    """The columns to group by, with a count of one and the size of each record."""
    sizes = [
        column if not column.null_count else pc.fill_null(column, 0)
        for column in (batch.column("key_size"), batch.column("value_size"))
    ]
    if not names:
        total = (pc.sum(sizes[0]).as_py() or 0) + (pc.sum(sizes[1]).as_py() or 0)
        columns = [pa.array([batch.num_rows], pa.int64()), pa.array([total], pa.int64())]
        return pa.table(columns, names=["count", "bytes"])
    ones = pa.repeat(pa.scalar(1, pa.int64()), batch.num_rows)
    total = pc.add(*sizes).cast(pa.int64())  # a record is smaller than 2 GiB
    return pa.table([*map(batch.column, names), ones, total], names=[*names, "count", "bytes"])


def _group(table: Any, names: tuple[str, ...], schema: Any) -> Any:
    found = table.group_by(list(names), use_threads=False).aggregate(
        [("count", "sum"), ("bytes", "sum")]
    )
    columns = [found.column(name) for name in (*names, "count_sum", "bytes_sum")]
    return pa.table(columns, schema=schema)
