"""Transactions of a partition: which ranges are aborted, and where the last stable offset is.

The batches themselves are read, so no transaction index or producer snapshot has to be trusted, and
a log that was copied without these files reads alike. The result for closed segments is kept in the
process: when a log is tailed, they are not walked again unless one of them has changed.

Invariant   Where corrupt bytes may have been a marker, the transactions that were open there have
            an unknown outcome up to that position: reading any of their offsets is refused, and
            all that follows if no marker of their producer does (`refuse`), or they count as
            aborted (`left_out`). That marker determines the outcome of what it wrote after the
            damage.
Source  Kafka's ProducerStateManager.java, ProducerAppendInfo.java.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from pykbroker.offline.faults import CorruptSegment
from pykbroker.offline.frozen_end import open_listed
from pykbroker.offline.partition_files import PartitionFiles, SegmentFiles
from pykbroker.offline.split import END_OF_TIME, AbortedRange
from pykbroker.offline.storage import file_versions
from pykbroker.offline.transaction_events import BEGIN, DOUBT, Event, segment_events
from pykbroker.protocol.control_records import ABORT
from pykbroker.values import NamedTuple

_MOST_KEPT: Final = 4096


class Doubtful(NamedTuple):
    """A transaction of unknown outcome: its offsets up to the damage, and the position of the
    damage.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    path: str
    position: int
    #: Whether a marker of its producer follows the damage.
    has_ended: bool


class TransactionState(NamedTuple):
    """What a reader of committed records must know."""

    #: In the order of their ends.
    aborted: tuple[AbortedRange, ...]
    doubtful: tuple[Doubtful, ...]
    #: No record at or after it may be served.
    last_stable_offset: int

    def refuse_open(self) -> None:
        """Raise CorruptSegment if a doubtful transaction may still be open."""
        for each in self.doubtful:
            if not each.has_ended:
                _refuse(each)

    def refuse(self, start: int, end: int) -> None:
        """Raise CorruptSegment if any of the offsets [start, end) belongs to a doubtful
        transaction, or follows one that may still be open.
        """
        for each in self.doubtful:
            if each.first_offset < end and not (each.has_ended and each.last_offset < start):
                _refuse(each)

    def left_out(self, start: int) -> tuple[AbortedRange, ...]:
        """Return the aborted and doubtful ranges that end at offset `start` or later."""
        aborted = self.aborted[bisect_left(self.aborted, start, key=lambda each: each[2]) :]
        doubtful = (AbortedRange._make(each[:3]) for each in self.doubtful)
        return (*aborted, *(each for each in doubtful if each.last_offset >= start))


def _refuse(doubtful: Doubtful) -> None:
    reason = "it is damaged, and may be the marker of a transaction that is open there"
    raise CorruptSegment(doubtful.path, doubtful.position, reason)


def transaction_state(
    files: PartitionFiles, end_position: int, next_offset: int, end_offset: int
) -> TransactionState:
    """Return the aborted ranges and last stable offset of a log, up to `end_offset`.

    `end_position` and `next_offset`: the frozen end, in the last segment and of the log.
    """
    segments = files.segments
    follower, done = _of_closed(files, end_offset)
    for number, segment in enumerate(segments[done:], done):
        if segment.base_offset >= end_offset:
            break
        if number + 1 == len(segments):
            follower.follow(segment, end_position, next_offset, end_offset)
        else:
            limit = segments[number + 1].base_offset
            follower.follow(segment, segment.size_bytes, limit, end_offset)
    return follower.state(end_offset)


class _Closed(NamedTuple):
    """The result for the first segments of a partition, which are no longer written to."""

    segments: tuple[SegmentFiles, ...]
    versions: list[tuple[int, ...]]
    follower: _Follower


#: By directory, the most recently used at the end.
_closed: Final[dict[str, _Closed]] = {}


def _of_closed(files: PartitionFiles, end_offset: int) -> tuple[_Follower, int]:
    """Return (the result for closed segments that end before an offset, their number)."""
    limits = [segment.base_offset for segment in files.segments[1:]]
    segments = files.segments[: bisect_left(limits, end_offset)]
    versions = file_versions([segment.path for segment in segments])
    known = _closed.pop(files.directory, None)
    count = 0 if known is None else len(known.segments)
    follower = _Follower()
    if known is not None and known[:2] == (segments[:count], versions[:count]):
        follower = known.follower.copy()
    else:
        count = 0
    for segment, limit in zip(segments[count:], limits[count:], strict=False):
        follower.follow(segment, segment.size_bytes, limit, END_OF_TIME)
    _closed[files.directory] = _Closed(segments, versions, follower)
    while len(_closed) > _MOST_KEPT:
        del _closed[next(iter(_closed))]
    return follower.copy(), len(segments)


class _Follower:
    """Processes the events of a log in order."""

    def __init__(self) -> None:
        self.ongoing: dict[int, int] = {}
        self.aborted: list[AbortedRange] = []
        self.doubtful: list[Doubtful] = []
        #: By producer: the doubtful ones that no marker has followed yet.
        self._without_marker: dict[int, list[int]] = {}

    def copy(self) -> _Follower:
        copied = _Follower()
        copied.ongoing = dict(self.ongoing)
        copied.aborted = list(self.aborted)
        copied.doubtful = list(self.doubtful)
        copied._without_marker = {key: list(each) for key, each in self._without_marker.items()}
        return copied

    def follow(self, segment: SegmentFiles, end: int, limit: int, end_offset: int) -> None:
        """Process a segment up to position `end`, whose offsets are below `limit`."""
        with open_listed(segment, end) as opened:
            for _, events in segment_events(opened, segment, end, limit):
                for event in events:
                    if event.offset < end_offset:
                        self._feed(segment, event)

    def _feed(self, segment: SegmentFiles, event: Event) -> None:
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
