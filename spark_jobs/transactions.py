"""Transactions as the partitions have them: committed, aborted, and still open.

One row for each transaction in each partition, from headers and markers. A transaction that has
been open for long holds back every reader of committed records (the last stable offset); the
summary names the oldest. --since and --until choose by the time of a transaction's first record:
not before the one, and before the other.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any, Final

from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from spark_jobs import pictures
from spark_jobs.job import Job
from spark_jobs.progress import step
from spark_jobs.reading import view
from spark_jobs.results import Outcome

STATES: Final = ("committed", "aborted", "open")
_COLOURS: Final = {"committed": pictures.GOOD, "aborted": pictures.BAD, "open": pictures.OPEN}
_MOST_LINES: Final = 60


def run(spark: Any, arguments: Namespace) -> Outcome:
    step("following transactions")
    found = _between(view(spark, arguments, "transactions"), arguments)
    found = found.orderBy("topic", "partition", "first_offset").persist()
    try:
        table = found.toArrow()
        states = (
            found.groupBy("topic", "partition", "state")
            .agg(
                f.count("*").alias("transactions"),
                f.sum("record_count").alias("records"),
                f.sum("size_bytes").alias("bytes"),
                f.max(f.col("end_timestamp_ms") - f.col("first_timestamp_ms")).alias("longest_ms"),
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
    still_open = [row for row in table.to_pylist() if row["state"] == "open"]
    if still_open:
        oldest = min(still_open, key=lambda row: row["first_timestamp_ms"])
        place = f"{oldest['topic']}-{oldest['partition']} from offset {oldest['first_offset']}"
        summary["oldest_open"] = f"{place}, producer {oldest['producer_id']}"
    return Outcome({"states": states, "transactions": table}, summary)


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
    left.margins(x=0.05)
    pictures.label(left, "records in transactions", "")
    shown = outcome.tables["transactions"].to_pylist()[-_MOST_LINES:]
    for at, row in enumerate(shown):
        ends = row["last_offset"]
        right.plot([row["first_offset"], ends], [at, at], color=_COLOURS[row["state"]], linewidth=2)
    right.margins(x=0.05)
    right.set_yticks([])
    right.invert_yaxis()
    pictures.label(right, "offsets that they span", "", f"the last {len(shown)} transactions")
    return made


JOB: Final = Job(__file__, __doc__, run, draw=draw)

if __name__ == "__main__":
    JOB.main()
