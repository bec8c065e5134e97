"""Record batches as a table, from their headers (and the types of markers): about 1 us a batch.

    batches(paths, topics)   one row per record batch
    scan_batches             the same for one split, for callers that plan themselves

In      log directories, as for `open_log`; a log that is being written to is read to its current
        end.
Out     the contents of headers: checksums are verified only of control batches, for their type, and
        of messages of magic 0 and 1, which are read whole, and more slowly. Bytes that are no batch
        are skipped (with FAILFAST, `scan_batches` raises CorruptSegment).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pykbroker.offline.aborted_ranges import AbortedByProducer
from pykbroker.offline.arrow_columns import constant_text, primitive
from pykbroker.offline.batch_headers import first_times, header_at
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.offline.planning import plan_partition
from pykbroker.offline.reader import Names
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
from pykbroker.offline.view_selection import of_partitions, view_selection
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
    NO_TIMESTAMP_TYPE,
    TRANSACTIONAL_BIT,
)

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


def batches(
    paths: Names | Selection,
    topics: str | Iterable[str] | None = None,
    *,
    partitions: Collection[int] | None = None,
) -> Any:
    """Return one row for every record batch, including control batches; columns of BATCH_SCHEMA.

    `base_timestamp_ms` is the time of the first record, null where the header does not contain it:
    in batches with a delete horizon, which replaces it (unless they have log append time), and in
    those without records.
    """
    selection = view_selection(paths, topics, partitions)

    def scan(files: PartitionFiles) -> list[Any]:
        _, splits = plan_partition(files, selection)
        return [table for split in splits for table in scan_batches(split)]

    return pa.Table.from_batches(of_partitions(selection, scan), schema=BATCH_SCHEMA)


def scan_batches(
    split: Split, mode: str = DROPMALFORMED, on_corruption: OnCorruption | None = None
) -> Iterator[Any]:
    """Yield the batches of a split that overlap its offsets, as record batches of BATCH_SCHEMA.

    Bytes that are not a batch raise CorruptSegment with FAILFAST; otherwise they are skipped and
    passed to `on_corruption`. A wrong checksum is no fault here, except of an old message.

    Rows are whole batches, however few of their records are selected. With time bounds, they are
    the batches that may reach the start and whose first record is before the end, if that is known.
    A plan for committed records has no batches of aborted transactions; markers are kept.
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
    aborted = AbortedByProducer(split.aborted)
    runs = header_tables(
        opened,
        split.index_path,
        split.segment_base_offset,
        split.start_position,
        end,
        on_fault=reporter.report,
    )
    for positions, table, is_old in runs:
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
            keep &= is_control | ~aborted.of_table(table)
        run = HeaderRun(positions[keep], table[keep], is_old)
        if run.positions.size:
            yield _batch_rows(opened, split, run)


def _batch_rows(opened: SegmentFile, split: Split, run: HeaderRun) -> Any:
    positions, table, _ = run
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
    time_types = ((attributes & LOG_APPEND_TIME_BIT) // LOG_APPEND_TIME_BIT).astype(np.int32)
    if run.is_old:
        time_types[table["magic"] == 0] = NO_TIMESTAMP_TYPE
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
        primitive(pa.int32(), time_types),
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
    """Return the type of each control batch, from its first record; `unknown` if that cannot be
    read; null for other batches.
    """
    positions, table, _ = run
    control = np.flatnonzero((table["attributes"] & CONTROL_BIT) != 0)
    names: list[str | None] = [None] * positions.size
    for index in control.tolist():
        header = header_at(table, index)
        if header.magic == MAGIC_V2:
            kind = marker_type(opened, int(positions[index]), header)
            names[index] = CONTROL_NAMES.get(kind, "unknown")
    return pa.array(names, pa.string())
