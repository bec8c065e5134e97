"""Transactions of a partition as rows: what its batches and markers tell.

    batch             begins a transaction of its producer, or adds to it
    marker            ends it: committed, aborted
    something broken  may have been the marker of those that are open there: unknown, unless the
                      next that their producers wrote is a marker after all

Out     rows of TRANSACTION_SCHEMA in order of their ends, then those that have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa

from pykbroker.offline.batch_headers import first_times, header_at
from pykbroker.offline.frozen_end import freeze, frozen_segments, open_listed
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.offline.segment_walk import HeaderRun, header_tables
from pykbroker.offline.transaction_scan import BEGIN, DOUBT, Event, TransactionEvents, touched
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


def transaction_rows(files: PartitionFiles) -> list[_Row]:
    """The transactions of one partition, up to its end now."""
    follower = _Follower(files)
    rows: list[_Row] = []
    for segment, end in frozen_segments(files, freeze(files)):
        with open_listed(segment, end) as opened:
            scan = TransactionEvents(opened, segment.base_offset)
            for run in header_tables(opened, segment.index_path, segment.base_offset, 0, end):
                scan.add(run)
                rows += follower.follow(run, scan.found)
                scan.found = []
            scan.add_gap(end)
            rows += follower.follow(None, scan.found)
    return [*rows, *follower.ongoing.values()]


class _Follower:
    """State: the transactions that are open, by producer."""

    def __init__(self, files: PartitionFiles) -> None:
        self.files = files
        self.ongoing: dict[int, _Row] = {}

    def follow(self, run: HeaderRun | None, events: list[Event]) -> Iterator[_Row]:
        """The transactions that end in a run, or (unknown) before it."""
        waiting = iter([*(each for each in events if each.kind != BEGIN), None])
        event = next(waiting)
        for position, header, time in () if run is None else _batches(run):
            while event is not None and event.position < position:
                yield from self._event(event)
                event = next(waiting)
            yield from self._add(header, time)
        while event is not None:
            yield from self._event(event)
            event = next(waiting)

    def _event(self, event: Event) -> Iterator[_Row]:
        if event.kind == DOUBT:
            for producer_id in touched(self.ongoing, event):
                self.ongoing[producer_id]["state"] = "unknown"
            return
        ended = self.ongoing.pop(event.producer_id, None)
        if ended is not None:
            ended["state"] = "aborted" if event.kind == ABORT else "committed"
            ended["last_offset"] = event.offset
            ended["end_timestamp_ms"] = event.timestamp_ms
            yield ended

    def _add(self, header: BatchHeader, time: int) -> Iterator[_Row]:
        row = self.ongoing.get(header.producer_id)
        if row is not None and row["state"] == "unknown":
            yield self.ongoing.pop(header.producer_id)
            row = None
        if row is None:
            row = self.ongoing[header.producer_id] = self._begun(header, time)
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
            "first_offset": header.base_offset,
            "batch_count": 0,
            "record_count": 0,
            "size_bytes": 0,
            "first_timestamp_ms": time,
            "timestamp_type": header.timestamp_type,
            "end_timestamp_ms": None,
        }


def _batches(run: HeaderRun) -> Iterator[tuple[int, BatchHeader, int]]:
    """(position, header, time of the first record) of the records' transactional batches."""
    positions, table = run
    kind = table["attributes"] & (TRANSACTIONAL_BIT | CONTROL_BIT)
    first, known = first_times(table)
    times = np.where(known, first, table["max_timestamp"])
    for index in np.flatnonzero(
        (kind == TRANSACTIONAL_BIT) & (table["magic"] == MAGIC_V2)
    ).tolist():
        yield int(positions[index]), header_at(table, index), int(times[index])
