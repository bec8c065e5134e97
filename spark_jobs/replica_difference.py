"""Compare two copies of the same topics: replicas, a backup, a mirror. Exit code 1 if they differ.

--by batches (the default) reads headers alone: batches of replicas have equal checksums, which
cover everything but the base offset and the leader epoch. Right for replicas that compaction has
not cut. --by records compares key, value, headers and timestamp of every offset: right for every
copy that keeps offsets, however it batches and compresses.

Only the offsets that both copies reach are compared. A copy that ends earlier than the other and is
equal up to there is a prefix of it: replicas that lag are no error of Kafka, but they are a
difference, so `is_prefix` is true, `is_equal` is not, and the exit code is 1. How far each copy
reaches is in the first table.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any, Final

from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from spark_jobs import pictures
from spark_jobs.job import Job
from spark_jobs.progress import step
from spark_jobs.reading import positive, records, view
from spark_jobs.results import Outcome

PLACE: Final = ["topic", "partition"]
_COLUMNS: Final = ("topic", "partition", "offset", "timestamp_ms", "key", "value", "headers")
_LINES: Final = 20
_HERE: Final = pictures.COLOURS[0]
_THERE: Final = "#a9c9d3"
_MARKERS: Final = {"differing": "x", "only_here": "^", "only_there": "v"}
_KINDS: Final = ("equal", "differing", "only_here", "only_there")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--other", required=True, help="the log directories of the other copy")
    parser.add_argument("--by", choices=("batches", "records"), default="batches", help="see above")
    parser.add_argument("--most", type=positive, default=1000, help="differences to list")


def run(spark: Any, arguments: Namespace) -> Outcome:
    there = Namespace(**vars(arguments) | {"path": arguments.other})
    step("finding the ends")
    reach = _reach(spark, arguments, "here").join(_reach(spark, there, "there"), PLACE, "full")
    reach = reach.persist()
    step(f"comparing {arguments.by}")
    pieces = _batches if arguments.by == "batches" else _records
    joined = _compare(pieces(spark, arguments), pieces(spark, there), reach).persist()
    try:
        counts = joined.groupBy(*PLACE).agg(
            *(f.sum((f.col("kind") == kind).cast("long")).alias(kind) for kind in _KINDS)
        )
        table = reach.join(counts, PLACE, "left").fillna(0, list(_KINDS)).orderBy(*PLACE).toArrow()
        differences = (
            joined.where("kind <> 'equal'")
            .orderBy(*PLACE, "offset")
            .limit(arguments.most)
            .toArrow()
        )
    finally:
        joined.unpersist()
        reach.unpersist()
    rows = table.to_pylist()
    summary: dict[str, Any] = {kind: sum(row[kind] for row in rows) for kind in _KINDS}
    alone = [row for row in rows if row["end_here"] is None or row["end_there"] is None]
    summary["partitions_in_one_copy_only"] = len(alone)
    is_same = not any(summary[name] for name in summary if name != "equal")
    both = [row for row in rows if row["end_here"] is not None and row["end_there"] is not None]
    summary["partitions_shorter_here"] = sum(row["end_here"] < row["end_there"] for row in both)
    summary["partitions_shorter_there"] = sum(row["end_there"] < row["end_here"] for row in both)
    shorter = summary["partitions_shorter_here"] + summary["partitions_shorter_there"]
    is_equal = is_same and not shorter
    summary["is_equal"] = is_equal
    summary["is_prefix"] = is_same and shorter > 0
    summary["verdict"] = _verdict(summary)
    tables = {"partitions": table, "differences": differences}
    return Outcome(tables, summary, exit_code=0 if is_equal else 1)


def _verdict(summary: dict[str, Any]) -> str:
    """The result in words."""
    if summary["is_equal"]:
        return "The copies are equal"
    if not summary["is_prefix"]:
        return "The copies differ"
    here, there = summary["partitions_shorter_here"], summary["partitions_shorter_there"]
    if here and there:
        return f"Equal as far as both reach: {here} partitions end earlier here, {there} there"
    name, other = ("This copy", "the other") if here else ("The other copy", "this one")
    return f"{name} is a prefix of {other}: {here or there} partitions end earlier"


def _reach(spark: Any, arguments: Namespace, name: str) -> Any:
    batches = view(spark, arguments, "batches")
    return batches.groupBy(*PLACE).agg(
        f.min("base_offset").alias(f"start_{name}"), (f.max("last_offset") + 1).alias(f"end_{name}")
    )


def _batches(spark: Any, arguments: Namespace) -> Any:
    mark = f.struct("last_offset", "crc", "size_bytes")
    batches = view(spark, arguments, "batches")
    return batches.select(
        *PLACE,
        f.col("base_offset").alias("offset"),
        f.col("last_offset").alias("last"),
        mark.alias("mark"),
    )


def _records(spark: Any, arguments: Namespace) -> Any:
    rows = records(spark, arguments, _COLUMNS)
    # Nulls do not enter a hash, so which are null does.
    mark = f.xxhash64("timestamp_ms", f.isnull("key"), "key", f.isnull("value"), "value", "headers")
    return rows.select(*PLACE, "offset", f.col("offset").alias("last"), mark.alias("mark"))


def _compare(here: Any, there: Any, reach: Any) -> Any:
    """topic, partition, offset, kind: of the offsets that both copies reach."""
    low = f.greatest("start_here", "start_there")
    high = f.least("end_here", "end_there")
    left = here.withColumnsRenamed({"mark": "mark_here", "last": "last_here"})
    right = there.withColumnsRenamed({"mark": "mark_there", "last": "last_there"})
    joined = left.join(right, [*PLACE, "offset"], "full").join(f.broadcast(reach), PLACE)
    last = f.coalesce("last_here", "last_there")
    in_both = f.col("end_here").isNotNull() & f.col("end_there").isNotNull()
    kind = (
        f.when(f.col("mark_there").isNull(), "only_here")
        .when(f.col("mark_here").isNull(), "only_there")
        .when(f.col("mark_here") == f.col("mark_there"), "equal")
        .otherwise("differing")
    )
    inside = in_both & (f.col("offset") >= low) & (last < high)
    return joined.where(inside).select(*PLACE, "offset", kind.alias("kind"))


def draw(outcome: Outcome) -> Any:
    """How far each copy reaches, and where the differences stand."""
    rows = outcome.tables["partitions"].to_pylist()
    rows = sorted(rows, key=_least_alike)[:_LINES]
    made, axes = pictures.figure(outcome.summary["verdict"])
    for at, row in enumerate(rows):
        for name, colour, up in (("here", _HERE, -0.2), ("there", _THERE, 0.2)):
            start, end = row[f"start_{name}"], row[f"end_{name}"]
            if end is not None:
                label = f"this copy ({name})" if name == "here" else f"the other ({name})"
                axes.barh(at + up, end - start, 0.36, start, color=colour, label=label)
    places = {(row["topic"], row["partition"]): at for at, row in enumerate(rows)}
    for kind, marker in _MARKERS.items():
        found = [
            (row["offset"], places[row["topic"], row["partition"]])
            for row in outcome.tables["differences"].to_pylist()
            if row["kind"] == kind and (row["topic"], row["partition"]) in places
        ]
        if found:
            x, y = zip(*found, strict=True)
            label = f"{kind.replace('_', ' ')} ({outcome.summary[kind]})"
            axes.plot(x, y, marker, color=pictures.BAD, markersize=8, label=label)
    names = [f"{row['topic']}-{row['partition']}" for row in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    made.legend(once.values(), once.keys(), loc="outside lower center", ncols=5, fontsize=8)
    pictures.label(axes, "offsets", "")
    return made


def _least_alike(row: dict[str, Any]) -> tuple[bool, int, int]:
    """First what differs most, then what is shorter."""
    here, there = row["end_here"], row["end_there"]
    if here is None or there is None:
        return (False, 0, 0)
    return (True, -sum(row[kind] for kind in _KINDS[1:]), -abs(here - there))


JOB: Final = Job(__file__, __doc__, run, arguments=arguments, draw=draw)

if __name__ == "__main__":
    JOB.main()
