"""Batches by their headers, and exact at the edges of what was asked for.

`exact_batches` has the columns of the view `batches`. A range of times or offsets may begin or end
within a batch; such a batch (two at most in a partition) is decoded, and its row tells only of the
records that are in the range: their number, first and last offset, first and largest time. Its
bytes are those of the whole batch. Batches of aborted transactions are left out under
read_committed, those of open ones as well.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pykbroker.offline import BATCH_SCHEMA, ReadOptions, Split, read_split, scan_batches
from pykbroker.spark import map_splits
from spark_jobs.parts.reading import source_options


def exact_batches(spark: Any, arguments: Namespace) -> Any:
    """Return a DataFrame of the batches, including control batches."""
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(BATCH_SCHEMA)
    # As of that view: conditions on records, which no header answers, are refused.
    options = source_options(arguments, view="batches")
    return map_splits(spark, options, cut_batches, schema)


def cut_batches(split: Split, options: ReadOptions) -> Iterator[Any]:
    """In the workers: see the module."""
    for run in scan_batches(split, options.mode):
        over = pc.or_(
            pc.less(run.column("base_offset"), split.start_offset),
            pc.greater_equal(run.column("last_offset"), split.end_offset),
        )
        at_edge = pc.and_not(over, run.column("is_control"))
        inside = run.filter(pc.invert(at_edge))
        if inside.num_rows:
            yield inside
        rows = [_cut(row, split, options) for row in run.filter(at_edge).to_pylist()]
        rows = [row for row in rows if row is not None]
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=BATCH_SCHEMA)


def _cut(row: dict[str, Any], split: Split, options: ReadOptions) -> dict[str, Any] | None:
    """Return the row of the selected part of a batch; None if none of its records is selected."""
    start, low, behind = row["position"], row["base_offset"], row["last_offset"] + 1
    alone = replace(
        split,
        start_position=start,
        end_position=start + row["size_bytes"],
        # If the file has been replaced, its offsets are looked up.
        first_offset=low,
        behind_offset=behind,
        start_offset=max(split.start_offset, low),
        end_offset=min(split.end_offset, behind),
    )
    wanted = replace(options, columns=("offset", "timestamp_ms"))
    table = pa.Table.from_batches(
        read_split(alone, wanted),
        pa.schema([("offset", pa.int64()), ("timestamp_ms", pa.int64())]),
    )
    if not table.num_rows:
        return None
    offsets, times = table.column("offset"), table.column("timestamp_ms")
    return row | {
        "record_count": table.num_rows,
        "base_offset": offsets[0].as_py(),
        "last_offset": offsets[-1].as_py(),
        "base_timestamp_ms": times[0].as_py(),
        "max_timestamp_ms": pc.max(times).as_py(),
    }
