"""Finds where transactions begin and end in a segment, and where that cannot be known.

    BEGIN            the first batch of a producer's transaction, as far as this segment knows
    ABORT, COMMIT    its marker
    DOUBT            corrupt bytes that may have been a marker: of any producer, as none of their
                     fields can be trusted

Where every batch begins at the end of the previous one, with the next offset, only headers are
read, at 1 us each. Checksums are verified elsewhere (after compaction, or where the length or
offset of a batch is wrong), and of control batches, of batches as small as a marker and of batches
that begin a transaction. A damaged batch that is larger than a marker and fits between its
neighbours was not a marker, whatever its header says.

Invariant   Only batches with a valid checksum begin or end a transaction. The checksum does not
            cover offsets: an impossible one is replaced by the next offset before it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

import numpy as np

from pykbroker.offline.batch_headers import HEADER_DTYPE, Integers, header_at, possible
from pykbroker.offline.old_part import end_of_old
from pykbroker.offline.partition_files import SegmentFiles
from pykbroker.offline.segment_index import KnownBatches, sound_batch
from pykbroker.offline.segment_walk import HeaderRun, header_tables
from pykbroker.offline.storage import SegmentFile
from pykbroker.offline.varints import Flags
from pykbroker.protocol.control_records import ABORT, COMMIT, decode_type
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    CONTROL_BIT,
    LOG_OVERHEAD,
    NO_TIMESTAMP,
    RECORD_BATCH_OVERHEAD,
    TRANSACTIONAL_BIT,
    BatchHeader,
    CorruptBatch,
    iter_records,
)
from pykbroker.values import NamedTuple

UNKNOWN_OUTCOME: Final = -1
#: In addition to the types of markers.
BEGIN: Final = 100
DOUBT: Final = 101
ANY_PRODUCER: Final = -1
#: A marker as all brokers write it: length, attributes, deltas of time and offset (a byte each),
#: a key of four bytes: its version and type.
_MARKER: Final = struct.Struct(">xBBBBhh")
_PLAIN_FRONT: Final = (0, 0, 0, 8, 0)
#: No marker is larger: 78 bytes, and some more for the time's delta behind a delete horizon.
MARKER_MOST_BYTES: Final = 96
_NONE: Final = HeaderRun(np.empty(0, np.int64), np.empty(0, HEADER_DTYPE))


class Event(NamedTuple):
    """`kind` is ABORT or COMMIT, BEGIN or DOUBT; `position` is in the file."""

    producer_id: int
    offset: int
    kind: int
    position: int
    timestamp_ms: int = NO_TIMESTAMP


def marker_type(opened: SegmentFile, position: int, header: BatchHeader) -> int:
    """Return ABORT, COMMIT or another type of a control batch; UNKNOWN_OUTCOME if it cannot be
    read, or is no control batch.
    """
    batch = sound_batch(opened, position, header.size_bytes) if header.is_control else None
    return UNKNOWN_OUTCOME if batch is None else _type_of(batch, header)


def _type_of(batch: bytes, header: BatchHeader) -> int:
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


def segment_events(
    opened: SegmentFile, segment: SegmentFiles, end: int, limit: int
) -> Iterator[tuple[HeaderRun, list[Event]]]:
    """Yield the headers of a segment's batches behind its old messages and up to position `end`,
    and the events up to these.

    Its offsets end before `limit`. The walk is that of the decoders: where no batch follows a
    corrupt one, it resumes at the next known batch.
    """
    known = KnownBatches(opened, segment.index_path, segment.base_offset)
    # Before magic 2 there were no transactions.
    start, next_offset = end_of_old(opened, 0, end, segment.base_offset)
    scan = _Scan(opened, known, Place(start, next_offset), limit)
    while start < end:
        tables = header_tables(
            opened, segment.index_path, segment.base_offset, start, end, steps_over=False
        )
        for run in tables:
            seen = scan.add(run)
            yield seen, scan.take()
            if scan.is_lost:
                break
        else:
            seen = scan.finish(end)
            yield seen, scan.take()
        position, next_offset = scan.at
        start = end if position >= end else known.after(position, end, next_offset)


class Place(NamedTuple):
    """Where a batch begins."""

    position: int
    offset: int


class _Neighbours:
    """What batches and their neighbours say of each other.

    positions, bases   one more than there are batches: where the one after the last begins
    lands              where a possible batch begins at the end of this one
    in_place           where both neighbours agree with its position and offsets
    """

    def __init__(self, run: HeaderRun, at: Place, following: Place, is_possible: Flags) -> None:
        self.table = run.table
        self.positions: Integers = np.append(run.positions, following.position)
        base = run.table["base_offset"].astype(np.int64)
        self.bases: Integers = np.append(base, following.offset)
        self.sizes: Integers = run.table["length"].astype(np.int64) + LOG_OVERHEAD
        ends_there = run.positions + self.sizes == self.positions[1:]
        is_next = base + run.table["last_offset_delta"] + 1 == self.bases[1:]
        self.lands: Flags = ends_there & is_possible
        self.in_place: Flags = ends_there & is_next
        before = self.in_place[:-1].copy()
        self.in_place[1:] &= before
        self.in_place[0] &= self.place(0) == at

    def place(self, index: int) -> Place:
        return Place(int(self.positions[index]), int(self.bases[index]))

    def must_be_looked_at(self) -> Flags:
        """Return which ones are out of place, may be a marker, or belong to a transaction."""
        attributes = self.table["attributes"] & (TRANSACTIONAL_BIT | CONTROL_BIT)
        chosen: Flags = ~self.in_place
        chosen |= (self.sizes <= MARKER_MOST_BYTES) | (attributes != 0)
        return chosen


class _Scan:
    """Finds the events of a segment.

    State   `at`, where the last batch ended, and the next offset, as far as sound batches tell; who
            has begun; the last header, which is looked at once the one behind it is known; whether
            the last one was broken, and not followed by another one: then `at` is where it began.
    """

    def __init__(self, opened: SegmentFile, known: KnownBatches, begin: Place, limit: int) -> None:
        self._known = known
        self.at = begin
        self.is_lost = False
        self._opened = opened
        self._limit = limit
        self._found: list[Event] = []
        self._begun: set[int] = set()
        self._held = _NONE

    def take(self) -> list[Event]:
        found, self._found = self._found, []
        return found

    def add(self, run: HeaderRun) -> HeaderRun:
        """Add headers in file order; return those that have been examined by now."""
        positions = np.concatenate([self._held.positions, run.positions])
        table = np.concatenate([self._held.table, run.table])
        self.is_lost = False
        self._held = HeaderRun(positions[-1:], table[-1:])
        is_possible = possible(table)[1:]
        done = HeaderRun(positions[:-1], table[:-1])
        following = Place(int(positions[-1]), int(table["base_offset"][-1]))
        count = self._look(done, following, is_possible)
        if count < done.positions.size:
            self._held = _NONE
        return HeaderRun(positions[:count], table[:count])

    def finish(self, end: int) -> HeaderRun:
        """Examine the last header, which `end` follows; it is returned unless it is corrupt and
        does not end there, or overlaps a known batch.
        """
        held, self._held = self._held, _NONE
        following = Place(end, self._limit)
        count = self._look(held, following, np.ones(held.positions.size, np.bool_))
        if end > self.at.position:
            self._doubt(self.at.position)
        return HeaderRun(held.positions[:count], held.table[:count])

    def _look(self, run: HeaderRun, following: Place, is_possible: Flags) -> int:
        """Return how many were examined: all, or up to one after which no batch begins.

        `following`: the batch after the last one; `is_possible`: whether the next ones are
        possible.
        """
        count = int(run.positions.size)
        if not count:
            return 0
        near = _Neighbours(run, self.at, following, is_possible)
        done = 0
        for index in np.flatnonzero(near.must_be_looked_at()).tolist():
            if index > done:  # those between are in place
                self.at = near.place(index)
            if not self._batch(header_at(run.table, index), near, index):
                self.is_lost, self.at = True, self.at._replace(position=int(run.positions[index]))
                return index
            done = index + 1
        if done < count:
            self.at = near.place(count)
        return count

    def _batch(self, header: BatchHeader, near: _Neighbours, index: int) -> bool:
        """Return whether a batch is intact, as far as checked, or another one follows it (and it
        does not overlap a known one).
        """
        place = near.place(index)
        if place.position > self.at.position:
            self._doubt(self.at.position)
        behind = place.position + header.size_bytes
        may_be_marker = not near.in_place[index] or header.size_bytes <= MARKER_MOST_BYTES
        has_begun = header.is_transactional and header.producer_id in self._begun
        if has_begun and not may_be_marker and not header.is_control:
            self.at = Place(behind, header.next_offset)
            return True
        batch = sound_batch(self._opened, place.position, header.size_bytes)
        next_offset = self.at.offset
        if batch is not None:
            offset = self._placed(header, near.place(index + 1).offset)
            if offset == header.base_offset:  # else decoders leave it out, and go on from before it
                next_offset = header.next_offset
            if header.is_transactional:
                self._transactional(header, batch, offset, place.position)
        elif may_be_marker:
            self._doubt(place.position)
        else:
            next_offset = header.next_offset
        self.at = Place(behind, next_offset)
        if batch is not None:
            return True
        return bool(near.lands[index]) and self._known.between(place.position, behind) is None

    def _placed(self, header: BatchHeader, next_base: int) -> int:
        """Return its base offset if that fits between the batches before and after it, else the
        next offset.
        """
        low, base = self.at.offset, header.base_offset
        last = base + header.last_offset_delta
        reaches_over = low <= next_base <= last
        return low if base < low or last >= self._limit or reaches_over else base

    def _transactional(self, header: BatchHeader, batch: bytes, offset: int, position: int) -> None:
        producer_id = header.producer_id
        kind = BEGIN
        if header.is_control:
            kind = _type_of(batch, header)
            if kind not in (ABORT, COMMIT):
                return
            self._begun.discard(producer_id)
        elif producer_id in self._begun:
            return
        else:
            self._begun.add(producer_id)
        self._found.append(Event(producer_id, offset, kind, position, header.max_timestamp))

    def _doubt(self, position: int) -> None:
        self._begun.clear()
        self._found.append(Event(ANY_PRODUCER, self.at.offset, DOUBT, position))
