"""Transactions of a partition as rows, from its batches and markers.

    transactional batch   begins a transaction of its producer, or adds to it
    marker                ends it: committed, aborted
    corrupt bytes         may have been the marker of those that are open there: unknown; what their
                          producers write after them is a transaction of its own

Log directories are those of `open_log`; a log that is being written to is read to its current end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from heapq import merge
from operator import itemgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa

from pykbroker.offline.batch_headers import first_times, header_at
from pykbroker.offline.frozen_end import freeze, frozen_segments, open_listed
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.offline.reader import Names
from pykbroker.offline.segment_walk import HeaderRun
from pykbroker.offline.split import Selection
from pykbroker.offline.transaction_events import BEGIN, DOUBT, Event, segment_events
from pykbroker.offline.view_selection import of_partitions, view_selection
from pykbroker.protocol.control_records import ABORT
from pykbroker.protocol.record_batch import (
    CONTROL_BIT,
    MAGIC_V2,
    TRANSACTIONAL_BIT,
    BatchHeader,
)

TRANSACTION_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int32()),
        ("state", pa.string()),
        ("first_offset", pa.int64()),
        ("last_offset", pa.int64()),
        ("batch_count", pa.int64()),
        ("record_count", pa.int64()),
        ("size_bytes", pa.int64()),
        ("first_timestamp_ms", pa.int64()),
        ("timestamp_type", pa.int32()),
        ("end_timestamp_ms", pa.int64()),
    ]
)

_Row = dict[str, Any]


def transactions(
    paths: Names | Selection,
    topics: str | Iterable[str] | None = None,
    *,
    partitions: Collection[int] | None = None,
) -> Any:
    """Transactions by partition, in order of their ends, open ones last; TRANSACTION_SCHEMA.

    `state` is committed, aborted or open, or unknown where something damaged may be the marker;
    `last_offset` that of the marker, or of the last batch.
    `first_timestamp_ms` is of the first record (the largest of the first batch, where that has a
    delete horizon or no records), by the clock that `timestamp_type` names: 0 the producer's, 1 the
    broker's.
    `end_timestamp_ms` is the broker's; null without a marker.
    """
    rows = of_partitions(view_selection(paths, topics, partitions), transaction_rows)
    return pa.Table.from_pylist(rows, schema=TRANSACTION_SCHEMA)


def transaction_rows(files: PartitionFiles) -> list[_Row]:
    """Return the transactions of one partition, up to its current end."""
    follower = _Follower(files)
    rows: list[_Row] = []
    frozen = freeze(files)
    for number, (segment, end) in enumerate(frozen_segments(files, frozen)):
        is_last = segment is files.segments[-1]
        limit = frozen.next_offset if is_last else files.segments[number + 1].base_offset
        with open_listed(segment, end) as opened:
            for run, events in segment_events(opened, segment, end, limit):
                rows += follower.follow(run, events)
    return [*rows, *follower.ongoing.values()]


class _Follower:
    """State: the open transactions, and the start of those whose batch comes next."""

    def __init__(self, files: PartitionFiles) -> None:
        self.files = files
        self.ongoing: dict[int, _Row] = {}
        self._beginning: dict[int, int] = {}

    def follow(self, run: HeaderRun, events: list[Event]) -> Iterator[_Row]:
        """Yield the transactions that end in a run, or before it; `events` are those of its
        batches.
        """
        steps: Iterator[tuple[int, int, Any]]
        steps = ((event.position, 0, event) for event in events)
        for _, _, step in merge(steps, _batches(run), key=itemgetter(0, 1)):
            if isinstance(step, Event):
                yield from self._event(step)
            else:
                self._add(*step)

    def _event(self, event: Event) -> Iterator[_Row]:
        if event.kind == BEGIN:
            self._beginning[event.producer_id] = event.offset
        elif event.kind == DOUBT:
            yield from (row | {"state": "unknown"} for row in self.ongoing.values())
            self.ongoing.clear()
        else:
            ended = self.ongoing.pop(event.producer_id, None)
            if ended is not None:
                ended["state"] = "aborted" if event.kind == ABORT else "committed"
                ended["last_offset"] = event.offset
                ended["end_timestamp_ms"] = event.timestamp_ms
                yield ended

    def _add(self, header: BatchHeader, time: int) -> None:
        row = self.ongoing.get(header.producer_id)
        if row is None:
            if header.producer_id not in self._beginning:
                return  # a damaged header: no sound batch began a transaction of this producer
            row = self.ongoing[header.producer_id] = self._begun(header, time)
        self._beginning.pop(header.producer_id, None)
        row["producer_epoch"] = header.producer_epoch
        row["last_offset"] = header.last_offset
        row["batch_count"] += 1
        row["record_count"] += header.record_count
        row["size_bytes"] += header.size_bytes

    def _begun(self, header: BatchHeader, time: int) -> _Row:
        return {
            "topic": self.files.topic,
            "partition": self.files.partition,
            "producer_id": header.producer_id,
            "state": "open",
            "first_offset": self._beginning[header.producer_id],
            "batch_count": 0,
            "record_count": 0,
            "size_bytes": 0,
            "first_timestamp_ms": time,
            "timestamp_type": header.timestamp_type,
            "end_timestamp_ms": None,
        }


def _batches(run: HeaderRun) -> Iterator[tuple[int, int, Any]]:
    """Yield (position, 1, (header, time of the first record, or else the largest)) of transactional
    record batches.
    """
    positions, table, _ = run
    kind = table["attributes"] & (TRANSACTIONAL_BIT | CONTROL_BIT)
    first, known = first_times(table)
    times = np.where(known, first, table["max_timestamp"])
    chosen = (kind == TRANSACTIONAL_BIT) & (table["magic"] == MAGIC_V2)
    for index in np.flatnonzero(chosen).tolist():
        yield int(positions[index]), 1, (header_at(table, index), int(times[index]))
