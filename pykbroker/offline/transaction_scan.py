"""Transactions of a partition: which ranges are aborted, and where the last stable offset is.

Read from the batches themselves (1 us a header), so that no transaction index and no producer
snapshot has to be believed, and a log that was copied without them reads alike. What a closed
segment says is kept: a log that is tailed is not walked again.

Invariants
    Only batches with a right checksum begin or end a transaction.
    What is below the last stable offset is checked by who reads it. Behind it nobody reads: there a
    damaged batch may be the marker that would have moved it, so all are checked here.
Source  Kafka's ProducerStateManager.java, ProducerAppendInfo.java.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pykbroker.offline.batch_headers import Integers, header_at
from pykbroker.offline.faults import CorruptSegment
from pykbroker.offline.frozen_end import is_sound, open_listed
from pykbroker.offline.partition_files import PartitionFiles, SegmentFiles
from pykbroker.offline.segment_index import aborted_transactions
from pykbroker.offline.segment_walk import HeaderRun, header_tables, walk_headers
from pykbroker.offline.split import END_OF_TIME, AbortedRange
from pykbroker.offline.storage import SegmentFile
from pykbroker.protocol.control_records import ABORT, COMMIT, decode_type
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    CONTROL_BIT,
    LOG_OVERHEAD,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    TRANSACTIONAL_BIT,
    BatchHeader,
    CorruptBatch,
    check_crc,
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
    if len(batch) < header.size_bytes or not check_crc(batch):
        return UNKNOWN_OUTCOME
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
    files: PartitionFiles, end_position: int, end_offset: int, *, is_strict: bool = True
) -> TransactionState:
    """Aborted ranges and last stable offset of a log that ends at `end_offset`.

    `end_position` is the frozen end within the last segment. Damage behind the last stable offset:
    CorruptSegment, or, unless `is_strict`, transactions that were open there hold back nothing.
    """
    ongoing, aborted = _follow_segments(files, end_position, end_offset)
    stable = min([*ongoing.values(), end_offset])
    damage = _last_damage(files, end_position, stable, is_strict) if stable < end_offset else -1
    if damage >= stable:
        doubtful = {each: first for each, first in ongoing.items() if first <= damage}
        aborted += _by_index(files, doubtful)
        open_since = [first for first in ongoing.values() if first > damage]
        stable = min([*open_since, end_offset])
    return TransactionState(tuple(aborted), stable)


def _by_index(files: PartitionFiles, doubtful: dict[int, int]) -> Iterator[AbortedRange]:
    """What transaction indexes say of transactions (producer -> first offset) without a marker."""
    for segment in files.segments:
        for each in aborted_transactions(segment.txn_index_path, segment.base_offset) or ():
            if each.first_offset >= doubtful.get(each.producer_id, END_OF_TIME):
                yield AbortedRange(each.producer_id, each.first_offset, each.last_offset)


def _follow_segments(
    files: PartitionFiles, end_position: int, end_offset: int
) -> tuple[dict[int, int], list[AbortedRange]]:
    """(first offsets of open transactions by producer, aborted ranges)"""
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
    return ongoing, aborted


def _last_damage(files: PartitionFiles, end_position: int, stable: int, is_strict: bool) -> int:
    """Above which offset there is no damage; below `stable` it is not looked for."""
    found = -1
    following = [*(each.base_offset for each in files.segments[1:]), END_OF_TIME]
    for segment, behind in zip(files.segments, following, strict=True):
        if behind <= stable:
            continue
        is_last = segment is files.segments[-1]
        damage = _damage(segment, end_position) if is_last else _damage_of_closed(segment)
        for position, offset in damage:
            if offset < stable:
                continue
            if is_strict:
                reason = "it is damaged, and may end the transaction that is open there"
                raise CorruptSegment(segment.path, position, reason)
            found = max(found, offset)
    return found


def _damage(segment: SegmentFiles, end: int) -> list[tuple[int, int]]:
    """(position, offset at or above which it is) of all that is no sound batch."""
    found: list[tuple[int, int]] = []
    offset = segment.base_offset
    with open_listed(segment, end) as opened:
        for position, header in walk_headers(opened, segment, end):
            if header is not None and is_sound(opened, position, header.size_bytes):
                offset = header.next_offset
            else:
                found.append((position, offset))
    return found


@lru_cache(maxsize=4096)
def _damage_of_closed(segment: SegmentFiles) -> list[tuple[int, int]]:
    return _damage(segment, segment.size_bytes)


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
        position = int(run.positions[index])
        if not is_control:
            if producer_id not in begun:
                size = int(run.table["length"][index]) + LOG_OVERHEAD
                if is_sound(opened, position, size):
                    begun.add(producer_id)
                    found.append((producer_id, offset, _BEGIN))
            continue
        kind = marker_type(opened, position, header_at(run.table, index))
        if kind in (ABORT, COMMIT):
            begun.discard(producer_id)
            found.append((producer_id, offset, kind))
