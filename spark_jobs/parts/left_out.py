"""What a job had to leave out: corrupt batches, in PERMISSIVE and DROPMALFORMED.

The workers write side tables into OUT/left-out/run-<mark> (option `corruptBatchSink`, unless it is
given); `left_out` reads them back. They take the place of those of an earlier run, in OUT/left-out,
once the job has run without an error.

    corrupt-<task>.json    a batch a line
    counts-<task>.json     {"batches", "bytes"} of all that the task left out, {"rows", "row_bytes"}
                           of what its side table has of it: only where that is not all
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple
from uuid import uuid4

import pyarrow as pa

from pykbroker.offline import CORRUPTION_SCHEMA
from pykbroker.offline.storage import join
from pykbroker.spark.target import Target

SINK: Final = "corruptBatchSink"
FAILFAST: Final = "FAILFAST"
_OWN: Final = ("corrupt-", "counts-")
_SCHEMA: Final = pa.schema([field for field in CORRUPTION_SCHEMA if field.name != "raw"])


class LeftOut(NamedTuple):
    """Batches that were left out: those that are named, and how many there are."""

    table: Any
    batches: int
    bytes: int


def is_counted(arguments: Namespace) -> bool:
    """Return whether a job may skip batches, and counts them here."""
    if getattr(arguments, "mode", FAILFAST) == FAILFAST:
        return False
    return all(name.lower() != SINK.lower() for name, _ in arguments.option)


@contextmanager
def place_of_run(out: str) -> Iterator[Target]:
    """Yield where the workers write while a job runs; it is deleted afterwards."""
    target = Target(join(join(out, "left-out"), f"run-{uuid4().hex[:12]}"))
    try:
        yield target
    finally:
        target.delete_all()


def keep(place: Target, out: str) -> None:
    """Replace the side tables of an earlier run with those of this run."""
    target = fresh_place(out)
    for name in place.names():
        target.write(name, place.read(name))


def fresh_place(out: str) -> Target:
    """Return OUT/left-out without anything of an earlier run; other files remain."""
    target = Target(join(out, "left-out"))
    for name in target.names():
        if name.startswith(_OWN):
            target.delete(name)
    return target


def left_out(target: Target) -> LeftOut:
    """The side tables: each batch once, although several passes may have met it.

    Those that no row names count for each task: again, if a pass cuts the log into other tasks.
    """
    found: dict[tuple[str, int], dict[str, Any]] = {}
    batches = size_bytes = 0
    for name in target.names():
        if name.startswith("corrupt-"):
            for line in target.read(name).splitlines():
                row = json.loads(line)
                del row["raw"]
                found[row["path"], row["position"]] = row
        elif name.startswith("counts-"):
            totals = json.loads(target.read(name))
            batches += totals["batches"] - totals["rows"]
            size_bytes += totals["bytes"] - totals["row_bytes"]
    rows = [found[place] for place in sorted(found)]
    return LeftOut(
        pa.Table.from_pylist(rows, schema=_SCHEMA),
        batches + len(rows),
        size_bytes + sum(row["size_bytes"] for row in rows),
    )
