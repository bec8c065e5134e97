"""Reading a partition's log: slices by offset, records by time, positions.

State: the results of threads for look-ups that must not wait (record_lookup.py).
In:    offsets, byte bounds, timestamps. Out: for example ReadOutcome with a FileSlice, FoundOffset;
       faults that `LocalLog.guarded` handles; ColdRead.
Invariant: nothing at or above the bound that the caller gives is ever in a slice.
Source: Kafka's LocalLog.read, LogSegment.read.
"""

from __future__ import annotations

from pykbroker.environment.files import Buffer
from pykbroker.log.partition import lookup
from pykbroker.log.partition.local_log import LocalLog
from pykbroker.log.partition.read_outcome import ReadOutcome
from pykbroker.log.partition.record_lookup import LookedUp
from pykbroker.log.segments.index_files import CorruptIndex
from pykbroker.log.segments.segment import FoundOffset, Segment
from pykbroker.protocol.record_batch import LOG_OVERHEAD

SMALL_READ_BYTES = 32 * 1024
LEAST_READ_BYTES = 1024


class LogReader:
    """The reading part of a log."""

    __slots__ = ("_local", "looked_up")

    def __init__(self, local: LocalLog) -> None:
        self._local = local
        self.looked_up: LookedUp = {}

    def read(
        self, offset: int, max_bytes: int, max_offset: int, min_one_batch: bool
    ) -> ReadOutcome:
        """See PartitionLog; `offset` is in the log and below `max_offset`."""
        local = self._local
        segment: Segment | None = local.active
        if offset < local.active.base_offset:
            segment = local.segments.floor(offset)
        position = None
        while segment is not None and (position := segment.translate(offset)) is None:
            segment = local.segments.higher(segment.base_offset)
        if segment is None or position is None:
            return ReadOutcome()
        end = segment.size
        if max_offset < local.log_end_offset:
            end = self._position_of_bound(segment, max_offset)
        length = end - position
        if length <= 0:
            return ReadOutcome()
        if length > max_bytes:
            first_size = segment.batch_size_at(position)
            if first_size <= max_bytes:
                length = max_bytes
            elif min_one_batch:
                length = min(first_size, length)
            else:
                return ReadOutcome(None, segment.base_offset, position, True)
        return ReadOutcome(segment.file.slice(position, length), segment.base_offset, position)

    def read_small(
        self,
        offset: int,
        max_bytes: int,
        max_offset: int,
        min_one_batch: bool,
        committed_only: bool,
    ) -> Buffer | None:
        """See PartitionLog."""
        local = self._local
        if offset < local.log_start_offset or offset > local.log_end_offset:
            return None
        if offset >= max_offset:
            return b""
        segment = local.active
        position = segment.hints.get(offset)
        if position is None or max_offset != local.log_end_offset or offset < segment.base_offset:
            return None
        length = segment.size - position
        is_cut = length > max_bytes
        wanted = min(max(max_bytes, LEAST_READ_BYTES), length) if is_cut else length
        if not LOG_OVERHEAD <= wanted <= SMALL_READ_BYTES:
            return None
        try:
            if committed_only and not segment.txn_index.is_empty:
                return None
            found = segment.file.read_cached(wanted, position)
        except (OSError, CorruptIndex):
            return None
        if found is None or len(found) != wanted:
            return None
        if not is_cut:
            return found
        first_size = LOG_OVERHEAD + int.from_bytes(found[8:LOG_OVERHEAD], "big")
        if first_size <= max_bytes:
            return found[:max_bytes]
        return found[:first_size] if min_one_batch and first_size <= wanted else None

    def _position_of_bound(self, segment: Segment, max_offset: int) -> int:
        """Return where the first batch with an offset >= `max_offset` begins in the segment; its
        size if it has none.
        """
        local = self._local
        if segment is not local.active:
            following = local.segments.higher(segment.base_offset)
            if following is not None and max_offset >= following.base_offset:
                return segment.size
        position = segment.translate(max_offset)
        return segment.size if position is None else position

    def bytes_between(self, offset: int, end_offset: int) -> int:
        """See PartitionLog; `offset` is below `end_offset`."""
        local = self._local
        first = local.segments.floor(offset)
        last = local.segments.floor(end_offset)
        if first is None or last is None:
            return 0
        start = first.translate(offset)
        start = first.size if start is None else start
        end = last.translate(end_offset) if end_offset < local.log_end_offset else None
        end = last.size if end is None else end
        if first is last:
            return max(end - start, 0)
        between = local.segments.within(first.base_offset + 1, last.base_offset)
        inner = sum(s.size for s in between if s is not first)
        return first.size - start + inner + end

    def offset_for_timestamp(self, timestamp: int) -> FoundOffset | None:
        """See `lookup.offset_for_timestamp`."""
        return lookup.offset_for_timestamp(self._local, timestamp, self.looked_up)

    def offset_of_max_timestamp(self) -> FoundOffset | None:
        """See `lookup.offset_of_max_timestamp`."""
        return lookup.offset_of_max_timestamp(self._local, self.looked_up)
