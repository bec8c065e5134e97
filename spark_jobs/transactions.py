"""List transactions as the partitions record them: committed, aborted, open or unknown.

There is one row for each transaction in each partition, from headers and markers. The outcome of a
transaction is unknown if the log is damaged at a place where its marker may have been. A
transaction that stays open holds back every read_committed reader (the last stable offset); the
summary names the oldest one. --since and --until select transactions by the time of their first
record: at or after --since, and before --until.

Markers carry the broker's time. Records carry their producer's, which may be arbitrary, unless the
topic uses log append time. `longest_ms` covers transactions whose times are all the broker's,
`longest_since_create_ms` the others: from the timestamp of the first record to the marker.
`oldest_open_timestamp_ms` is the timestamp of the oldest open transaction's first record, on the
clock that `oldest_open_clock` names. `oldest_open_age_ms` is a lower bound for how long that
transaction has been open by the broker's clock: the time since its first record, or else since
another transaction ended after it in its partition.
"""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from spark_jobs.parts import pictures
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import view
from spark_jobs.parts.results import Outcome
from spark_jobs.parts.runs import run_edges

_COLOURS: Final = {
    "committed": pictures.GOOD,
    "aborted": pictures.BAD,
    "open": pictures.OPEN,
    "unknown": pictures.UNKNOWN,
}
STATES: Final = tuple(_COLOURS)
_MOST_LINES: Final = 60
_MOST_NAMES: Final = 15
_CLOCKS: Final = ("producer", "broker")


def run(spark: Any, arguments: Namespace) -> Outcome:
    step("following transactions")
    found = _between(view(spark, arguments, "transactions"), arguments)
    found = found.orderBy("topic", "partition", "first_offset").persist()
    took = f.col("end_timestamp_ms") - f.col("first_timestamp_ms")
    try:
        table = found.toArrow()
        states = (
            found.groupBy("topic", "partition", "state")
            .agg(
                f.count("*").alias("transactions"),
                f.sum("record_count").alias("records"),
                f.sum("size_bytes").alias("bytes"),
                f.max(f.when(_has_clock("broker"), took)).alias("longest_ms"),
                f.max(f.when(_has_clock("producer"), took)).alias("longest_since_create_ms"),
            )
            .orderBy("topic", "partition", "state")
            .toArrow()
        )
    finally:
        found.unpersist()
    summary: dict[str, Any] = {}
    rows = states.to_pylist()
    for state in STATES:
        mine = [row for row in rows if row["state"] == state]
        for name in ("transactions", "records", "bytes"):
            summary[f"{state}_{name}"] = sum(row[name] for row in mine)
    oldest = oldest_open(table, int(time.time() * 1000))
    summary |= {f"oldest_open_{name}": value for name, value in oldest.items()}
    notes = [in_words(oldest)] if oldest["offset"] is not None else []
    return Outcome({"states": states, "transactions": table}, summary, notes=notes)


def _has_clock(name: str) -> Any:
    """Where the first record has a time, by this clock."""
    clock = f.col("timestamp_type") == _CLOCKS.index(name)
    return clock & (f.col("first_timestamp_ms") >= 0)


#: Names of what is known of the oldest open transaction.
OLDEST_OPEN: Final = (
    *("topic", "partition", "offset", "producer_id"),
    *("timestamp_ms", "clock", "age_ms"),
)


def oldest_open(table: pa.Table, now_ms: int) -> dict[str, Any]:
    """The oldest open transaction, for the summary; nulls if there is none."""
    still_open = table.filter(pc.field("state") == "open").to_pylist()
    if not still_open:
        return dict.fromkeys(OLDEST_OPEN)
    # Of one partition, the first by its offset; among partitions only times can be compared, and
    # what has none comes last.
    firsts: dict[tuple[str, int], dict[str, Any]] = {}
    for row in sorted(still_open, key=lambda row: int(row["first_offset"])):
        firsts.setdefault((row["topic"], row["partition"]), row)
    rank = lambda row: (row["first_timestamp_ms"] < 0, row["first_timestamp_ms"])  # noqa: E731
    oldest = min(firsts.values(), key=rank)
    at, clock = oldest["first_timestamp_ms"], _CLOCKS[oldest["timestamp_type"]]
    ended_behind = table.filter(
        (pc.field("topic") == oldest["topic"])
        & (pc.field("partition") == oldest["partition"])
        & (pc.field("last_offset") > oldest["first_offset"])
        & pc.field("end_timestamp_ms").is_valid()
    )
    was_open = [pc.min(ended_behind["end_timestamp_ms"]).as_py()] if ended_behind.num_rows else []
    if clock == "broker" and at >= 0:
        was_open.append(at)
    age_ms = max(0, now_ms - min(was_open)) if was_open else None
    values = (
        *(oldest[name] for name in ("topic", "partition", "first_offset", "producer_id")),
        *(at if at >= 0 else None, clock, age_ms),
    )
    return dict(zip(OLDEST_OPEN, values, strict=True))


def in_words(oldest: dict[str, Any]) -> str:
    """A sentence about it."""
    place = f"{oldest['topic']}-{oldest['partition']} from offset {oldest['offset']}"
    text = f"oldest open transaction: {place}, producer {oldest['producer_id']}"
    at = oldest["timestamp_ms"]
    if at is not None and pictures.has_date(at):
        since = datetime.fromtimestamp(at / 1000, UTC).isoformat()
        text += f", since {since} by the {oldest['clock']}'s clock"
    return text


def _between(found: Any, arguments: Namespace) -> Any:
    """Those of --since to --until: the view itself has every transaction of a log."""
    if arguments.since is not None:
        found = found.where(f.col("first_timestamp_ms") >= arguments.since)
    if arguments.until is not None:
        found = found.where(f.col("first_timestamp_ms") < arguments.until)
    return found


def draw(outcome: Outcome) -> Any:
    rows = outcome.tables["states"].to_pylist()
    if not rows:
        return None
    places = sorted({(row["topic"], row["partition"]) for row in rows})[:15]
    made, (left, right) = pictures.figure("Transactions", panels=2)
    names = [f"{topic}-{partition}" for topic, partition in places]
    layers = {}
    for state in STATES:
        by_place = {
            (row["topic"], row["partition"]): row["records"]
            for row in rows
            if row["state"] == state
        }
        layers[state] = ([by_place.get(place, 0) for place in places], _COLOURS[state])
    pictures.stacked(left, names, layers)
    pictures.label(left, "records in transactions", "")
    pictures.legend(left)
    # In order of their partitions: each has its lines side by side, and its name there.
    every = outcome.tables["transactions"]
    shown = most_telling(every)
    lines: dict[str, list[int]] = {}
    for at, row in enumerate(shown):
        ends = row["last_offset"]
        right.plot([row["first_offset"], ends], [at, at], color=_COLOURS[row["state"]], linewidth=2)
        lines.setdefault(f"{row['topic']}-{row['partition']}", []).append(at)
    right.margins(x=0.05)
    named = lines if len(lines) <= _MOST_NAMES else {}
    right.set_yticks([sum(mine) / len(mine) for mine in named.values()], list(named), fontsize=8)
    right.invert_yaxis()
    told = f"{len(shown)} of {every.num_rows} transactions, all unknown and open ones among them"
    pictures.label(right, "offsets that they span", "", told if len(shown) < every.num_rows else "")
    return made


def most_telling(table: pa.Table) -> list[dict[str, Any]]:
    """As many as can be drawn, in the order of their partitions: what is unknown, what is open, and
    of the others the last of each partition in turn."""
    urgency = pc.index_in(table["state"], pa.array(["unknown", "open"])).fill_null(2).to_numpy()
    edges = run_edges(table, ("topic", "partition"))
    places = np.arange(table.num_rows)
    behind = np.repeat(edges[1:], np.diff(edges)) - places
    chosen = np.sort(np.lexsort((places, behind, urgency))[:_MOST_LINES])
    rows: list[dict[str, Any]] = table.take(chosen).to_pylist()
    return rows


#: What a log holds of them, whatever their outcome, is what is asked for.
JOB: Final = Job(
    __file__, __doc__, run, draw=draw, without=("isolation", "mode"), counts_left_out=False
)

if __name__ == "__main__":
    JOB.main()
