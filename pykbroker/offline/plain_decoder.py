"""The plain decoder: decodes batches and records one by one with the protocol module.

It is the oracle of the fast decoder, which passes its doubtful batches to this one: where the two
could differ, this one is right by definition. It is about twenty times slower.

In      a Split and ReadOptions. Out: Arrow record batches; faults go to the reporter.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import chain, compress, repeat
from typing import Any, Final

import pyarrow as pa

from pykbroker.offline.aborted_ranges import AbortedByProducer
from pykbroker.offline.batch_headers import framing_fault, header_fault
from pykbroker.offline.columns import ALL_COLUMNS, MAX_MS, schema_of
from pykbroker.offline.faults import CorruptSegment
from pykbroker.offline.offset_order import OffsetOrder, base_behind
from pykbroker.offline.old_part import old_steps
from pykbroker.offline.segment_index import KnownBatches
from pykbroker.offline.split import FaultReporter, ReadOptions, Split
from pykbroker.offline.split_file import open_parts
from pykbroker.offline.storage import SegmentFile
from pykbroker.protocol.compression import CODEC_NAMES
from pykbroker.protocol.record import Record
from pykbroker.protocol.record_batch import (
    HEADER,
    MAGIC_V2,
    NO_TIMESTAMP_TYPE,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
    CorruptBatch,
    Headers,
    RecordColumns,
    check_crc,
    columns_of,
    records_payload,
)
from pykbroker.values import NamedTuple

#: At so many rows, or bytes of decompressed records, an Arrow batch is returned.
_ROWS: Final = 4096
_BYTES: Final = 4 << 20
_NONE: Final = RecordColumns((), (), (), (), ())
BAD_CHECKSUM: Final = "the checksum does not match the batch"


class Rows(NamedTuple):
    """The wanted records of a batch."""

    columns: RecordColumns
    header: BatchHeader
    position: int
    split: Split
    #: The size of all records of the batch, decompressed.
    size_bytes: int = 0


def read_plain(split: Split, options: ReadOptions, reporter: FaultReporter) -> Iterator[Any]:
    """Yield the rows of a split as record batches."""
    for part, opened in open_parts(split):
        reporter.split = part
        yield from _read_part(opened, part, options, reporter)


def _read_part(
    file: SegmentFile, split: Split, options: ReadOptions, reporter: FaultReporter
) -> Iterator[Any]:
    schema = schema_of(options.columns)
    aborted = AbortedByProducer(split.aborted)
    order = OffsetOrder(split)
    held: list[Rows] = []
    held_rows = held_bytes = 0
    with file as opened:
        position = yield from read_old(opened, split, options, reporter, order)
        steps = _batches(opened, split, options, reporter, position, order)
        while True:
            try:
                step = next(steps, None)
                if step is None:
                    break
                position, header, batch = step
                if not split.is_wanted(header) or aborted.has(header):
                    continue
                rows = _rows_or_fault(batch, header, position, split, options, reporter)
            except CorruptSegment:
                if held:  # what came before the fault comes first
                    yield arrow_batch(held, options.columns, schema)
                raise
            if not rows.columns.offsets:
                continue
            held.append(rows)
            held_rows += len(rows.columns.offsets)
            held_bytes += rows.size_bytes
            if held_rows >= _ROWS or held_bytes >= _BYTES:
                yield arrow_batch(held, options.columns, schema)
                held, held_rows, held_bytes = [], 0, 0
    if held_rows:
        yield arrow_batch(held, options.columns, schema)


def _rows_or_fault(
    batch: bytes,
    header: BatchHeader,
    position: int,
    split: Split,
    options: ReadOptions,
    reporter: FaultReporter,
) -> Rows:
    try:
        return rows_of(batch, header, position, split, options.max_decompressed_bytes)
    except CorruptBatch as fault:
        reporter.report(position, len(batch), str(fault), header, batch)
        return Rows(_NONE, header, position, split)


def read_old(
    opened: SegmentFile,
    split: Split,
    options: ReadOptions,
    reporter: FaultReporter,
    order: OffsetOrder,
) -> Generator[Any, None, int]:
    """Yield the rows of the messages before magic 2 at the start of a split, and report the faults
    between them; return where these end.
    """
    schema = schema_of(options.columns)
    held: list[Rows] = []
    held_rows = 0
    behind = split.start_position
    end = min(split.end_position, opened.size)
    limit = options.max_decompressed_bytes
    for step in old_steps(opened, behind, end, max_decompressed=limit):
        behind = step.position + step.size_bytes
        fault, header = step.fault, step.header
        if fault is None and header is not None and options.verify_offsets:
            fault = order.fault(header.base_offset, header.last_offset, None)
        if fault is not None or header is None:
            if held:  # what came before the fault comes first
                yield arrow_batch(held, options.columns, schema)
                held, held_rows = [], 0
            reporter.report(step.position, step.size_bytes, fault or "", header, step.raw)
            continue
        columns = _wanted(_columns_of_old(step.records), header, split)
        if columns.offsets:
            held.append(Rows(columns, header, step.position, split, step.size_bytes))
            held_rows += len(columns.offsets)
        if held_rows >= _ROWS:
            yield arrow_batch(held, options.columns, schema)
            held, held_rows = [], 0
    if held:
        yield arrow_batch(held, options.columns, schema)
    return behind


def _columns_of_old(records: Sequence[Record]) -> RecordColumns:
    return RecordColumns(
        [record.offset for record in records],
        [record.timestamp for record in records],
        [record.key for record in records],
        [record.value for record in records],
        [()] * len(records),
    )


def _batches(
    opened: SegmentFile,
    split: Split,
    options: ReadOptions,
    reporter: FaultReporter,
    position: int,
    order: OffsetOrder,
) -> Iterator[tuple[int, BatchHeader, bytes]]:
    """Yield the batches from `position` on that may have wanted offsets and are intact, as far as
    `options` verify that; report the faults.
    """
    end = min(split.end_position, opened.size)
    known = KnownBatches(opened, split.index_path, split.segment_base_offset)
    head = opened.read(RECORD_BATCH_OVERHEAD, position)
    while position < end:
        size, fault = framing_fault(head, end - position)
        if fault is not None:
            following = known.after(position, end, order.last + 1)
            reporter.report(position, following - position, fault, raw=head)
            position = following
            head = opened.read(RECORD_BATCH_OVERHEAD, position)
            continue
        header = BatchHeader(*HEADER.unpack(head))
        at, position = position, position + size
        head = opened.read(RECORD_BATCH_OVERHEAD, position) if position < end else b""
        behind = base_behind(head, end - position)
        batch = None
        elsewhere = _is_elsewhere(header, behind, split)
        if elsewhere and header.base_offset < split.start_offset <= header.last_offset:
            elsewhere = not check_crc(opened.read(size, at))  # the next one may be wrong
        if not elsewhere:
            batch = opened.read(size, at)
            fault = _batch_fault(header, batch, options)
            is_lost = behind is None and position < end
            if fault is not None and (is_lost or known.between(at, position) is not None):
                # Its length is wrong, too.
                position = known.after(at, end, order.last + 1)
                head = opened.read(RECORD_BATCH_OVERHEAD, position)
        if fault is None and options.verify_offsets:
            last = header.last_offset
            reaches_over = batch is None and behind is not None and last >= behind
            if reaches_over and not check_crc(opened.read(size, at)):
                last = header.base_offset  # damaged and not requested: ignored
            fault = order.fault(header.base_offset, last, behind)
        if fault is not None:
            raw = opened.read(size, at) if batch is None else batch
            reporter.report(at, position - at, fault, header, raw)
        elif batch is not None:
            yield at, header, batch
    if end < split.end_position:
        reporter.report(position, 0, f"the file ends at {end}, before {split.end_position}")


def _is_elsewhere(header: BatchHeader, behind: int | None, split: Split) -> bool:
    """Return whether none of its offsets is wanted, judged by where it and the next one (`behind`)
    begin: the end that its header claims may be wrong.
    """
    if header_fault(header) is not None:
        return False
    if behind is not None and header.base_offset < behind <= split.start_offset:
        return True
    return header.base_offset >= split.end_offset


def _batch_fault(header: BatchHeader, batch: bytes, options: ReadOptions) -> str | None:
    if header.magic == MAGIC_V2 and options.verify_checksums and not check_crc(batch):
        return BAD_CHECKSUM
    return header_fault(header)


def rows_of(
    batch: bytes | memoryview, header: BatchHeader, position: int, split: Split, limit: int
) -> Rows:
    """Return the wanted records of one batch. Raises CorruptBatch if any of its records is corrupt,
    wanted or not, or if they are larger than `limit` when decompressed.
    """
    payload = records_payload(batch, header, limit)
    columns = _wanted(columns_of(payload, header), header, split)
    return Rows(columns, header, position, split, len(payload))


def _wanted(columns: RecordColumns, header: BatchHeader, split: Split) -> RecordColumns:
    """Keep the rows with the offsets and times of a split."""
    low, high = split.start_offset, split.end_offset
    if header.base_offset < low or header.last_offset >= high:
        columns = _chosen(columns, [low <= offset < high for offset in columns.offsets])
    early, late = split.start_timestamp_ms, split.end_timestamp_ms
    if early is not None:
        columns = _chosen(columns, [_wrapped(time) >= early for time in columns.timestamps])
    if late is not None:
        columns = _chosen(columns, [_wrapped(time) < late for time in columns.timestamps])
    return columns


def _chosen(columns: RecordColumns, wanted: list[bool]) -> RecordColumns:
    return RecordColumns._make(list(compress(column, wanted)) for column in columns)


def arrow_batch(held: list[Rows], columns: tuple[str, ...], schema: Any) -> Any:
    """Return rows as one Arrow record batch."""
    arrays = []
    for name in columns:
        if name in _OF_RECORDS:
            cells_of = _OF_RECORDS[name]
            cells = list(chain.from_iterable(cells_of(rows.columns) for rows in held))
        else:
            once = _OF_BATCH[name]
            each = (repeat(once(rows), len(rows.columns.offsets)) for rows in held)
            cells = list(chain.from_iterable(each))
        arrays.append(pa.array(cells, ALL_COLUMNS[name]))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _wrapped(timestamp: int) -> int:
    """Wrap an integer to 64 bits, as Java does when it adds two longs."""
    return (timestamp + 2**63) % 2**64 - 2**63


def _microseconds(timestamps: Sequence[int]) -> list[int | None]:
    """Convert to microseconds; None if the result does not fit in 64 bits."""
    if min(timestamps, default=0) >= -MAX_MS and max(timestamps, default=0) <= MAX_MS:
        return [timestamp * 1000 for timestamp in timestamps]
    wrapped = map(_wrapped, timestamps)
    return [time * 1000 if -MAX_MS <= time <= MAX_MS else None for time in wrapped]


def _pairs(headers: Headers) -> list[dict[str, str | bytes | None]] | None:
    return [{"key": name, "value": value} for name, value in headers] or None


def _timestamp_type(header: BatchHeader) -> int:
    return header.timestamp_type if header.magic else NO_TIMESTAMP_TYPE


def _sizes(cells: Sequence[bytes | None]) -> list[int | None]:
    return [None if cell is None else len(cell) for cell in cells]


_OF_RECORDS: Final[dict[str, Callable[[RecordColumns], Sequence[object]]]] = {
    "key": lambda columns: columns.keys,
    "value": lambda columns: columns.values,
    "offset": lambda columns: columns.offsets,
    "timestamp": lambda columns: _microseconds(columns.timestamps),
    "headers": lambda columns: [_pairs(each) for each in columns.headers],
    "key_size": lambda columns: _sizes(columns.keys),
    "value_size": lambda columns: _sizes(columns.values),
    "timestamp_ms": lambda columns: [_wrapped(each) for each in columns.timestamps],
}
_OF_BATCH: Final[dict[str, Callable[[Rows], object]]] = {
    "topic": lambda rows: rows.split.topic,
    "partition": lambda rows: rows.split.partition,
    "timestampType": lambda rows: _timestamp_type(rows.header),
    "batch_base_offset": lambda rows: rows.header.base_offset,
    "batch_position": lambda rows: rows.position,
    "segment_base_offset": lambda rows: rows.split.segment_base_offset,
    "batch_size": lambda rows: rows.header.size_bytes,
    "codec": lambda rows: CODEC_NAMES[rows.header.codec],
    "producer_id": lambda rows: rows.header.producer_id,
    "producer_epoch": lambda rows: rows.header.producer_epoch,
    "base_sequence": lambda rows: rows.header.base_sequence,
    "leader_epoch": lambda rows: rows.header.partition_leader_epoch,
    "is_transactional": lambda rows: rows.header.is_transactional,
    "is_control": lambda rows: rows.header.is_control,
}
