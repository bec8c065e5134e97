"""Compare two copies of the same topics: replicas, a backup, a mirror.

The exit code is 1 if they differ. --by batches (the default) compares headers: batches of replicas
have equal checksums, which cover a batch from its attributes on. Use it for replicas that
compaction has not rewritten. --by records compares key, value, headers and timestamp of every
offset. Use it for any copy that keeps offsets, however it batches and compresses.

Either way both copies are read and their checksums verified. A batch that cannot be read is listed
in the table `damage`. By batches it is `damaged`, whatever the other copy has in its place, if its
header can be read; by records, those that the other copy has in its place are in that copy only.
Copies are not equal if either has a damaged batch.

Only the offsets that both copies have are compared: from the later start to the earlier end. A copy
that ends earlier than the other and is equal up to there is a prefix of it. A lagging replica is
normal in Kafka, but it is a difference: `is_prefix` is true, `is_equal` is false, and the exit code
is 1. A copy that begins later, because of retention or a lost file, is not equal either. The first
table shows the range of each copy. With --since and --until, --by batches compares whole batches,
including those in which the range begins or ends.
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

from pykbroker.offline import Corruption, ReadOptions, Split, read_split
from pykbroker.offline.split import DROPMALFORMED
from pykbroker.spark import map_splits
from pykbroker.spark.bounds import LATEST
from pykbroker.spark.options import parse_options
from pykbroker.spark.tasks import current_ends, resolve_bound
from spark_jobs.parts import pictures
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import check_logs, positive, records, source_options, view
from spark_jobs.parts.replica_verdict import KINDS, summary_of, verdict_of
from spark_jobs.parts.results import Outcome

PLACE: Final = ["topic", "partition"]
_COLUMNS: Final = ("topic", "partition", "offset", "timestamp_ms", "key", "value", "headers")
_LINES: Final = 20
_HERE: Final = pictures.COLOURS[0]
_THERE: Final = "#a9c9d3"
_MARKERS: Final = {"differing": "x", "only_here": "^", "only_there": "v", "damaged": "D"}
#: The picture has so many places on the line of a partition.
_SPOTS: Final = 200
_DAMAGE: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("segment_base_offset", pa.int64()),
        ("position", pa.int64()),
        ("offset", pa.int64()),
        ("path", pa.string()),
        ("reason", pa.string()),
    ]
)
_DAMAGE_DDL: Final = (
    "topic string, partition int, segment_base_offset bigint, position bigint, offset bigint, "
    "path string, reason string"
)
#: Arguments and options that would leave something unread.
_LESS: Final = (
    *("mode", "where", "failOnDataLoss"),
    *("verifyChecksums", "kafka.check.crcs"),
)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--other", required=True, help="log directories of the other copy")
    parser.add_argument("--by", choices=("batches", "records"), default="batches", help="see above")
    parser.add_argument(
        "--most", type=positive, default=1000, help="maximum number of differences to list"
    )


def check(arguments: Namespace) -> None:
    check_logs(Namespace(**vars(arguments) | {"path": arguments.other}), has_topics=False)


def run(spark: Any, arguments: Namespace) -> Outcome:
    arguments.mode = DROPMALFORMED
    there = Namespace(**vars(arguments) | {"path": arguments.other})
    step("finding the ends")
    reach = _reach(spark, arguments, "here").join(_reach(spark, there, "there"), PLACE, "full")
    reach = reach.persist()
    step("verifying checksums")
    damage = {"here": _damage(spark, arguments), "there": _damage(spark, there)}
    step(f"comparing {arguments.by}")
    pieces = _batches if arguments.by == "batches" else _records
    sides = (
        pieces(spark, arguments, damage["here"]),
        pieces(spark, there, damage["there"]),
    )
    joined = _compare(*sides, reach).persist()
    try:
        counts = joined.groupBy(*PLACE).agg(
            *(f.sum((f.col("kind") == kind).cast("long")).alias(kind) for kind in KINDS)
        )
        table = reach.join(counts, PLACE, "left").fillna(0, list(KINDS)).orderBy(*PLACE).toArrow()
        found = joined.where("kind <> 'equal'")
        differences = (
            found.select(*PLACE, "offset", "kind")
            .orderBy(*PLACE, "offset")
            .limit(arguments.most)
            .toArrow()
        )
        spots = _spots(spark, found, table).toArrow()
    finally:
        joined.unpersist()
        reach.unpersist()
    broken = pa.concat_tables(
        [
            table.add_column(0, "copy", pa.repeat(name, table.num_rows))
            for name, table in damage.items()
        ]
    )
    summary = summary_of(table.to_pylist(), {name: each.num_rows for name, each in damage.items()})
    tables = {"partitions": table, "differences": differences, "damage": broken, "spots": spots}
    code = 0 if summary["is_equal"] else 1
    return Outcome(tables, summary, exit_code=code, notes=[verdict_of(summary)])


def _damage(spark: Any, arguments: Namespace) -> Any:
    """What cannot be read of a copy, as an Arrow table. By batches, records are decoded only where
    their offsets have gaps.
    """
    columns = ("offset",) if arguments.by == "batches" else _COLUMNS
    found = map_splits(spark, source_options(arguments, columns), _faults, _DAMAGE_DDL)
    return found.orderBy(*PLACE, "segment_base_offset", "position").toArrow()


def _faults(split: Split, options: ReadOptions) -> Iterator[Any]:
    """In the workers: read all of a split."""
    faults: list[Corruption] = []
    for _ in read_split(split, options, faults.append):
        pass
    rows = [
        {
            "topic": fault.topic,
            "partition": fault.partition,
            "segment_base_offset": fault.segment_base_offset,
            "position": fault.position,
            "offset": fault.base_offset,
            "path": fault.path,
            "reason": fault.reason,
        }
        for fault in faults
    ]
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=_DAMAGE)


def _reach(spark: Any, arguments: Namespace, name: str) -> Any:
    """From where to where a copy has batches, or records; one in which none is left begins at its
    end."""
    options = parse_options(source_options(arguments))
    ends = resolve_bound(options, options.end, LATEST, current_ends(options), is_start=False)
    schema = "topic string, partition int, none_from bigint"
    known = spark.createDataFrame([(*place, end) for place, end in ends.items()], schema)
    first, last = "base_offset", "last_offset"
    if arguments.by == "records":
        rows, first, last = records(spark, arguments, (*PLACE, "offset")), "offset", "offset"
    else:
        rows = view(spark, arguments, "batches")
    found = rows.groupBy(*PLACE).agg(f.min(first).alias("first"), f.max(last).alias("last"))
    return known.join(found, PLACE, "left").select(
        *PLACE,
        f.coalesce("first", "none_from").alias(f"start_{name}"),
        f.coalesce(f.col("last") + 1, "none_from").alias(f"end_{name}"),
    )


def _batches(spark: Any, arguments: Namespace, damage: Any) -> Any:
    mark = f.struct("last_offset", "crc", "size_bytes")
    batches = view(spark, arguments, "batches")
    place = [*PLACE, "segment_base_offset", "position"]
    broken = spark.createDataFrame(damage.select(place)).withColumn("is_damaged", f.lit(True))
    return batches.join(f.broadcast(broken), place, "left").select(
        *PLACE,
        f.col("base_offset").alias("offset"),
        f.col("last_offset").alias("last"),
        mark.alias("mark"),
        f.coalesce("is_damaged", f.lit(False)).alias("is_damaged"),
    )


def _records(spark: Any, arguments: Namespace, _damage: Any) -> Any:
    rows = records(spark, arguments, _COLUMNS)
    headers = f.transform(
        "headers", lambda each: f.struct(*_with_nulls(each["key"], each["value"]))
    )
    parts = _with_nulls(*map(f.col, ("key", "value")), f.size("headers"), headers)
    mark = f.xxhash64("timestamp_ms", *parts)
    return rows.select(
        *PLACE,
        "offset",
        f.col("offset").alias("last"),
        mark.alias("mark"),
        f.lit(False).alias("is_damaged"),
    )


def _with_nulls(*columns: Any) -> list[Any]:
    """For a hash, which passes over nulls: whether each is null, and it."""
    return [part for column in columns for part in (column.isNull(), column)]


def _compare(here: Any, there: Any, reach: Any) -> Any:
    """topic, partition, offset, kind, spot (on the line of the picture): of the offsets that both
    copies reach."""
    low = f.greatest("start_here", "start_there")
    high = f.least("end_here", "end_there")
    names = ("mark", "last", "is_damaged")
    left = here.withColumnsRenamed({name: f"{name}_here" for name in names})
    right = there.withColumnsRenamed({name: f"{name}_there" for name in names})
    joined = left.join(right, [*PLACE, "offset"], "full").join(f.broadcast(reach), PLACE)
    last = f.coalesce("last_here", "last_there")
    in_both = f.col("end_here").isNotNull() & f.col("end_there").isNotNull()
    kind = (
        f.when(f.coalesce("is_damaged_here", f.lit(False)), "damaged")
        .when(f.coalesce("is_damaged_there", f.lit(False)), "damaged")
        .when(f.col("mark_there").isNull(), "only_here")
        .when(f.col("mark_here").isNull(), "only_there")
        .when(f.col("mark_here") == f.col("mark_there"), "equal")
        .otherwise("differing")
    )
    inside = in_both & (f.col("offset") >= low) & (last < high)
    spot = f.floor((f.col("offset") - low) / f.greatest(f.lit(1), high - low) * _SPOTS)
    return joined.where(inside).select(*PLACE, "offset", kind.alias("kind"), spot.alias("spot"))


def _spots(spark: Any, found: Any, table: Any) -> Any:
    """What the picture shows of the partitions that it shows: differences, thinned out."""
    shown = sorted(table.to_pylist(), key=_least_alike)[:_LINES]
    places = pa.Table.from_pylist(shown, schema=table.schema).select(PLACE)
    chosen = found.join(f.broadcast(spark.createDataFrame(places)), PLACE)
    spots = chosen.groupBy(*PLACE, "kind", "spot").agg(
        f.min("offset").alias("offset"), f.count("*").alias("count")
    )
    return spots.drop("spot").orderBy(*PLACE, "offset", "kind")


def draw(outcome: Outcome) -> Any:
    """How far each copy reaches, and where the differences stand."""
    rows = outcome.tables["partitions"].to_pylist()
    rows = sorted(rows, key=_least_alike)[:_LINES]
    made, axes = pictures.figure(verdict_of(outcome.summary))
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
            for row in outcome.tables["spots"].to_pylist()
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
    """First what only one copy has, then what differs most, then what is shorter."""
    here, there = row["end_here"], row["end_there"]
    if here is None or there is None:
        return (False, 0, 0)
    return (True, -sum(row[kind] for kind in KINDS[1:]), -abs(here - there))


JOB: Final = Job(
    __file__,
    __doc__,
    run,
    arguments=arguments,
    draw=draw,
    check_more=check,
    without=_LESS,
    counts_left_out=False,
)

if __name__ == "__main__":
    JOB.main()
