"""Segments as a table, from the headers of their batches and their indexes.

segments(paths, topics)   one row per segment; `paths` as for `open_log`
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from pykbroker.offline.batch_headers import first_times
from pykbroker.offline.frozen_end import freeze, frozen_segments, open_listed
from pykbroker.offline.partition_files import PartitionFiles, SegmentFiles
from pykbroker.offline.reader import Names
from pykbroker.offline.segment_index import aborted_transactions, offset_entries, time_entries
from pykbroker.offline.segment_walk import HeaderRun, header_tables
from pykbroker.offline.split import (
    DROPMALFORMED,
    END_OF_TIME,
    FaultReporter,
    Selection,
    Split,
)
from pykbroker.offline.view_selection import of_partitions, view_selection
from pykbroker.protocol.compression import CODEC_NAMES
from pykbroker.protocol.record_batch import CODEC_MASK, CONTROL_BIT, MAGIC_V2, TRANSACTIONAL_BIT

SEGMENT_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("base_offset", pa.int64()),
        ("next_offset", pa.int64()),
        ("path", pa.string()),
        ("size_bytes", pa.int64()),
        ("is_active", pa.bool_()),
        ("batch_count", pa.int64()),
        ("record_count", pa.int64()),
        ("control_batch_count", pa.int64()),
        ("transactional_batch_count", pa.int64()),
        ("compressed_batch_count", pa.int64()),
        ("codecs", pa.list_(pa.field("element", pa.string()))),
        ("producer_count", pa.int64()),
        ("first_timestamp_ms", pa.int64()),
        ("max_timestamp_ms", pa.int64()),
        ("offset_index_entries", pa.int64()),
        ("time_index_entries", pa.int64()),
        ("aborted_transactions", pa.int64()),
    ]
)


def segments(
    paths: Names | Selection,
    topics: str | Iterable[str] | None = None,
    *,
    partitions: Collection[int] | None = None,
    mode: str = DROPMALFORMED,
) -> Any:
    """Return one row for every segment, from its headers and indexes; columns of SEGMENT_SCHEMA.

    Bytes that are not a batch raise CorruptSegment with FAILFAST; otherwise they are skipped.
    """

    def rows(files: PartitionFiles) -> list[dict[str, object]]:
        segments = frozen_segments(files, freeze(files))
        return [_segment_row(files, segment, end, mode) for segment, end in segments]

    found = of_partitions(view_selection(paths, topics, partitions), rows)
    return pa.Table.from_pylist(found, schema=SEGMENT_SCHEMA)


def _segment_row(
    files: PartitionFiles, segment: SegmentFiles, end: int, mode: str
) -> dict[str, object]:
    sums = _SegmentSums()
    base = segment.base_offset
    split = Split(segment.path, files.topic, files.partition, base, 0, end)
    on_fault = FaultReporter(split, mode, None).report
    with open_listed(segment, end) as opened:
        for run in header_tables(opened, segment.index_path, base, 0, end, on_fault=on_fault):
            sums.add(run)
    times = time_entries(segment.time_index_path, segment.base_offset)
    aborted = aborted_transactions(segment.txn_index_path, segment.base_offset)
    return {
        "topic": files.topic,
        "partition": files.partition,
        "base_offset": segment.base_offset,
        "next_offset": max(sums.next_offset, segment.base_offset),
        "path": segment.path,
        "size_bytes": end,
        "is_active": segment is files.segments[-1],
        "batch_count": sums.batches,
        "record_count": sums.records,
        "control_batch_count": sums.control,
        "transactional_batch_count": sums.transactional,
        "compressed_batch_count": sums.compressed,
        "codecs": [name for code, name in enumerate(CODEC_NAMES) if code in sums.codecs],
        "producer_count": len(sums.producers - {-1}),
        "first_timestamp_ms": sums.first_timestamp,
        "max_timestamp_ms": sums.max_timestamp,
        "offset_index_entries": len(offset_entries(segment.index_path, segment.base_offset, end)),
        "time_index_entries": len(times),
        "aborted_transactions": None if aborted is None else len(aborted),
    }


class _SegmentSums:
    """The sums over the batches of a segment."""

    def __init__(self) -> None:
        self.batches = self.records = self.control = self.transactional = self.compressed = 0
        self.next_offset = 0
        self.codecs: set[int] = set()
        self.producers: set[int] = set()
        self._first_timestamps: list[int] = []
        self._max_timestamps: list[int] = []

    @property
    def first_timestamp(self) -> int | None:
        return min(self._first_timestamps, default=None)

    @property
    def max_timestamp(self) -> int | None:
        return max(self._max_timestamps, default=None)

    def add(self, run: HeaderRun) -> None:
        table = run.table if run.is_old else run.table[run.table["magic"] == MAGIC_V2]
        if not table.size:
            return
        attributes = table["attributes"]
        codecs = attributes & CODEC_MASK
        self.batches += table.size
        self.records += int(table["record_count"].astype(np.int64).sum())
        self.control += int(np.count_nonzero(attributes & CONTROL_BIT))
        self.transactional += int(np.count_nonzero(attributes & TRANSACTIONAL_BIT))
        self.compressed += int(np.count_nonzero(codecs))
        self.codecs.update(np.unique(codecs).tolist())
        self.producers.update(np.unique(table["producer_id"]).tolist())
        last = int(table["base_offset"][-1]) + int(table["last_offset_delta"][-1])
        self.next_offset = max(self.next_offset, min(last + 1, END_OF_TIME))
        first, known = first_times(table)
        times = np.where(known, first, table["max_timestamp"])[table["record_count"] > 0]
        if run.is_old:
            times = times[times >= 0]  # magic 0 has none
        if times.size:
            self._first_timestamps.append(int(times.min()))
        self._max_timestamps.append(int(table["max_timestamp"].max()))
