"""Transactions of a partition: which ranges are aborted, and where the last stable offset is.

Read from the batches themselves (1 us a header), so that no transaction index and no producer
snapshot has to be believed, and a log that was copied without them reads alike. What a closed
segment says is kept: a log that is tailed is not walked again.

State   TransactionLog: producer -> first offset of its open transaction, fed in order of the log.
Source  Kafka's ProducerStateManager.java, ProducerAppendInfo.java.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pykbroker.offline.batch_headers import Integers, header_at
from pykbroker.offline.frozen_end import open_listed
from pykbroker.offline.layout import PartitionFiles, SegmentFiles
from pykbroker.offline.segment_walk import HeaderRun, header_tables
from pykbroker.offline.split import AbortedRange
from pykbroker.offline.storage import SegmentFile
from pykbroker.protocol.control_records import ABORT, COMMIT, decode_type
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    CONTROL_BIT,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    TRANSACTIONAL_BIT,
    BatchHeader,
    CorruptBatch,
    iter_records,
)

UNKNOWN_OUTCOME = -1
#: In place of a marker's type: the first batch of a transaction, as far as a segment knows.
_BEGIN = 2
#: A marker as all brokers write it: length, attributes, deltas of time and offset (a byte each),
#: a key of four bytes: its version and type.
_MARKER = struct.Struct(">xBBBBhh")
_PLAIN_FRONT = (0, 0, 0, 8, 0)


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
    if len(batch) >= RECORD_BATCH_OVERHEAD + _MARKER.size and not header.attributes & CODEC_MASK:
        *front, kind = _MARKER.unpack_from(batch, RECORD_BATCH_OVERHEAD)
        if tuple(front) == _PLAIN_FRONT and kind in (ABORT, COMMIT):
            return int(kind)
    try:
        for record in iter_records(batch, header, max_decompressed=1 << 20):
            return decode_type(record.key)
    except CorruptBatch:
        pass
    return UNKNOWN_OUTCOME


def transaction_state(
    files: PartitionFiles, end_position: int, end_offset: int
) -> TransactionState:
    """Aborted ranges and last stable offset of a log that ends at `end_offset`.

    `end_position` is the frozen end within the last segment.
    """
    ongoing: dict[int, int] = {}
    aborted: list[AbortedRange] = []
    for segment in files.segments:
        if segment.base_offset >= end_offset:
            break
        if segment is files.segments[-1]:
            events = _events(segment, end_position)
        else:
            events = _events_of_closed(segment)
        for producer_id, offset, kind in events.tolist():
            if offset >= end_offset:
                continue
            if kind == _BEGIN:
                ongoing.setdefault(producer_id, offset)
                continue
            first = ongoing.pop(producer_id, None)
            if first is not None and kind == ABORT:
                aborted.append(AbortedRange(producer_id, first, offset))
    stable = min([*ongoing.values(), end_offset])
    return TransactionState(tuple(aborted), stable)


def _events(segment: SegmentFiles, end: int) -> Integers:
    """(producer, offset, _BEGIN, ABORT or COMMIT) in order: the rows of an array."""
    found: list[tuple[int, int, int]] = []
    begun: set[int] = set()
    with open_listed(segment, end) as opened:
        for run in header_tables(opened, segment.index_path, segment.base_offset, 0, end):
            _follow(opened, run, begun, found)
    return np.array(found, np.int64).reshape(-1, 3)


@lru_cache(maxsize=65536)
def _events_of_closed(segment: SegmentFiles) -> Integers:
    return _events(segment, segment.size_bytes)


def _follow(
    opened: SegmentFile, run: HeaderRun, begun: set[int], found: list[tuple[int, int, int]]
) -> None:
    chosen = (run.table["attributes"] & TRANSACTIONAL_BIT) != 0
    chosen &= run.table["magic"] == MAGIC_V2
    if not chosen.any():
        return
    indices = np.flatnonzero(chosen)
    table = run.table[indices]
    columns = (
        indices.tolist(),
        table["producer_id"].tolist(),
        table["base_offset"].tolist(),
        ((table["attributes"] & CONTROL_BIT) != 0).tolist(),
    )
    for index, producer_id, offset, is_control in zip(*columns, strict=True):
        if not is_control:
            if producer_id not in begun:
                begun.add(producer_id)
                found.append((producer_id, offset, _BEGIN))
            continue
        kind = marker_type(opened, int(run.positions[index]), header_at(run.table, index))
        if kind in (ABORT, COMMIT):
            begun.discard(producer_id)
            found.append((producer_id, offset, kind))
