"""What compaction would leave of the topics: the last record of each key of each partition.

`kept` are those that stay, tombstones (null values) among them; tombstones go too once they are
older than delete.retention.ms. Records without a key cannot stay in a compacted topic. Bytes are
those of keys and values; on a topic that is compacted already, this is what the cleaner has still
to do.
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
from spark_jobs import pictures
from spark_jobs.job import Job
from spark_jobs.progress import step
from spark_jobs.reading import source_options
from spark_jobs.results import Outcome

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
        for name in ("records", "bytes", "kept_records", "kept_bytes", "tombstones", "without_key")
    }
    if summary["bytes"]:
        summary["saved"] = f"{1 - summary['kept_bytes'] / summary['bytes']:.1%} of the bytes"
    return Outcome({"savings": table}, summary)


def _last_by_key(batches: Iterator[Any]) -> Iterator[Any]:
    """In the workers: of each record batch (of one partition) the last record of each key."""
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
    by_topic: dict[str, dict[str, int]] = {}
    for row in outcome.tables["savings"].to_pylist():
        sums = by_topic.setdefault(row["topic"], dict.fromkeys(("bytes", "kept_bytes"), 0))
        for name in sums:
            sums[name] += row[name]
    topics = sorted(by_topic, key=lambda topic: -by_topic[topic]["bytes"])[:15]
    kept = [by_topic[topic]["kept_bytes"] / 1e6 for topic in topics]
    gone = [by_topic[topic]["bytes"] / 1e6 - left for topic, left in zip(topics, kept, strict=True)]
    made, axes = pictures.figure("What compaction would leave")
    layers = {"stays": (kept, pictures.GOOD), "would go": (gone, "#d8d8d8")}
    pictures.stacked(axes, topics, layers)
    pictures.label(axes, "MB of keys and values", "")
    return made


JOB: Final = Job(__file__, __doc__, run, draw=draw)

if __name__ == "__main__":
    JOB.main()
