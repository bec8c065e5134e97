"""The plain decoder: one batch after the other, one record after the other, through the protocol.

The oracle of the fast decoder, which hands its doubtful batches to this one: where the two could
differ, this one is right by definition. It is some twenty times slower.

In      a Split and ReadOptions. Out: Arrow record batches; faults go to the reporter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa

from pykbroker.offline.batch_headers import framing_fault, header_fault
from pykbroker.offline.columns import ALL_COLUMNS, schema_of
from pykbroker.offline.segment_index import next_known_batch
from pykbroker.offline.split import FaultReporter, ReadOptions, Split
from pykbroker.offline.storage import SegmentFile, open_file
from pykbroker.protocol.compression import CODEC_NAMES
from pykbroker.protocol.record_batch import (
    HEADER,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
    CorruptBatch,
    Record,
    check_crc,
    iter_records,
)

_ROWS: Final = 16_384
_BYTES: Final = 4 << 20
_MAX_MS: Final = (2**63 - 1) // 1000
BAD_CHECKSUM: Final = "the checksum does not fit the batch"


class Row(NamedTuple):
    """A record with the batch that it lies in."""

    record: Record
    header: BatchHeader
    position: int
    split: Split


def read_plain(split: Split, options: ReadOptions, reporter: FaultReporter) -> Iterator[Any]:
    """The rows of a split as record batches."""
    schema = schema_of(options.columns)
    rows: list[Row] = []
    held = 0
    with open_file(split.path) as opened:
        for position, header, batch in _batches(opened, split, options, reporter):
            if not split.is_wanted(header):
                continue
            try:
                found = rows_of(batch, header, position, split, options.max_decompressed_bytes)
            except CorruptBatch as fault:
                if rows:
                    yield arrow_batch(rows, options.columns, schema)
                    rows = []
                reporter.report(position, len(batch), str(fault), header, batch)
                continue
            rows += found
            held += len(batch)
            if len(rows) >= _ROWS or held >= _BYTES:
                yield arrow_batch(rows, options.columns, schema)
                rows, held = [], 0
    if rows:
        yield arrow_batch(rows, options.columns, schema)


def _batches(
    opened: SegmentFile, split: Split, options: ReadOptions, reporter: FaultReporter
) -> Iterator[tuple[int, BatchHeader, bytes]]:
    """Batches with offsets that are wanted and a right checksum."""
    position = split.start_position
    end = min(split.end_position, opened.size)
    if end < split.end_position and position >= end:
        reporter.report(position, 0, f"the file ends at {end}, before {split.end_position}")
        return
    while position < end:
        head = opened.read(RECORD_BATCH_OVERHEAD, position)
        size, fault = framing_fault(head, end - position)
        if fault is not None:
            known = next_known_batch(
                opened, split.index_path, split.segment_base_offset, position, end
            )
            reporter.report(position, known - position, fault, raw=head)
            position = known
            continue
        header = BatchHeader(*HEADER.unpack(head))
        at, position = position, position + size
        if header.magic == MAGIC_V2 and not split.overlaps(header) and header.base_offset >= 0:
            continue
        batch = opened.read(size, at)
        fault = header_fault(header) if header.magic != MAGIC_V2 else None
        if fault is None and options.verify_checksums and not check_crc(batch):
            fault = BAD_CHECKSUM
        fault = fault or header_fault(header)
        if fault is not None:
            reporter.report(at, size, fault, header, batch)
            continue
        yield at, header, batch


def rows_of(
    batch: bytes | memoryview, header: BatchHeader, position: int, split: Split, limit: int
) -> list[Row]:
    """The wanted records of one batch; CorruptBatch when any of its records is broken."""
    records = list(iter_records(batch, header, max_decompressed=limit))
    low, high = split.start_timestamp_ms, split.end_timestamp_ms
    return [
        Row(record, header, position, split)
        for record in records
        if split.start_offset <= record.offset < split.end_offset
        and (low is None or _wrapped(record.timestamp) >= low)
        and (high is None or _wrapped(record.timestamp) < high)
    ]


def arrow_batch(rows: list[Row], columns: tuple[str, ...], schema: Any) -> Any:
    """Rows as one Arrow record batch."""
    arrays = [pa.array([_CELLS[name](row) for row in rows], ALL_COLUMNS[name]) for name in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _wrapped(timestamp: int) -> int:
    """As Java adds two longs."""
    return (timestamp + 2**63) % 2**64 - 2**63


def _microseconds(row: Row) -> int | None:
    timestamp = _wrapped(row.record.timestamp)
    return timestamp * 1000 if -_MAX_MS <= timestamp <= _MAX_MS else None


def _headers(row: Row) -> list[dict[str, str | bytes | None]] | None:
    pairs: list[dict[str, str | bytes | None]] = [
        {"key": name, "value": value} for name, value in row.record.headers
    ]
    return pairs or None


def _size(content: bytes | None) -> int | None:
    return None if content is None else len(content)


_CELLS: Final[dict[str, Callable[[Row], object]]] = {
    "key": lambda row: row.record.key,
    "value": lambda row: row.record.value,
    "topic": lambda row: row.split.topic,
    "partition": lambda row: row.split.partition,
    "offset": lambda row: row.record.offset,
    "timestamp": _microseconds,
    "timestampType": lambda row: row.header.timestamp_type,
    "headers": _headers,
    "batch_base_offset": lambda row: row.header.base_offset,
    "batch_position": lambda row: row.position,
    "segment_base_offset": lambda row: row.split.segment_base_offset,
    "batch_size": lambda row: row.header.size_bytes,
    "codec": lambda row: CODEC_NAMES[row.header.codec],
    "producer_id": lambda row: row.header.producer_id,
    "producer_epoch": lambda row: row.header.producer_epoch,
    "base_sequence": lambda row: row.header.base_sequence,
    "leader_epoch": lambda row: row.header.partition_leader_epoch,
    "is_transactional": lambda row: row.header.is_transactional,
    "is_control": lambda row: row.header.is_control,
    "key_size": lambda row: _size(row.record.key),
    "value_size": lambda row: _size(row.record.value),
    "timestamp_ms": lambda row: _wrapped(row.record.timestamp),
}
