"""Transactions of a partition: which ranges are aborted, and where the last stable offset is.

Read from the batches themselves (1 us a header), so that no transaction index and no producer
snapshot has to be believed, and a log that was copied without them reads alike. What a closed
segment says is kept: a log that is tailed is not walked again.

Invariants
    Only batches with a right checksum begin or end a transaction.
    Where something damaged may have been a marker, the transactions that were open there are of
    unknown outcome. They end the planning (`is_strict`), unless who reads meets the damage anyway;
    or their records are left out up to there.
Source  Kafka's ProducerStateManager.java, ProducerAppendInfo.java.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pykbroker.offline.batch_headers import Integers, header_at
from pykbroker.offline.faults import CorruptSegment
from pykbroker.offline.frozen_end import is_sound, open_listed
from pykbroker.offline.partition_files import PartitionFiles, SegmentFiles
from pykbroker.offline.segment_walk import HeaderRun, header_tables
from pykbroker.offline.split import AbortedRange
from pykbroker.offline.storage import SegmentFile, is_remote, local_path
from pykbroker.protocol.control_records import ABORT, COMMIT, decode_type
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    LOG_OVERHEAD,
    MAGIC_V2,
    NO_TIMESTAMP,
    RECORD_BATCH_OVERHEAD,
    TRANSACTIONAL_BIT,
    BatchHeader,
    CorruptBatch,
    check_crc,
    iter_records,
)

UNKNOWN_OUTCOME = -1
#: In place of a marker's type: the first batch of a transaction, as far as a segment knows, ...
BEGIN = 100
#: ... and something damaged that may be a marker, of this producer or (-1) any.
DOUBT = 101
_ANY_PRODUCER = -1
#: A marker as all brokers write it: length, attributes, deltas of time and offset (a byte each),
#: a key of four bytes: its version and type; and how large its batch is.
_MARKER = struct.Struct(">xBBBBhh")
_PLAIN_FRONT = (0, 0, 0, 8, 0)
_MARKER_BYTES = 78


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

    `end_position` is the frozen end within the last segment. Damage that may be the marker of a
    transaction which is open at the end: CorruptSegment if `is_strict`.
    """
    follower = _Follower(is_strict)
    for segment in files.segments:
        if segment.base_offset >= end_offset:
            break
        if segment is files.segments[-1]:
            events = _events(segment, end_position)
        else:
            events = _events_of_closed(segment, _identity(segment.path))
        for event in map(Event._make, events.tolist()):
            if event.offset < end_offset:
                follower.feed(segment, event)
    follower.check()
    stable = min([*follower.ongoing.values(), end_offset])
    return TransactionState(tuple(follower.aborted), stable)


def touched(ongoing: Collection[int], doubt: Event) -> list[int]:
    """The producers whose transactions may have ended at something damaged."""
    return [doubt.producer_id] if doubt.producer_id in ongoing else list(ongoing)


class _Follower:
    """Feeds on the events of a log in order."""

    def __init__(self, is_strict: bool) -> None:
        self.is_strict = is_strict
        self.ongoing: dict[int, int] = {}
        self.aborted: list[AbortedRange] = []
        #: Where a transaction (producer, first offset) may have ended.
        self.doubts: dict[tuple[int, int], tuple[str, int]] = {}

    def feed(self, segment: SegmentFiles, event: Event) -> None:
        if event.kind == BEGIN:
            self.ongoing.setdefault(event.producer_id, event.offset)
        elif event.kind == DOUBT:
            self._doubt(segment, event)
        else:
            first = self.ongoing.pop(event.producer_id, None)
            if first is not None and event.kind == ABORT:
                self.aborted.append(AbortedRange(event.producer_id, first, event.offset))

    def _doubt(self, segment: SegmentFiles, event: Event) -> None:
        for producer_id in touched(self.ongoing, event):
            first = self.ongoing[producer_id]
            if self.is_strict:
                self.doubts.setdefault((producer_id, first), (segment.path, event.position))
            else:
                self.aborted.append(AbortedRange(producer_id, first, event.offset))
                del self.ongoing[producer_id]

    def check(self) -> None:
        for transaction in self.ongoing.items():
            if transaction in self.doubts:
                path, position = self.doubts[transaction]
                reason = "it is damaged, and may be the marker of a transaction that is open there"
                raise CorruptSegment(path, position, reason)


def _identity(path: str) -> tuple[int, int, int] | None:
    """Of a file: another one may have its name and size."""
    if is_remote(path):
        return None
    found = os.stat(local_path(path))
    return found.st_dev, found.st_ino, found.st_mtime_ns


@lru_cache(maxsize=65536)
def _events_of_closed(segment: SegmentFiles, _identity: tuple[int, int, int] | None) -> Integers:
    return _events(segment, segment.size_bytes)


def _events(segment: SegmentFiles, end: int) -> Integers:
    """In order: the rows of an array."""
    with open_listed(segment, end) as opened:
        scan = TransactionEvents(opened, segment.base_offset)
        for run in header_tables(opened, segment.index_path, segment.base_offset, 0, end):
            scan.add(run)
        scan.add_gap(end)
    return np.array(scan.found, np.int64).reshape(-1, len(Event._fields))


class Event(NamedTuple):
    """`kind` is ABORT or COMMIT, BEGIN or DOUBT; `position` is in the file."""

    producer_id: int
    offset: int
    kind: int
    position: int
    timestamp_ms: int = NO_TIMESTAMP


class TransactionEvents:
    """Finds the events of a segment. State: where the last batch ended, who has begun."""

    def __init__(self, opened: SegmentFile, base_offset: int) -> None:
        self.opened = opened
        self.found: list[Event] = []
        self._begun: set[int] = set()
        self._behind = 0
        self._next_offset = base_offset

    def add_gap(self, position: int) -> None:
        """What lies between the last batch and this position is unreadable."""
        if position - self._behind >= _MARKER_BYTES:
            self._add_doubt(_ANY_PRODUCER, self._behind)

    def _add_doubt(self, producer_id: int, position: int) -> None:
        self._begun.clear()
        self.found.append(Event(producer_id, self._next_offset, DOUBT, position))

    def add(self, run: HeaderRun) -> None:
        positions, table = run
        sizes: Integers = table["length"].astype(np.int64) + LOG_OVERHEAD
        behind = np.append(self._behind, (positions + sizes)[:-1])
        is_current = table["magic"] == MAGIC_V2
        chosen = is_current & ((table["attributes"] & TRANSACTIONAL_BIT) != 0)
        chosen |= (sizes == _MARKER_BYTES) | (positions != behind)
        base = table["base_offset"].astype(np.int64)
        following = base + table["last_offset_delta"] + 1
        for index in np.flatnonzero(chosen).tolist():
            if index:
                self._behind, self._next_offset = int(behind[index]), int(following[index - 1])
            position = int(positions[index])
            self.add_gap(position)
            if is_current[index]:
                self._add_batch(position, header_at(table, index))
        self._behind = int(positions[-1] + sizes[-1])
        self._next_offset = int(following[-1])

    def _add_batch(self, position: int, header: BatchHeader) -> None:
        producer_id = header.producer_id
        has_begun = header.is_transactional and producer_id in self._begun
        may_be_marker = header.is_control or header.size_bytes == _MARKER_BYTES
        if has_begun and not may_be_marker:
            return
        if not is_sound(self.opened, position, header.size_bytes):
            if may_be_marker:
                self._add_doubt(producer_id, position)
            return
        if not header.is_transactional:
            return
        kind = marker_type(self.opened, position, header) if header.is_control else BEGIN
        if kind in (ABORT, COMMIT):
            self._begun.discard(producer_id)
        elif kind == BEGIN and not has_begun:
            self._begun.add(producer_id)
        else:
            return
        offset, time = header.base_offset, header.max_timestamp
        self.found.append(Event(producer_id, offset, kind, position, time))
