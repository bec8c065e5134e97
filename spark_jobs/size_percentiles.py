"""Sizes of keys, values and whole records (key + value): exact percentiles, by topic.

Sizes are counted in the workers (few distinct ones travel) and need no byte of a key or value to
be copied. A percentile is the smallest size that so many records are not above. Null keys and
values are of no size: `nulls` counts them, the percentiles leave them out; records count them as
0.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.spark import map_batches
from spark_jobs import pictures
from spark_jobs.job import Job
from spark_jobs.progress import step
from spark_jobs.reading import source_options
from spark_jobs.results import Outcome, rows_table
from spark_jobs.runs import run_edges
from spark_jobs.sizes import percentiles, sizes_of

SHARES: Final = {"p1": 0.01, "p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
_DDL: Final = "topic string, part string, size bigint, records bigint"
_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("part", pa.string()),
        ("size", pa.int64()),
        ("records", pa.int64()),
    ]
)
_RESULT: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("part", pa.string()),
        *((name, pa.int64()) for name in ("records", "nulls", "bytes", "min", *SHARES, "max")),
        ("mean", pa.float64()),
    ]
)
_NULL: Final = -1
_MARKS: Final = {"p50": "o", "p99": "s", "max": "|"}


def run(spark: Any, arguments: Namespace) -> Outcome:
    step("counting sizes")
    options = source_options(arguments, ("topic", "key_size", "value_size"))
    found = map_batches(spark, options, _count, _DDL)
    sizes = (
        found.groupBy("topic", "part", "size")
        .agg(f.sum("records").alias("records"))
        .orderBy("topic", "part", "size")
        .toArrow()
    )
    rows = [_row(topic, part, mine) for topic, part, mine in _groups(sizes)]
    whole = [row for row in rows if row["part"] == "record"]
    summary = {
        "records": sum(row["records"] for row in whole),
        "bytes": sum(row["bytes"] for row in whole),
        "largest_record": max((row["max"] for row in whole), default=0),
    }
    return Outcome({"percentiles": rows_table(rows, _RESULT), "sizes": sizes}, summary)


def _count(batches: Iterator[Any]) -> Iterator[Any]:
    """In the workers: how often each size occurs; -1 for null."""
    for batch in batches:
        if not batch.num_rows:
            continue
        parts = {
            "key": _with_nulls(batch, "key_size"),
            "value": _with_nulls(batch, "value_size"),
            "record": sizes_of(batch, "key_size") + sizes_of(batch, "value_size"),
        }
        for part, sizes in parts.items():
            values, counts = np.unique(sizes, return_counts=True)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.repeat(batch.column("topic")[0], len(values)),
                    pa.repeat(pa.scalar(part), len(values)),
                    pa.array(values),
                    pa.array(counts.astype(np.int64)),
                ],
                schema=_SCHEMA,
            )


def _with_nulls(batch: Any, name: str) -> Any:
    filled = batch.column(name).fill_null(_NULL).to_numpy(zero_copy_only=False)
    return filled.astype(np.int64)


def _groups(sizes: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    """The rows of each topic and part: neighbours, as the table is sorted by them."""
    for start, end in pairwise(run_edges(sizes, ("topic", "part")).tolist()):
        topic, part = (sizes[name][start].as_py() for name in ("topic", "part"))
        yield topic, part, sizes.slice(start, end - start)


def _row(topic: str, part: str, sizes: pa.Table) -> dict[str, Any]:
    values = sizes.column("size").to_numpy()
    counts = sizes.column("records").to_numpy()
    there = values >= 0
    nulls = int(counts[~there].sum())
    values, counts = values[there], counts[there]
    row: dict[str, Any] = {"topic": topic, "part": part, "nulls": nulls}
    row["records"] = int(counts.sum())
    row["bytes"] = int((values * counts).sum())
    if row["records"]:
        row |= zip(SHARES, percentiles(values, counts, list(SHARES.values())), strict=True)
        row |= {"min": int(values[0]), "max": int(values[-1])}
        row["mean"] = row["bytes"] / row["records"]
    return row


def draw(outcome: Outcome) -> Any:
    """A line for each topic on a logarithmic axis: how many are not larger, and how they lie."""
    rows = [row for row in outcome.tables["percentiles"].to_pylist() if row["part"] == "record"]
    if not rows:
        return None
    largest = [row["topic"] for row in sorted(rows, key=lambda row: -row["records"])]
    shown = largest[: pictures.MAX_SERIES]
    named = f": the {len(shown)} of {len(largest)} topics with most" if shown != largest else ""
    made, (left, right) = pictures.figure(f"Sizes of records{named}", panels=2)
    parts = _groups(outcome.tables["sizes"])
    by_topic = {topic: sizes for topic, part, sizes in parts if part == "record"}
    for at, topic in enumerate(shown):
        # An axis of logarithms has no 0: records of no byte stand at half a byte.
        values = np.maximum(by_topic[topic].column("size").to_numpy(), 0.5)
        counts = by_topic[topic].column("records").to_numpy()
        colour = pictures.COLOURS[at]
        x = np.concatenate([values[:1], values])
        y = np.concatenate([[0], np.cumsum(counts) / counts.sum()])
        left.step(x, y, where="post", color=colour, label=topic)
        row = next(row for row in rows if row["topic"] == topic)
        ends = [max(row["min"], 0.5), max(row["max"], 0.5)]
        right.plot(ends, [at, at], color=colour, linewidth=1.5)
        for name, marker in _MARKS.items():
            label = name if at == 0 else None
            right.plot(max(row[name], 0.5), at, marker, color=colour, markersize=7, label=label)
    for axes in (left, right):
        axes.set_xscale("log")
    right.set_yticks(range(len(shown)), shown, fontsize=8)
    right.set_ylim(len(shown) - 0.4, -0.6)
    pictures.label(left, "bytes of key and value", "share of records that are not larger")
    pictures.label(right, "bytes of key and value", "", "from the smallest to the largest")
    pictures.legend(left)
    pictures.legend(right)
    return made


JOB: Final = Job(__file__, __doc__, run, draw=draw)

if __name__ == "__main__":
    JOB.main()
