"""Transactions of a partition: which ranges are aborted, and where the last stable offset is.

Aborted ranges of closed segments come from their transaction indexes, and what producers have open
from the newest producer snapshot; behind that, headers and markers are read (1 us a batch). When an
index is damaged or lacks an abort marker that its segment has, a snapshot is damaged, or the
indexes were not copied along, headers are read from the start of the log.

State   OpenTransactions: producer -> first offset, fed batch by batch in order of the log.
Source  Kafka's ProducerStateManager.java, ProducerAppendInfo.java.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pykbroker.log.producer_entry import CorruptSnapshot, decode_snapshot
from pykbroker.log.txn_index import AbortedTxn
from pykbroker.offline.batch_headers import header_at
from pykbroker.offline.layout import PartitionFiles, SegmentFiles
from pykbroker.offline.segment_index import aborted_transactions
from pykbroker.offline.segment_walk import header_tables
from pykbroker.offline.split import AbortedRange
from pykbroker.offline.storage import SegmentFile, open_file, read_small_file
from pykbroker.protocol.control_records import ABORT, COMMIT, decode_type
from pykbroker.protocol.record_batch import (
    CONTROL_BIT,
    MAGIC_V2,
    TRANSACTIONAL_BIT,
    BatchHeader,
    CorruptBatch,
    iter_records,
)

UNKNOWN_OUTCOME = -1
_MARKER_BITS = TRANSACTIONAL_BIT | CONTROL_BIT


class TransactionState(NamedTuple):
    """What a reader of committed records must know."""

    aborted: tuple[AbortedRange, ...]
    #: No record at or behind it may be served.
    last_stable_offset: int


class OpenTransactions:
    """Follows the batches of a log; see the module."""

    __slots__ = ("first_offsets",)

    def __init__(self) -> None:
        self.first_offsets: dict[int, int] = {}

    def feed(self, header: BatchHeader, marker: int) -> tuple[int, bool] | None:
        """(first offset, is aborted) when this batch is the marker that ends a transaction."""
        if not header.is_transactional:
            return None
        if not header.is_control:
            self.first_offsets.setdefault(header.producer_id, header.base_offset)
            return None
        if marker not in (ABORT, COMMIT):
            return None
        first = self.first_offsets.pop(header.producer_id, None)
        return (first, marker == ABORT) if first is not None else None


def marker_type(opened: SegmentFile, position: int, header: BatchHeader) -> int:
    """ABORT, COMMIT or another type of a control batch; UNKNOWN_OUTCOME if it cannot be read."""
    if not header.is_control:
        return UNKNOWN_OUTCOME
    batch = opened.read(header.size_bytes, position)
    try:
        for record in iter_records(batch, header, max_decompressed=1 << 20):
            return decode_type(record.key)
    except CorruptBatch:
        pass
    return UNKNOWN_OUTCOME


def transaction_state(
    files: PartitionFiles, end_position: int, end_offset: int, *, from_indexes: bool = True
) -> TransactionState:
    """Aborted ranges and last stable offset of a log that ends at `end_offset`.

    `end_position` is the frozen end within the last segment.
    """
    aborted: list[AbortedRange] = []
    transactions = OpenTransactions()
    start = files.segments[0].base_offset if files.segments else 0
    if from_indexes:
        known = _from_indexes(files, end_offset)
        if known is not None:
            start, aborted, transactions = known
    for opened, position, header in _headers_from(files, start, end_position, end_offset):
        marker = marker_type(opened, position, header)
        ended = transactions.feed(header, marker)
        if ended is not None and ended[1]:
            aborted.append(AbortedRange(header.producer_id, ended[0], header.base_offset))
    stable = min([*transactions.first_offsets.values(), end_offset])
    unique = sorted(set(aborted), key=lambda each: (each.last_offset, each.first_offset))
    return TransactionState(tuple(unique), stable)


def _from_indexes(
    files: PartitionFiles, end_offset: int
) -> tuple[int, list[AbortedRange], OpenTransactions] | None:
    """(offset to scan from, aborted ranges before it, open transactions there); None: unknown."""
    snapshot = _newest_snapshot(files, end_offset)
    if snapshot is None:
        return None
    offset, transactions = snapshot
    aborted: list[AbortedRange] = []
    for segment in files.segments:
        if segment.base_offset >= offset:
            break
        if segment.size_bytes and segment.index_path is None:
            return None  # no indexes at all: they were not copied along
        entries = aborted_transactions(segment.txn_index_path, segment.base_offset)
        if entries is None:
            return None
        if not _fits_markers(segment, entries):
            return None  # gone, cut between two entries, or of another log
        aborted += [
            AbortedRange(each.producer_id, each.first_offset, each.last_offset)
            for each in entries
            if each.last_offset < offset
        ]
    return offset, aborted, transactions


def _fits_markers(segment: SegmentFiles, entries: list[AbortedTxn]) -> bool:
    """Whether every abort marker of a closed segment has its entry, and no commit marker has one.

    An abort marker without an entry can be right: nothing was written here in that transaction.
    Only reading the batches before it tells.
    """
    indexed = {(each.last_offset, each.producer_id) for each in entries}
    return all(
        ((offset, producer_id) in indexed) == (marker == ABORT)
        for offset, producer_id, marker in _markers(
            segment.path, segment.size_bytes, segment.base_offset
        )
    )


@lru_cache(maxsize=65536)
def _markers(path: str, size_bytes: int, base_offset: int) -> tuple[tuple[int, int, int], ...]:
    """(offset, producer, ABORT or COMMIT) of the markers of a closed segment.

    About 1 us a batch, once for each file of that size in a process.
    """
    found: list[tuple[int, int, int]] = []
    with open_file(path) as opened:
        for run in header_tables(opened, None, base_offset, 0, min(size_bytes, opened.size)):
            chosen = (run.table["attributes"] & _MARKER_BITS) == _MARKER_BITS
            chosen &= run.table["magic"] == MAGIC_V2
            for index in np.flatnonzero(chosen).tolist():
                header = header_at(run.table, index)
                marker = marker_type(opened, int(run.positions[index]), header)
                if marker in (ABORT, COMMIT):
                    found.append((header.base_offset, header.producer_id, marker))
    return tuple(found)


def _newest_snapshot(files: PartitionFiles, end_offset: int) -> tuple[int, OpenTransactions] | None:
    """The newest producer snapshot that can be read, taken at the base of a segment."""
    bases = {segment.base_offset for segment in files.segments[1:]}
    for offset, path in reversed(files.producer_snapshots):
        if offset not in bases or offset > end_offset:
            continue
        try:
            producers = decode_snapshot(read_small_file(path) or b"")
        except CorruptSnapshot:
            continue
        transactions = OpenTransactions()
        transactions.first_offsets = {
            each.producer_id: each.current_txn_first_offset
            for each in producers
            if each.current_txn_first_offset >= 0
        }
        return offset, transactions
    return None


def _headers_from(
    files: PartitionFiles, offset: int, end_position: int, end_offset: int
) -> Iterator[tuple[SegmentFile, int, BatchHeader]]:
    """Transactional batches of the segments from `offset` (a segment's base) on, below the end."""
    last = files.segments[-1] if files.segments else None
    for segment in files.segments:
        if segment.base_offset < offset or segment.base_offset >= end_offset:
            continue
        with open_file(segment.path) as opened:
            end = end_position if segment is last else opened.size
            for run in header_tables(opened, segment.index_path, segment.base_offset, 0, end):
                chosen = (run.table["attributes"] & TRANSACTIONAL_BIT) != 0
                chosen &= (run.table["magic"] == MAGIC_V2) & (run.table["base_offset"] < end_offset)
                for index in np.flatnonzero(chosen).tolist():
                    yield opened, int(run.positions[index]), header_at(run.table, index)
