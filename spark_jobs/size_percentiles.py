"""Compute exact percentiles of the sizes of keys, values and records (key + value), by topic.

The workers count how often each size occurs, without copying keys or values. The p-th percentile is
the smallest size that at least p percent of the records do not exceed. Null keys and values have no
size: `nulls` counts them and the percentiles leave them out; in the size of a record they count as
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
from spark_jobs.parts import pictures
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import source_options
from spark_jobs.parts.results import Outcome, rows_table
from spark_jobs.parts.runs import run_edges
from spark_jobs.parts.sizes import percentiles, sizes_of

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
#: An axis is logarithmic if the largest size is so many times what is typical somewhere.
_WIDE: Final = 20
_BINS: Final = 80
_FIGURES: Final = {"fontsize": 8, "ha": "right", "annotation_clip": False}
#: Where figures end, beside the axes, in points.
_COLUMNS: Final = (50, 104, 158)


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
        "largest_record_bytes": max((row["max"] for row in whole), default=0),
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
    """A row for each topic: how its sizes are spread, from the smallest to the largest, and in
    figures."""
    every = outcome.tables["percentiles"].to_pylist()
    rows = {row["topic"]: row for row in every if row["part"] == "record" and row["records"]}
    if not rows:
        return None
    counts = {topic: row["records"] for topic, row in rows.items()}
    shown = sorted(counts, key=lambda topic: (-counts[topic], topic))[: pictures.MAX_BARS]
    made, axes = pictures.figure(_title(shown, rows))
    parts = _groups(outcome.tables["sizes"])
    by_topic = {topic: sizes for topic, part, sizes in parts if part == "record"}
    # An axis of logarithms has no 0: records of no byte stand at half a byte.
    low = max(0.5, min(rows[topic]["min"] for topic in shown))
    high = max(0.5, *(rows[topic]["max"] for topic in shown))
    typical = [max(0.5, rows[topic][name]) for topic in shown for name in ("p50", "p99")]
    is_wide = high > _WIDE * min(typical)
    if is_wide:
        edges = np.geomspace(low * 0.8, high * 1.25, _BINS + 1)
        pictures.log_scale(axes, pictures.size, edges[0], edges[-1])
    else:
        edges = np.linspace(0, high * 1.05, _BINS + 1)
        axes.set_xlim(0, edges[-1])
        pictures.scale(axes.xaxis, pictures.size)
    for at, topic in enumerate(shown):
        _draw_row(axes, at, by_topic[topic], edges)
        _draw_figures(axes, at, rows[topic])
    middle, half = len(shown) / 2 - 0.6, max(len(shown), 2) / 2 + 0.2
    for x, name in zip(_COLUMNS, ("half", "99 %", "all"), strict=True):
        beside = {"xytext": (x, 4), "textcoords": "offset points"} | _FIGURES
        axes.annotate(f"{name} ≤", (1, 1), xycoords="axes fraction", fontweight="bold", **beside)
    axes.set_yticks(range(len(shown)), list(map(pictures.cut, shown)), fontsize=8)
    axes.set_ylim(middle + half, middle - half)
    axes.grid(False, axis="y")
    below = "size of key and value" + (" (logarithmic)" if is_wide else "")
    pictures.label(axes, f"{below}; as high as so many records have it; | is the median", "")
    return made


def _title(shown: list[str], rows: dict[str, dict[str, Any]]) -> str:
    if len(rows) == 1:
        half, most = (pictures.size(rows[shown[0]][name]) for name in ("p50", "p99"))
        name = pictures.cut(shown[0], 40)
        return f"Records of {name}: half of them are at most {half}, 99 % at most {most}"
    medians = {topic: rows[topic]["p50"] for topic in shown}
    least, most = min(medians.values()), max(medians.values())
    title = f"Sizes of the records of {len(rows)} topics"
    if len(shown) < len(rows):
        title = (
            f"Sizes of the records of the {len(shown)} topics, of {len(rows)}, with most records"
        )
    if least == most:
        return f"{title}: half are at most {pictures.size(most)}"
    return f"{title}: medians from {pictures.size(least)} to {pictures.size(most)}"


def _draw_row(axes: Any, at: int, sizes: pa.Table, edges: Any) -> None:
    """The spread of one topic, upwards from its line."""
    values = np.maximum(sizes.column("size").to_numpy(), 0.5)
    counts = sizes.column("records").to_numpy()
    heights, _ = np.histogram(values, edges, weights=counts)
    tops = at + 0.1 - 0.75 * heights / heights.max()
    colour = pictures.COLOURS[0]
    axes.stairs(tops, edges, baseline=at + 0.1, fill=True, color=colour, alpha=0.75)
    axes.plot([values[0], values[-1]], [at + 0.1, at + 0.1], color=colour, linewidth=1.2)
    median = percentiles(values, counts, [0.5])[0]
    axes.plot(max(median, 0.5), at + 0.22, "|", color=pictures.COLOURS[1], ms=8, mew=2)


def _draw_figures(axes: Any, at: int, row: dict[str, Any]) -> None:
    """Beside the axes, where none is on another."""
    for x, name in zip(_COLUMNS, ("p50", "p99", "max"), strict=True):
        beside = {"xytext": (x, 0), "textcoords": "offset points", "va": "center"} | _FIGURES
        place = axes.get_yaxis_transform()
        axes.annotate(pictures.size(row[name]), (1, at), xycoords=place, **beside)


JOB: Final = Job(__file__, __doc__, run, draw=draw)

if __name__ == "__main__":
    JOB.main()
