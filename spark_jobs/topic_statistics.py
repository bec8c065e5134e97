"""Compute topic statistics from the headers of batches: a terabyte takes minutes.

There is one row for each topic, partition and codec: records, batches, bytes on disk, offsets,
times; an empty partition has one row without a codec. Headers are trusted: fsck checks the rest.
Control batches (markers) are counted separately. `first_timestamp_ms` is the smallest of the
batches' first timestamps; later records of a batch may be earlier than its first. (Where a batch
stores a delete horizon in place of its first timestamp, or its first record has no time, its
largest timestamp is used.) Times are null if no record has one.

--since, --until and --isolation read_committed are exact except for `bytes`: a batch that is partly
in the range counts with all its bytes.

--sample-every N decompresses every N-th batch to measure how much codecs save (ratio: bytes of the
records before compression / after). Otherwise only headers are read, and the batches in which the
range of --since or --until begins or ends.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.offline import ReadOptions, Split
from pykbroker.protocol.compression import CODEC_NAMES
from pykbroker.protocol.record_batch import RECORD_BATCH_OVERHEAD
from pykbroker.spark import map_splits
from pykbroker.spark.options import parse_options
from pykbroker.spark.tasks import current_ends
from spark_jobs.parts import pictures
from spark_jobs.parts.exact_batches import exact_batches
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.raw_batches import sample_batches
from spark_jobs.parts.reading import positive, source_options
from spark_jobs.parts.results import Outcome

KEYS: Final = ["topic", "partition", "codec"]
_SAMPLE: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("codec", pa.string()),
        ("stored", pa.int64()),
        ("raw", pa.int64()),
    ]
)
_SAMPLE_DDL: Final = "topic string, partition int, codec string, stored bigint, raw bigint"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--sample-every", type=positive, metavar="N", help="see above")


def run(spark: Any, arguments: Namespace) -> Outcome:
    step("reading headers")
    found = _counts(exact_batches(spark, arguments))
    if arguments.sample_every is not None:
        ratios = _ratios(spark, arguments)
        found = found.join(ratios, KEYS, "left")
    else:
        found = found.withColumn("ratio", f.lit(None).cast("double"))
    table = _with_empty(found.toArrow(), arguments)
    rows = table.to_pylist()
    summary: dict[str, Any] = {
        "topics": len({row["topic"] for row in rows}),
        "partitions": len({(row["topic"], row["partition"]) for row in rows}),
    }
    for name in ("records", "batches", "control_batches", "bytes"):
        summary[name] = sum(row[name] for row in rows)
    return Outcome({"statistics": table}, summary)


def _with_empty(table: Any, arguments: Namespace) -> Any:
    """The rows in order, partitions without any among them."""
    rows = table.to_pylist()
    there = {(row["topic"], row["partition"]) for row in rows}
    for topic, partition in current_ends(parse_options(source_options(arguments))):
        if (topic, partition) not in there:
            none = dict.fromkeys(("records", "batches", "control_batches", "bytes"), 0)
            rows.append({"topic": topic, "partition": partition, **none})
    rows.sort(key=lambda row: (row["topic"], row["partition"], row.get("codec") or ""))
    return pa.Table.from_pylist(rows, schema=table.schema)


def _counts(batches: Any) -> Any:
    own = ~f.col("is_control")
    has_times = own & (f.col("record_count") > 0)
    first, largest = (
        f.when(has_times & (f.col(name) >= 0), f.col(name))
        for name in ("base_timestamp_ms", "max_timestamp_ms")
    )
    return batches.groupBy(*KEYS).agg(
        f.sum(f.when(own, f.col("record_count")).otherwise(0)).alias("records"),
        f.sum(own.cast("long")).alias("batches"),
        f.sum((~own).cast("long")).alias("control_batches"),
        f.sum(f.col("size_bytes").cast("long")).alias("bytes"),
        f.min("base_offset").alias("first_offset"),
        (f.max("last_offset") + 1).alias("next_offset"),
        f.min(f.coalesce(first, largest)).alias("first_timestamp_ms"),
        f.max(largest).alias("max_timestamp_ms"),
    )


def _ratios(spark: Any, arguments: Namespace) -> Any:
    every = arguments.sample_every

    def sample(split: Split, options: ReadOptions) -> Iterator[Any]:
        rows = [
            {
                "topic": split.topic,
                "partition": split.partition,
                "codec": CODEC_NAMES[batch.header.codec],
                "stored": len(batch.stored) - RECORD_BATCH_OVERHEAD,
                "raw": len(batch.payload),
            }
            for batch in sample_batches(split, every, 1 << 62, options)
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=_SAMPLE)

    found = map_splits(spark, source_options(arguments), sample, _SAMPLE_DDL)
    return found.groupBy(*KEYS).agg(f.try_divide(f.sum("raw"), f.sum("stored")).alias("ratio"))


def draw(outcome: Outcome) -> Any:
    """Bytes by codec, and records, of the same topics in one order: the largest first."""
    rows = outcome.tables["statistics"].to_pylist()
    if not rows:
        return None
    sums: dict[str, dict[str, int]] = {}
    codecs: dict[str, dict[str, int]] = {}
    for row in rows:
        mine = sums.setdefault(row["topic"], {"bytes": 0, "records": 0})
        by_codec = codecs.setdefault(row["topic"], {})
        for name in mine:
            mine[name] += row[name]
        if row["codec"] is not None:
            by_codec[row["codec"]] = by_codec.get(row["codec"], 0) + row["bytes"]
    names = pictures.with_others({topic: mine["bytes"] for topic, mine in sums.items()})
    made, (left, right) = pictures.figure(_title(rows, sums), panels=2)
    layers = {
        codec: (
            [sum(codecs[topic].get(codec, 0) for topic in mine) for mine in names.values()],
            pictures.COLOURS[at % len(pictures.COLOURS)],
        )
        for at, codec in enumerate(CODEC_NAMES)
        if any(codec in mine for mine in codecs.values())
    }
    records = [sum(sums[topic]["records"] for topic in mine) for mine in names.values()]
    pictures.stacked(left, list(names), layers, told=pictures.size)
    pictures.bars(right, list(names), records, pictures.UNKNOWN)
    right.set_yticklabels([])
    pictures.legend(left)
    pictures.label(left, "size on disk, by codec", "", "the largest topics first")
    pictures.label(right, "records", "", "and their records, in the same order")
    return made


def _title(rows: list[dict[str, Any]], sums: dict[str, dict[str, int]]) -> str:
    """How much there is, of what, and of when."""
    what = pictures.cut(next(iter(sums)), 40) if len(sums) == 1 else f"{len(sums)} topics"
    records, stored = (sum(mine[name] for mine in sums.values()) for name in ("records", "bytes"))
    verb = "holds" if len(sums) == 1 else "hold"
    title = f"{what} {verb} {pictures.short(records)} records in {pictures.size(stored)} on disk"
    times = [row[name] for row in rows for name in ("first_timestamp_ms", "max_timestamp_ms")]
    dates = [time_ms for time_ms in times if pictures.has_date(time_ms)]
    return f"{title}, of {pictures.days(min(dates), max(dates))}" if dates else title


JOB: Final = Job(__file__, __doc__, run, arguments=arguments, draw=draw, counts_left_out=False)

if __name__ == "__main__":
    JOB.main()
