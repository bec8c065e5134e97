"""Find late records: those whose timestamp is below an earlier record's in the same partition.

A record is late by its distance from the largest timestamp before it. The job makes two passes: the
first finds the largest timestamp before each split, from headers (or from records, in the batches
where a range of offsets begins or ends); in the second the workers examine every record. Missing
offsets (compacted, lost, of control records, or of records that --isolation excludes) are counted,
and the longest time without a record is reported. Records without a time (-1) are counted; they are
not late and do not end a pause.
With conditions on records (--option where=...) both passes read only the selected records, and
`missing_offsets` is null.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.offline import Split, scan_batches
from pykbroker.spark import map_items, plan_tasks
from pykbroker.spark.tasks import LogTask
from spark_jobs.parts import pictures
from spark_jobs.parts.exact_batches import cut_batches
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import chosen_rows, source_options
from spark_jobs.parts.results import Outcome, rows_table
from spark_jobs.parts.sizes import Integers, integers, percentiles

COLUMNS: Final = ("topic", "partition", "offset", "timestamp_ms")
#: The time of a record that has none: below every other.
_NO_TIME: Final = -1
_NAMES: Final = ("topic", "partition", "segment", "position")
_PLACE: Final = [
    ("topic", pa.string()),
    ("partition", pa.int32()),
    ("segment", pa.int64()),
    ("position", pa.int64()),
]
_SPLIT_SCHEMA: Final = pa.schema(
    [*_PLACE, ("largest", pa.int64()), ("first_offset", pa.int64()), ("next_offset", pa.int64())]
)
_LATE_SCHEMA: Final = pa.schema(
    [*_PLACE, ("late_ms", pa.int64()), ("records", pa.int64()), ("longest_pause_ms", pa.int64())]
)
_PLACE_DDL: Final = "topic string, partition int, segment bigint, position bigint"
_SPLIT_DDL: Final = f"{_PLACE_DDL}, largest bigint, first_offset bigint, next_offset bigint"
_LATE_DDL: Final = f"{_PLACE_DDL}, late_ms bigint, records bigint, longest_pause_ms bigint"
_RESULT: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("records", pa.int64()),
        ("late_records", pa.int64()),
        ("late_share", pa.float64()),
        ("late_p50_ms", pa.int64()),
        ("late_p99_ms", pa.int64()),
        ("late_max_ms", pa.int64()),
        ("longest_pause_ms", pa.int64()),
        ("without_time", pa.int64()),
        ("missing_offsets", pa.int64()),
    ]
)


Partition = tuple[str, int]
#: topic, partition, segment, position
Place = tuple[str, int, int, int]


def run(spark: Any, arguments: Namespace) -> Outcome:
    options = source_options(arguments, COLUMNS)
    tasks = plan_tasks(options, spark.sparkContext.defaultParallelism)
    step("finding the largest timestamps")
    splits = map_items(spark, tasks, _bounds, _SPLIT_DDL).toArrow().to_pylist()
    before = _largest_before(splits)

    def late(task: LogTask) -> Iterator[Any]:
        for split in task.splits:
            yield from _late_of(split, task, before.get(_place(split), _NO_TIME))

    step("looking at every timestamp")
    found = map_items(spark, tasks, late, _LATE_DDL).toArrow()
    rows = _rows(found, splits)
    names = ["records", "late_records", "without_time", "missing_offsets"]
    summary: dict[str, Any] = {name: sum(row[name] for row in rows) for name in names}
    if any(map(_has_conditions, tasks)):
        summary["missing_offsets"] = None
        rows = [row | {"missing_offsets": None} for row in rows]
    summary["records_without_time"] = summary.pop("without_time")
    summary["late_max_ms"] = max((row["late_max_ms"] for row in rows), default=0)
    lateness = found.select(["topic", "late_ms", "records"]).filter(pc.field("late_ms").is_valid())
    grouped = lateness.group_by(["topic", "late_ms"]).aggregate([("records", "sum")])
    grouped = grouped.rename_columns(["topic", "late_ms", "records"])
    return Outcome(
        {
            "disorder": rows_table(rows, _RESULT),
            "lateness": grouped.sort_by([("topic", "ascending"), ("late_ms", "ascending")]),
        },
        summary,
    )


def _place(split: Split) -> Place:
    return (split.topic, split.partition, split.segment_base_offset, split.start_position)


def _named_place(split: Split) -> dict[str, Any]:
    return dict(zip(_NAMES, _place(split), strict=True))


def _largest_before(splits: Sequence[dict[str, Any]]) -> dict[Place, int]:
    """The largest timestamp of what stands before each split in its partition."""
    reached: dict[Partition, int] = {}
    found: dict[Place, int] = {}
    for row in sorted(splits, key=itemgetter(*_NAMES)):
        partition = (row["topic"], row["partition"])
        largest = reached.get(partition, _NO_TIME)
        found[*partition, row["segment"], row["position"]] = largest
        reached[partition] = max(largest, row["largest"])
    return found


def _has_conditions(task: LogTask) -> bool:
    """Whether only some of the records between two offsets are wanted."""
    times = ((split.start_timestamp_ms, split.end_timestamp_ms) for split in task.splits)
    return bool(task.filters) or any(pair != (None, None) for pair in times)


def _bounds(task: LogTask) -> Iterator[Any]:
    """In the workers: largest timestamp and offsets of each split."""
    bounds_of = _bounds_of_rows if _has_conditions(task) else _bounds_of_batches
    for split in task.splits:
        largest, first, following = bounds_of(split, task)
        if first >= 0:
            row = _named_place(split) | {"largest": largest}
            row |= {"first_offset": max(first, split.start_offset)}
            row |= {"next_offset": min(following, split.end_offset)}
            yield pa.RecordBatch.from_pylist([row], schema=_SPLIT_SCHEMA)


def _bounds_of_rows(split: Split, task: LogTask) -> tuple[int, int, int]:
    largest, first, following = _NO_TIME, -1, 0
    for batch in chosen_rows(split, task.read_options, task.filters):
        largest = max(largest, int(integers(batch, "timestamp_ms").max()))
        offsets = integers(batch, "offset")
        first = int(offsets[0]) if first < 0 else first
        following = int(offsets[-1]) + 1
    return largest, first, following


def _bounds_of_batches(split: Split, task: LogTask) -> tuple[int, int, int]:
    largest, first, following = _NO_TIME, -1, 0
    for batches in scan_batches(split, task.read_options.mode):
        if first < 0:
            first = batches.column("base_offset")[0].as_py()
        following = batches.column("last_offset")[-1].as_py() + 1
    for batches in cut_batches(split, task.read_options):
        own = batches.filter(pc.invert(batches.column("is_control")))
        if own.num_rows:
            largest = max(largest, pc.max(own.column("max_timestamp_ms")).as_py())
    return largest, first, following


def _late_of(split: Split, task: LogTask, largest: int) -> Iterator[Any]:
    """In the workers: how often each lateness occurs in a split (0: in order; null: no time)."""
    counted: Counter[int | None] = Counter()
    pause = 0
    for batch in chosen_rows(split, task.read_options, task.filters):
        times = integers(batch, "timestamp_ms")
        timed = times[times > _NO_TIME]
        if timed.size < times.size:
            counted[None] += times.size - timed.size
        if not timed.size:
            continue
        if largest == _NO_TIME:
            largest = int(timed[0])
        reached: Integers = np.maximum.accumulate(np.concatenate([[largest], timed]))
        pause = max(pause, int(np.diff(reached).max()))
        values, counts = np.unique(reached[1:] - timed, return_counts=True)
        counted.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
        largest = int(reached[-1])
    place = _named_place(split)
    rows = [
        place | {"late_ms": value, "records": count, "longest_pause_ms": pause}
        for value, count in counted.items()
    ]
    yield pa.RecordBatch.from_pylist(rows, schema=_LATE_SCHEMA)


def _rows(found: pa.Table, splits: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    by_partition: dict[Partition, Counter[int | None]] = {}
    pauses: dict[Partition, int] = {}
    for row in found.to_pylist():
        partition = (row["topic"], row["partition"])
        by_partition.setdefault(partition, Counter())[row["late_ms"]] += row["records"]
        pauses[partition] = max(pauses.get(partition, 0), row["longest_pause_ms"])
    ranges: dict[Partition, tuple[int, int]] = {}
    for row in splits:
        partition = (row["topic"], row["partition"])
        first, following = row["first_offset"], row["next_offset"]
        low, high = ranges.get(partition, (first, following))
        ranges[partition] = (min(low, first), max(high, following))
    return [
        _row(partition, counts, ranges[partition]) | {"longest_pause_ms": pauses[partition]}
        for partition, counts in sorted(by_partition.items())
    ]


def _row(
    partition: Partition, counts: Mapping[int | None, int], offsets: tuple[int, int]
) -> dict[str, Any]:
    records = sum(counts.values())
    late = sorted((value, count) for value, count in counts.items() if value)
    row: dict[str, Any] = {"topic": partition[0], "partition": partition[1], "records": records}
    row["late_records"] = sum(count for _, count in late)
    row["late_share"] = row["late_records"] / records
    row["without_time"] = counts.get(None, 0)
    row["missing_offsets"] = offsets[1] - offsets[0] - records
    p50 = p99 = 0
    if late:
        values, numbers = np.array(late, np.int64).T
        p50, p99 = percentiles(values, numbers, (0.5, 0.99))
    row |= {"late_p50_ms": p50, "late_p99_ms": p99}
    row["late_max_ms"] = late[-1][0] if late else 0
    return row


def draw(outcome: Outcome) -> Any:
    """How many are late, by partition, and by how long."""
    rows = outcome.tables["disorder"].to_pylist()
    if not rows:
        return None
    records, late_records = (sum(row[name] for row in rows) for name in ("records", "late_records"))
    of = f"{pictures.short(records)} records"
    title = f"None of {of} is late"
    if late_records:
        share = pictures.percent(100 * late_records / records)
        longest = pictures.duration(max(row["late_max_ms"] for row in rows))
        title = f"{share} of {of} are late: behind one of a later time, by up to {longest}"
    made, (left, right) = pictures.figure(title, panels=2)
    shares = {f"{row['topic']}-{row['partition']}": 100 * row["late_share"] for row in rows}
    names, others = pictures.ranked(shares)
    values = [shares[name] for name in names]
    pictures.bars(left, names, values, told=pictures.percent)
    few = f"; {len(others)} others: no more" if others else ""
    pictures.label(left, "records that are late", "", f"by partition{few}")
    table = outcome.tables["lateness"]
    late = table.filter(pc.field("late_ms") > 0)
    if late.num_rows:
        late_ms = late.column("late_ms").to_numpy()
        pictures.duration_scale(right, late_ms.tolist())
        low, high = right.get_xlim()
        bins = np.geomspace(low, high, 31)
        counts = late.column("records").to_numpy()
        right.hist(late_ms, bins=bins, weights=counts, color=pictures.COLOURS[1])
        pictures.scale(right.yaxis, pictures.short)
    else:
        right.set_xticks([])
        right.set_yticks([])
        right.text(0.5, 0.5, "none is late", ha="center", fontsize=9)
    pictures.label(right, "late by (logarithmic)", "records", "how late they are")
    return made


JOB: Final = Job(__file__, __doc__, run, draw=draw, counts_left_out=False)

if __name__ == "__main__":
    JOB.main()
