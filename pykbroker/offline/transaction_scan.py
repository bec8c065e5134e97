"""Transactions of a partition: which ranges are aborted, and where the last stable offset is.

Read from the batches themselves, so that no transaction index and no producer snapshot has to be
believed, and a log that was copied without them reads alike. What a closed segment says is kept: a
log that is tailed is not walked again.

Invariant   Where something broken may have been a marker, the transactions that were open there
            are of unknown outcome, up to there: who reads any of their offsets is refused
            (`refuse`), or they are taken for aborted (`without_doubtful`). What their producers
            wrote behind it has the outcome that the next marker tells.
Source  Kafka's ProducerStateManager.java, ProducerAppendInfo.java.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pykbroker.offline.batch_headers import Integers
from pykbroker.offline.faults import CorruptSegment
from pykbroker.offline.frozen_end import open_listed
from pykbroker.offline.partition_files import PartitionFiles, SegmentFiles
from pykbroker.offline.split import AbortedRange
from pykbroker.offline.storage import file_versions
from pykbroker.offline.transaction_events import BEGIN, DOUBT, Event, segment_events
from pykbroker.protocol.control_records import ABORT


class Doubtful(NamedTuple):
    """A transaction of unknown outcome: its offsets up to the damage, and where that is."""

    producer_id: int
    first_offset: int
    last_offset: int
    path: str
    position: int
    #: Whether a marker of its producer stands behind the damage.
    has_ended: bool


class TransactionState(NamedTuple):
    """What a reader of committed records must know."""

    aborted: tuple[AbortedRange, ...]
    doubtful: tuple[Doubtful, ...]
    #: No record at or behind it may be served.
    last_stable_offset: int

    def refuse_open(self) -> None:
        """CorruptSegment if a doubtful transaction may still be open."""
        for each in self.doubtful:
            if not each.has_ended:
                _refuse(each)

    def refuse(self, start: int, end: int) -> None:
        """CorruptSegment if any of the offsets [start, end) is of a doubtful transaction, or stands
        behind one that may still be open."""
        for each in self.doubtful:
            if each.first_offset < end and not (each.has_ended and each.last_offset < start):
                _refuse(each)

    def without_doubtful(self) -> tuple[AbortedRange, ...]:
        """What to leave out, the doubtful ones too."""
        return (*self.aborted, *(AbortedRange._make(each[:3]) for each in self.doubtful))


def _refuse(doubtful: Doubtful) -> None:
    reason = "it is damaged, and may be the marker of a transaction that is open there"
    raise CorruptSegment(doubtful.path, doubtful.position, reason)


def transaction_state(
    files: PartitionFiles, end_position: int, next_offset: int, end_offset: int
) -> TransactionState:
    """Aborted ranges and last stable offset of a log, as far as `end_offset`.

    `end_position` and `next_offset`: the frozen end, in the last segment and of the log.
    """
    follower = _Follower()
    versions = file_versions([segment.path for segment in files.segments[:-1]])
    for number, segment in enumerate(files.segments):
        if segment.base_offset >= end_offset:
            break
        if segment is files.segments[-1]:
            events = _events(segment, end_position, next_offset)
        else:
            limit = files.segments[number + 1].base_offset
            events = _events_of_closed(segment, limit, versions[number])
        for event in map(Event._make, events.tolist()):
            if event.offset < end_offset:
                follower.feed(segment, event)
    return follower.state(end_offset)


class _Follower:
    """Feeds on the events of a log in order."""

    def __init__(self) -> None:
        self.ongoing: dict[int, int] = {}
        self.aborted: list[AbortedRange] = []
        self.doubtful: list[Doubtful] = []
        #: Of a producer: which of the doubtful ones have no marker behind the damage yet.
        self._without_marker: dict[int, list[int]] = {}

    def feed(self, segment: SegmentFiles, event: Event) -> None:
        if event.kind == BEGIN:
            self.ongoing.setdefault(event.producer_id, event.offset)
        elif event.kind == DOUBT:
            self._doubt(segment, event)
        else:
            self._end(event)

    def _end(self, marker: Event) -> None:
        for index in self._without_marker.pop(marker.producer_id, ()):
            self.doubtful[index] = self.doubtful[index]._replace(has_ended=True)
        first = self.ongoing.pop(marker.producer_id, None)
        if first is not None and marker.kind == ABORT:
            self.aborted.append(AbortedRange(marker.producer_id, first, marker.offset))

    def _doubt(self, segment: SegmentFiles, event: Event) -> None:
        last, place = event.offset - 1, (segment.path, event.position)
        for producer_id, first in self.ongoing.items():
            self._without_marker.setdefault(producer_id, []).append(len(self.doubtful))
            self.doubtful.append(Doubtful(producer_id, first, last, *place, has_ended=False))
        self.ongoing.clear()

    def state(self, end_offset: int) -> TransactionState:
        stable = min([*self.ongoing.values(), end_offset])
        return TransactionState(tuple(self.aborted), tuple(self.doubtful), stable)


@lru_cache(maxsize=65536)
def _events_of_closed(segment: SegmentFiles, limit: int, _version: tuple[int, ...]) -> Integers:
    return _events(segment, segment.size_bytes, limit)


def _events(segment: SegmentFiles, end: int, limit: int) -> Integers:
    """In order: the rows of an array."""
    with open_listed(segment, end) as opened:
        found = [
            event for _, events in segment_events(opened, segment, end, limit) for event in events
        ]
    return np.array(found, np.int64).reshape(-1, len(Event._fields))
