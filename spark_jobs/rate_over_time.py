"""Count records and bytes over time, by the timestamps of the records.

--every 1h (s, m, h or d) sets the width of a bucket; by default it is the smallest of some widths
(1s to 30d) that gives at most 200 buckets, or the largest. --by headers counts a whole batch in the
bucket of its largest timestamp: it reads only headers, and is accurate where batches span a short
time. (If only part of a batch is in the range from --since to --until, that batch is decoded, and
only the records in the range count.) Bytes are those of keys and values, or bytes on disk with --by
headers. A time that no calendar has (microseconds in a field for milliseconds) is a row with
`bucket_ms` alone; records without a time (-1) are a row with neither `bucket_ms` nor `bucket`.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.spark import map_batches
from spark_jobs.parts import pictures
from spark_jobs.parts.exact_batches import exact_batches
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import source_options, without_conditions
from spark_jobs.parts.results import Outcome
from spark_jobs.parts.sizes import sizes_of

_UNITS: Final = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_WORDS: Final = {"s": "second", "m": "minute", "h": "hour", "d": "day"}
_STEPS: Final = ("1s", "5s", "15s", "1m", "5m", "15m", "1h", "3h", "6h", "1d", "2d", "7d", "30d")
_MOST_BUCKETS: Final = 200
#: Topics of no more buckets have a dot on each of them.
_MARKED: Final = 40
#: Peaks so far from each other are not told on a linear axis.
_FAR_APART: Final = 50
_DDL: Final = "topic string, bucket_ms bigint, records bigint, bytes bigint"
_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("bucket_ms", pa.int64()),
        ("records", pa.int64()),
        ("bytes", pa.int64()),
    ]
)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--every",
        type=duration_ms,
        help="width of a bucket, such as 15m (default: at most 200 buckets)",
    )
    parser.add_argument("--by", choices=("records", "headers"), default="records", help="see above")


def duration_ms(text: str) -> int:
    """`15m` in ms."""
    match = re.fullmatch(r"([1-9]\d*)([smhd])", text)
    if match is None:
        raise ArgumentTypeError(f"{text!r} is not a duration such as 30s, 15m, 1h, 7d")
    return int(match[1]) * _UNITS[match[2]]


def run(spark: Any, arguments: Namespace) -> Outcome:
    every = arguments.every
    if every is None:
        step("looking at the range of times")
        every = _choose(exact_batches(spark, without_conditions(arguments)))
    step("counting")
    if arguments.by == "headers":
        found = _by_headers(exact_batches(spark, arguments), every)
    else:
        options = source_options(arguments, ("topic", "timestamp_ms", "key_size", "value_size"))
        found = map_batches(spark, options, lambda batches: _count(batches, every), _DDL)
    table = (
        found.groupBy("topic", "bucket_ms")
        .agg(f.sum("records").alias("records"), f.sum("bytes").alias("bytes"))
        .withColumn(
            "bucket", f.when(_has_date(f.col("bucket_ms")), f.timestamp_millis("bucket_ms"))
        )
        .orderBy("topic", "bucket_ms")
        .toArrow()
    )
    records = table.column("records").to_pylist()
    buckets = table.column("bucket_ms").to_pylist()
    timed = [count for count, at in zip(records, buckets, strict=True) if at is not None]
    summary = {
        "every_ms": every,
        "records": sum(records),
        "bytes": sum(table.column("bytes").to_pylist()),
        "buckets": len(timed),
        "records_without_a_date": sum(
            count for count, at in zip(records, buckets, strict=True) if not pictures.has_date(at)
        ),
        "peak_records_per_second": max(timed, default=0) * 1000 / every,
    }
    return Outcome({"rate": table}, summary)


def _has_date(time: Any) -> Any:
    return (time >= 0) & (time < pictures.LAST_MS)


def _with_records(batches: Any) -> Any:
    return batches.where(~f.col("is_control") & (f.col("record_count") > 0))


def _choose(batches: Any) -> int:
    # The first is not told where a delete horizon has taken its place.
    times = (f.coalesce("base_timestamp_ms", "max_timestamp_ms"), f.col("max_timestamp_ms"))
    first, last = (f.when(_has_date(time), time) for time in times)
    own = _with_records(batches)
    low, high = own.agg(f.min(f.least(first, last)), f.max(f.greatest(first, last))).first()
    span = (high - low) if low is not None else 0
    widths = [duration_ms(text) for text in _STEPS]
    return next((width for width in widths if span / width <= _MOST_BUCKETS), widths[-1])


def _by_headers(batches: Any, every: int) -> Any:
    at = f.col("max_timestamp_ms")
    return _with_records(batches).select(
        "topic",
        f.when(at >= 0, at - at % every).alias("bucket_ms"),
        f.col("record_count").alias("records"),
        f.col("size_bytes").alias("bytes"),
    )


def _count(batches: Iterator[Any], every: int) -> Iterator[Any]:
    """In the workers: one row for each bucket of a record batch (which is of one partition)."""
    for batch in batches:
        if not batch.num_rows:
            continue
        times = batch.column("timestamp_ms").to_numpy(zero_copy_only=False)
        # Those without a time are a bucket of their own, below the first.
        buckets, place = np.unique(np.maximum(times // every, -1), return_inverse=True)
        sizes = sizes_of(batch, "key_size") + sizes_of(batch, "value_size")
        yield pa.RecordBatch.from_arrays(
            [
                pa.repeat(batch.column("topic")[0], len(buckets)),
                pa.array(buckets * every, mask=buckets < 0),
                pa.array(np.bincount(place, minlength=len(buckets)).astype(np.int64)),
                pa.array(np.bincount(place, weights=sizes).astype(np.int64)),
            ],
            schema=_SCHEMA,
        )


def draw(outcome: Outcome) -> Any:
    every = outcome.summary["every_ms"]
    by_topic: dict[str, list[dict[str, Any]]] = {}
    for row in outcome.tables["rate"].to_pylist():
        if pictures.has_date(row["bucket_ms"]):
            by_topic.setdefault(row["topic"], []).append(row)
    largest = sorted(by_topic, key=lambda topic: -sum(r["records"] for r in by_topic[topic]))
    shown = largest[: pictures.MAX_SERIES]
    named = f" of {pictures.cut(largest[0], 40)}" if len(largest) == 1 else ""
    if len(shown) < len(largest):
        named = f" of the {len(shown)} largest of {len(largest)} topics"
    total = sum(row["records"] for topic in shown for row in by_topic[topic])
    records = "record" if total == 1 else "records"
    made, axes = pictures.figure(f"{pictures.short(total)} {records}{named} over time")
    for at, topic in enumerate(shown):
        times, values = _with_gaps(by_topic[topic], every)
        colour = pictures.COLOURS[at]
        dates = pictures.times(times)
        axes.plot(dates, values, color=colour, label=topic, linewidth=1.1, drawstyle="steps-post")
        axes.fill_between(dates, values, color=colour, alpha=0.12, step="post")
        there = by_topic[topic]
        if len(there) <= _MARKED:
            dots = pictures.times(row["bucket_ms"] + every // 2 for row in there)
            axes.plot(dots, [row["records"] for row in there], "o", color=colour, markersize=4)
    peaks = [max(row["records"] for row in by_topic[topic]) for topic in shown]
    scale = ""
    if peaks and max(peaks) > _FAR_APART * min(peaks):
        axes.set_yscale("symlog", linthresh=1)
        scale = " (logarithmic)"
    axes.set_ylim(bottom=0)
    starts = [row["bucket_ms"] for topic in shown for row in by_topic[topic]]
    ends = [start + every - 1 for start in starts]
    pictures.time_axis(axes, [*starts, *ends], every // 2, "time of the record")
    left_out = outcome.summary["records_without_a_date"]
    below = axes.get_xlabel()
    if left_out:
        below += f"; not drawn: {left_out} records whose time is no date"
    if not scale:
        pictures.scale(axes.yaxis, pictures.short)
    pictures.label(axes, below, f"records in {_in_words(every)}{scale}")
    pictures.legend(axes)
    return made


def _with_gaps(rows: list[dict[str, Any]], every: int) -> tuple[list[int], list[int]]:
    """The buckets with zeros where there are none, before and behind them too; a hole of many is
    one step down and up."""
    times: list[int] = [rows[0]["bucket_ms"] - every]
    values: list[int] = [0]
    for row in rows:
        at = row["bucket_ms"]
        if at - times[-1] > every:
            times += [times[-1] + every, at - every]
            values += [0, 0]
        times.append(at)
        values.append(row["records"])
    return [*times, times[-1] + every], [*values, 0]


def _in_words(every: int) -> str:
    unit = max((u for u in _UNITS if every % _UNITS[u] == 0), key=lambda u: _UNITS[u])
    count = every // _UNITS[unit]
    return f"{count} {_WORDS[unit]}{'s' if count > 1 else ''}"


JOB: Final = Job(__file__, __doc__, run, arguments=arguments, draw=draw, counts_left_out=False)

if __name__ == "__main__":
    JOB.main()
