"""Compute what compaction would leave of topics: the last record of each key in each partition.

`kept_records` counts the records that stay, tombstones (null values) among them; a tombstone is
deleted as well once it is older than delete.retention.ms. Records without a key do not stay. Bytes
are those of keys and values. For a topic that is already compacted, the result is what the cleaner
still has to do.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.spark import map_batches
from spark_jobs.parts import pictures
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import source_options
from spark_jobs.parts.results import Outcome

COLUMNS: Final = ("key", "topic", "partition", "offset", "key_size", "value_size")
_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("key", pa.binary()),
        ("records", pa.int64()),
        ("bytes", pa.int64()),
        ("last_offset", pa.int64()),
        ("last_bytes", pa.int64()),
        ("is_tombstone", pa.bool_()),
    ]
)
_DDL: Final = (
    "topic string, partition int, key binary, records bigint, bytes bigint, last_offset bigint, "
    "last_bytes bigint, is_tombstone boolean"
)


def run(spark: Any, arguments: Namespace) -> Outcome:
    step("finding the last record of each key")
    found = map_batches(spark, source_options(arguments, COLUMNS), _last_by_key, _DDL)
    last = f.struct("last_offset", "last_bytes", "is_tombstone")
    by_key = found.groupBy("topic", "partition", "key").agg(
        f.sum("records").alias("records"), f.sum("bytes").alias("bytes"), f.max(last).alias("last")
    )
    has_key = f.col("key").isNotNull()
    dead = has_key & f.col("last.is_tombstone")

    def total(condition: Any, value: Any) -> Any:
        return f.sum(f.when(condition, value).otherwise(0))

    table = (
        by_key.groupBy("topic", "partition")
        .agg(
            f.sum("records").alias("records"),
            f.sum("bytes").alias("bytes"),
            total(has_key, 1).cast("long").alias("kept_records"),
            total(has_key, f.col("last.last_bytes")).alias("kept_bytes"),
            total(dead, 1).cast("long").alias("tombstones"),
            total(dead, f.col("last.last_bytes")).alias("tombstone_bytes"),
            total(~has_key, f.col("records")).alias("without_key"),
        )
        .withColumn("saved_share", 1 - f.try_divide("kept_bytes", "bytes"))
        .orderBy("topic", "partition")
        .toArrow()
    )
    summary: dict[str, Any] = {
        name: sum(table.column(name).to_pylist())
        for name in ("records", "bytes", "kept_records", "kept_bytes", "tombstones")
    }
    summary["records_without_key"] = sum(table.column("without_key").to_pylist())
    whole = summary["bytes"]
    summary["saved_share"] = 1 - summary["kept_bytes"] / whole if whole else None
    return Outcome({"savings": table}, summary)


def _last_by_key(batches: Iterator[Any]) -> Iterator[Any]:
    """In the workers: return the last record of each key per record batch (of one partition)."""
    for batch in batches:
        if not batch.num_rows:
            continue
        sizes = {
            name: pc.max_element_wise(pc.fill_null(batch.column(name), 0).cast(pa.int64()), 0)
            for name in ("key_size", "value_size")
        }
        size = pc.add(sizes["key_size"], sizes["value_size"])
        dead = pc.is_null(batch.column("value_size"))
        # One number that grows with the offset brings the place of the last record with it.
        place = pa.array(range(batch.num_rows), pa.int64())
        table = pa.table({"key": batch.column("key"), "size": size, "place": place})
        grouped = table.group_by(["key"], use_threads=False).aggregate(
            [("place", "count"), ("size", "sum"), ("place", "max")]
        )
        last = grouped.column("place_max").combine_chunks()
        count = grouped.num_rows
        yield pa.RecordBatch.from_arrays(
            [
                pa.repeat(batch.column("topic")[0], count),
                pa.repeat(batch.column("partition")[0], count),
                grouped.column("key").combine_chunks(),
                grouped.column("place_count").combine_chunks(),
                grouped.column("size_sum").combine_chunks(),
                batch.column("offset").take(last),
                size.take(last),
                dead.take(last),
            ],
            schema=_SCHEMA,
        )


def draw(outcome: Outcome) -> Any:
    """Draw what remains and what would be removed, by topic."""
    whole: dict[str, int] = {}
    kept: dict[str, int] = {}
    for row in outcome.tables["savings"].to_pylist():
        whole[row["topic"]] = whole.get(row["topic"], 0) + row["bytes"]
        kept[row["topic"]] = kept.get(row["topic"], 0) + row["kept_bytes"]
    if not whole:
        return None
    names = pictures.with_others(whole)
    sums = [(sum(whole[t] for t in mine), sum(kept[t] for t in mine)) for mine in names.values()]
    total, stays = (sum(each) for each in zip(*sums, strict=True))
    title = f"Compaction would free {_of(total - stays, total)} of keys and values"
    made, axes = pictures.figure(f"{title} in {_topics(list(whole))}")
    layers = {
        "stays: the last record of each key": ([left for _, left in sums], pictures.GOOD),
        "would go": ([all_ - left for all_, left in sums], "#c8c8c8"),
    }
    notes = [
        f"{pictures.size(left)} stays, {pictures.size(all_ - left)} would go" for all_, left in sums
    ]
    pictures.stacked(axes, list(names), layers, notes, pictures.size)
    pictures.legend(axes)
    pictures.label(axes, "size of keys and values", "")
    return made


def _of(part: int, whole: int) -> str:
    share = f" ({pictures.percent(100 * part / whole)})" if whole else ""
    return f"{pictures.size(part)} of {pictures.size(whole)}{share}"


def _topics(names: list[str]) -> str:
    return pictures.cut(names[0], 40) if len(names) == 1 else f"{len(names)} topics"


JOB: Final = Job(__file__, __doc__, run, draw=draw)

if __name__ == "__main__":
    JOB.main()
