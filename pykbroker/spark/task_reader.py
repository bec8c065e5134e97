"""Reads a task, in a worker: LogTask -> record batches of its columns, and skipped batches.

State   whether this worker has been settled: see settle_worker.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from pykbroker.offline import OfflineError, read_split, scan_batches, segments, transactions
from pykbroker.spark.corrupt_sink import CorruptSink
from pykbroker.spark.filters import keep_rows
from pykbroker.spark.tasks import LogTask
from pykbroker.spark.worker_noise import hush_closed_pipes

_settled = False


def settle_worker() -> None:
    """Spark collects garbage after each task of a reused worker: permanently loaded objects are
    excluded (20 to 35 ms per task). A worker that Spark abandons early then exits quietly.
    """
    global _settled
    if not _settled:  # gc.get_freeze_count() counts one by one: 5 ms
        gc.collect()
        gc.freeze()
        hush_closed_pipes()
        _settled = True


def read_task(task: LogTask, sink: CorruptSink | None = None) -> Iterator[Any]:
    """Yield the record batches of a task; `sink` receives skipped batches (of the views records and
    batches).
    """
    settle_worker()
    if task.view == "records":
        batches = _read_records(task, sink or CorruptSink(task))
    elif task.view == "batches":
        batches = _scan_headers(task, sink or CorruptSink(task))
    else:
        assert task.selection is not None
        table = (
            segments(task.selection, mode=task.read_options.mode)
            if task.view == "segments"
            else transactions(task.selection)
        )
        batches = iter(table.to_batches())
    if not task.filters:
        yield from batches
        return
    for batch in batches:
        kept = keep_rows(batch, task.filters)
        if kept.num_rows:
            yield kept.select(list(task.columns))


def _read_records(task: LogTask, sink: CorruptSink) -> Iterator[Any]:
    for split in task.splits:
        yield from read_split(split, task.read_options, sink.note)
    sink.close()


def _scan_headers(task: LogTask, sink: CorruptSink) -> Iterator[Any]:
    for split in task.splits:
        yield from scan_batches(split, task.read_options.mode, sink.note)
    sink.close()


def conform(batches: Iterator[Any], schema: Any) -> Iterator[Any]:
    """Yield record batches with exactly the schema that Spark checks: a selection and an order.

    An OfflineError is raised without inner stack frames, as by `told_briefly`.
    """
    try:
        for batch in batches:
            if batch.schema.equals(schema):
                yield batch
            else:
                places = [batch.schema.get_field_index(name) for name in schema.names]
                columns = [batch.column(place) for place in places]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)
    except OfflineError as fault:
        raise fault.with_traceback(None) from None
