"""Batches, segments and transactions as tables, mostly from headers alone: about 1 us a batch.

    batches(paths, topics)        one row a record batch
    segments(paths, topics)       one row a segment
    transactions(paths, topics)   one row a transaction of a producer in a partition

In      log directories, as `open_log` takes them; a log that is written to is read to its end now.
Out     pyarrow tables: what the headers claim. Checksums are looked at for transactions alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pykbroker.offline.arrow_columns import constant_text, primitive
from pykbroker.offline.batch_headers import aborted_batches, first_times, header_at
from pykbroker.offline.frozen_end import freeze, frozen_segments, open_listed
from pykbroker.offline.layout import read_partitions
from pykbroker.offline.partition_files import PartitionFiles, SegmentFiles
from pykbroker.offline.planning import plan_partition, select_partitions, while_listed
from pykbroker.offline.reader import Names, names_of, numbers_of
from pykbroker.offline.segment_index import (
    aborted_transactions,
    offset_entries,
    time_entries,
)
from pykbroker.offline.segment_walk import HeaderRun, header_tables
from pykbroker.offline.split import (
    DROPMALFORMED,
    FaultReporter,
    OnCorruption,
    Selection,
    Split,
)
from pykbroker.offline.split_file import open_parts
from pykbroker.offline.storage import SegmentFile
from pykbroker.offline.transaction_events import marker_type
from pykbroker.offline.transaction_view import TRANSACTION_SCHEMA, transaction_rows
from pykbroker.protocol.compression import CODEC_NAMES
from pykbroker.protocol.control_records import (
    ABORT,
    COMMIT,
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
)
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    LOG_APPEND_TIME_BIT,
    LOG_OVERHEAD,
    MAGIC_V2,
    TRANSACTIONAL_BIT,
)

_Row = TypeVar("_Row")

CONTROL_NAMES: Final = {
    ABORT: "abort",
    COMMIT: "commit",
    LEADER_CHANGE: "leader_change",
    SNAPSHOT_HEADER: "snapshot_header",
    SNAPSHOT_FOOTER: "snapshot_footer",
    KRAFT_VERSION: "kraft_version",
    KRAFT_VOTERS: "kraft_voters",
}

BATCH_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("segment_base_offset", pa.int64()),
        ("position", pa.int64()),
        ("size_bytes", pa.int32()),
        ("base_offset", pa.int64()),
        ("last_offset", pa.int64()),
        ("record_count", pa.int32()),
        ("leader_epoch", pa.int32()),
        ("magic", pa.int32()),
        ("crc", pa.int64()),
        ("codec", pa.string()),
        ("timestamp_type", pa.int32()),
        ("is_transactional", pa.bool_()),
        ("is_control", pa.bool_()),
        ("has_delete_horizon", pa.bool_()),
        ("base_timestamp_ms", pa.int64()),
        ("max_timestamp_ms", pa.int64()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int32()),
        ("base_sequence", pa.int32()),
        ("control_type", pa.string()),
    ]
)

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


def _selection(
    paths: Names | Selection,
    topics: str | Iterable[str] | None,
    partitions: Collection[int] | None,
) -> Selection:
    if isinstance(paths, Selection):
        return paths
    return Selection(
        paths=names_of(paths) or (), topics=names_of(topics), partitions=numbers_of(partitions)
    )


def _of_partitions(
    selection: Selection, rows_of: Callable[[PartitionFiles], list[_Row]]
) -> list[_Row]:
    """The rows of all partitions; one whose segments are replaced meanwhile is begun anew."""
    rows: list[_Row] = []
    for files in read_partitions(selection.paths, select_partitions(selection)):
        rows += while_listed(selection.paths, files, rows_of) or ()
    return rows


# -- batches ------------------------------------------------------------------------------------


def batches(
    paths: Names | Selection,
    topics: str | Iterable[str] | None = None,
    *,
    partitions: Collection[int] | None = None,
) -> Any:
    """One row for every record batch, control batches too; columns of BATCH_SCHEMA.

    `base_timestamp_ms` is the time of the first record, null where the header does not tell it:
    in batches with a delete horizon, which stands in its place, and in those without records.
    """
    selection = _selection(paths, topics, partitions)

    def scan(files: PartitionFiles) -> list[Any]:
        _, splits = plan_partition(files, selection)
        return [table for split in splits for table in scan_batches(split)]

    return pa.Table.from_batches(_of_partitions(selection, scan), schema=BATCH_SCHEMA)


def scan_batches(
    split: Split, mode: str = DROPMALFORMED, on_corruption: OnCorruption | None = None
) -> Iterator[Any]:
    """The batches of a split that overlap its offsets, as record batches of BATCH_SCHEMA.

    Checksums are not looked at. Where no batch is: CorruptSegment with FAILFAST, else it is stepped
    over, and `on_corruption` told.

    Whole batches, however few of their records are wanted. Of times: those that may reach the
    start, and whose first record is before the end, if that is known. What is planned for
    committed records has no batches of aborted transactions; markers stay.
    """
    for _, rows in scan_parts(split, mode, on_corruption):
        yield rows


def scan_parts(
    split: Split, mode: str, on_corruption: OnCorruption | None = None
) -> Iterator[tuple[SegmentFile, Any]]:
    """The same with the open file that their positions are of: another than was planned, where
    compaction has replaced that."""
    for part, opened in open_parts(split):
        with opened:
            for rows in _scan_part(opened, part, FaultReporter(part, mode, on_corruption)):
                yield opened, rows


def _scan_part(opened: SegmentFile, split: Split, reporter: FaultReporter) -> Iterator[Any]:
    end = min(split.end_position, opened.size)
    runs = header_tables(
        opened,
        split.index_path,
        split.segment_base_offset,
        split.start_position,
        end,
        on_fault=reporter.report,
    )
    for positions, table in runs:
        base = table["base_offset"].astype(np.int64)
        last = base + table["last_offset_delta"]
        keep = (last >= split.start_offset) & (base < split.end_offset)
        if split.start_timestamp_ms is not None:
            keep &= table["max_timestamp"] >= split.start_timestamp_ms
        if split.end_timestamp_ms is not None:
            first, known = first_times(table)
            keep &= ~known | (first < split.end_timestamp_ms)
        if split.aborted:
            is_control = (table["attributes"] & CONTROL_BIT) != 0
            keep &= is_control | ~aborted_batches(table, split.aborted)
        run = HeaderRun(positions, table)
        if not keep.all():
            run = HeaderRun(positions[keep], table[keep])
        if run.positions.size:
            yield _batch_rows(opened, split, run)


def _batch_rows(opened: SegmentFile, split: Split, run: HeaderRun) -> Any:
    positions, table = run
    count = positions.size
    attributes = table["attributes"].astype(np.int32)
    codecs = np.minimum(attributes & CODEC_MASK, len(CODEC_NAMES)).astype(np.int32)

    def flag(bit: int) -> Any:
        return pa.array((attributes & bit) != 0)

    def int32(name: str) -> Any:
        return primitive(pa.int32(), table[name].astype(np.int32))

    def int64(values: NDArray[Any]) -> Any:
        return primitive(pa.int64(), values.astype(np.int64))

    base = table["base_offset"].astype(np.int64)
    first, known = first_times(table)
    kinds = [(attributes & LOG_APPEND_TIME_BIT) // LOG_APPEND_TIME_BIT]
    arrays = [
        constant_text(split.topic, count),
        primitive(pa.int32(), np.full(count, split.partition, np.int32)),
        int64(np.full(count, split.segment_base_offset)),
        int64(positions),
        primitive(pa.int32(), table["length"].astype(np.int32) + np.int32(LOG_OVERHEAD)),
        int64(base),
        int64(base + table["last_offset_delta"]),
        int32("record_count"),
        int32("leader_epoch"),
        int32("magic"),
        int64(table["crc"]),
        pa.array([*CODEC_NAMES, "unknown"]).take(primitive(pa.int32(), codecs)),
        primitive(pa.int32(), kinds[0].astype(np.int32)),
        flag(TRANSACTIONAL_BIT),
        flag(CONTROL_BIT),
        flag(DELETE_HORIZON_BIT),
        pa.array(first, pa.int64(), mask=~known),
        int64(table["max_timestamp"]),
        int64(table["producer_id"]),
        int32("producer_epoch"),
        int32("base_sequence"),
        _control_types(opened, run),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=BATCH_SCHEMA)


def _control_types(opened: SegmentFile, run: HeaderRun) -> Any:
    """The type of each control batch, from its first record; null for the others."""
    positions, table = run
    control = np.flatnonzero((table["attributes"] & CONTROL_BIT) != 0)
    names: list[str | None] = [None] * positions.size
    for index in control.tolist():
        header = header_at(table, index)
        if header.magic == MAGIC_V2:
            kind = marker_type(opened, int(positions[index]), header)
            names[index] = CONTROL_NAMES.get(kind, "unknown")
    return pa.array(names, pa.string())


# -- segments -----------------------------------------------------------------------------------


def segments(
    paths: Names | Selection,
    topics: str | Iterable[str] | None = None,
    *,
    partitions: Collection[int] | None = None,
) -> Any:
    """One row for every segment, from its headers and indexes; columns of SEGMENT_SCHEMA."""
    rows = _of_partitions(_selection(paths, topics, partitions), _segment_rows)
    return pa.Table.from_pylist(rows, schema=SEGMENT_SCHEMA)


def _segment_rows(files: PartitionFiles) -> list[dict[str, object]]:
    return [
        _segment_row(files, segment, end) for segment, end in frozen_segments(files, freeze(files))
    ]


def _segment_row(files: PartitionFiles, segment: SegmentFiles, end: int) -> dict[str, object]:
    sums = _SegmentSums()
    with open_listed(segment, end) as opened:
        for run in header_tables(opened, segment.index_path, segment.base_offset, 0, end):
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
    """What is added up over the batches of a segment."""

    def __init__(self) -> None:
        self.batches = self.records = self.control = self.transactional = self.compressed = 0
        self.next_offset = 0
        self.codecs: set[int] = set()
        self.producers: set[int] = set()
        self.first_timestamp: int | None = None
        self.max_timestamp: int | None = None

    def add(self, run: HeaderRun) -> None:
        table = run.table[run.table["magic"] == MAGIC_V2]
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
        self.next_offset = max(self.next_offset, last + 1)
        first, known = first_times(table)
        times = np.where(known, first, table["max_timestamp"])[table["record_count"] > 0]
        if times.size:
            self.first_timestamp = _bound(min, self.first_timestamp, times)
        self.max_timestamp = _bound(max, self.max_timestamp, table["max_timestamp"])


def _bound(
    choose: Callable[[int, int], int], known: int | None, values: NDArray[Any]
) -> int | None:
    found = int(values.min() if choose is min else values.max())
    return found if known is None else choose(known, found)


# -- transactions -------------------------------------------------------------------------------


def transactions(
    paths: Names | Selection,
    topics: str | Iterable[str] | None = None,
    *,
    partitions: Collection[int] | None = None,
) -> Any:
    """Transactions by partition, in order of their ends, open ones last; TRANSACTION_SCHEMA.

    `state` is committed, aborted or open, or unknown where something damaged may be the marker;
    `last_offset` that of the marker, or of the last batch.
    `first_timestamp_ms` is of the first record (of the first batch's last one, where that batch has
    a delete horizon), by the clock that `timestamp_type` names: 0 the producer's, 1 the broker's.
    `end_timestamp_ms` is the broker's.
    """
    rows = _of_partitions(_selection(paths, topics, partitions), transaction_rows)
    return pa.Table.from_pylist(rows, schema=TRANSACTION_SCHEMA)
