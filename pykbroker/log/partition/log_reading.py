"""Reading a partition's log: slices by offset, records by time, positions, the last stable offset.

In:    offsets, byte bounds, timestamps. Out: ReadOutcome with a FileSlice, FoundOffset; KafkaError.
Invariant: nothing at or above the bound that the caller gives is ever in a slice.
Source: Kafka's LocalLog.read, LogSegment.read.
"""

from __future__ import annotations

from pykbroker.environment.files import Buffer
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition import lookup
from pykbroker.log.partition.log_state import LogState
from pykbroker.log.partition.read_outcome import ReadOutcome
from pykbroker.log.producers.producer_state import ProducerStateEntry
from pykbroker.log.segments.index_files import CorruptIndex
from pykbroker.log.segments.segment import CorruptSegment, FoundOffset, Segment
from pykbroker.protocol.record_batch import LOG_OVERHEAD

SMALL_READ_BYTES = 32 * 1024
LEAST_READ_BYTES = 1024


class LogReading(LogState):
    """The reading half of a PartitionLog."""

    __slots__ = ()

    def read(
        self, offset: int, max_bytes: int, max_offset: int, min_one_batch: bool = True
    ) -> ReadOutcome:
        """The batches of one segment from the one that holds `offset` on, below `max_offset`.

        The last batch of the slice may be cut off by max_bytes, as Kafka does it; the first one is
        whole if min_one_batch (KIP-74). KafkaError(OFFSET_OUT_OF_RANGE) outside the log.
        """
        if offset < self.log_start_offset or offset > self.log_end_offset:
            raise self._out_of_range(offset)
        if offset >= max_offset:
            return ReadOutcome()
        segment: Segment | None = self.active
        if offset < self.active.base_offset:
            segment = self.segments.floor(offset)
        try:
            while segment is not None:
                position = segment.translate(offset)
                if position is not None:
                    return self._read_segment(
                        segment, position, max_bytes, max_offset, min_one_batch
                    )
                segment = self.segments.higher(segment.base_offset)
        except OSError as error:
            raise self.failure("reading", error) from error
        except CorruptIndex as fault:
            with self.guard("rebuilding an index"):
                self.rebuild_index(fault)
            return self.read(offset, max_bytes, max_offset, min_one_batch)
        except CorruptSegment as fault:
            with self.guard("looking at the end of a segment"):
                is_left_out = self.leave_out_torn_end(fault)
            if not is_left_out:
                raise self.corrupt(fault) from fault
            return self.read(offset, max_bytes, max_offset, min_one_batch)
        return ReadOutcome()

    def read_small(
        self,
        offset: int,
        max_bytes: int,
        max_offset: int,
        min_one_batch: bool,
        committed_only: bool,
    ) -> Buffer | None:
        """The bytes of what `read` finds, where that is little and at hand; None: call `read`.

        At hand: from a batch on that was looked up lately, up to the log end, in the page cache.
        What is read is read once, the size of the first batch with it. With `committed_only`,
        None as well where aborted transactions may have to be told of.
        """
        if offset < self.log_start_offset or offset > self.log_end_offset:
            return None
        if offset >= max_offset:
            return b""
        segment = self.active
        position = segment.hints.get(offset)
        if position is None or max_offset != self.log_end_offset or offset < segment.base_offset:
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

    def _read_segment(
        self,
        segment: Segment,
        position: int,
        max_bytes: int,
        max_offset: int,
        min_one_batch: bool,
    ) -> ReadOutcome:
        end = segment.size
        if max_offset < self.log_end_offset:
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
        return ReadOutcome(segment.slice(position, length), segment.base_offset, position)

    def _position_of_bound(self, segment: Segment, max_offset: int) -> int:
        """Where the batch that holds max_offset begins in the segment (its size: not in it)."""
        if segment is not self.active:
            following = self.segments.higher(segment.base_offset)
            if following is not None and max_offset >= following.base_offset:
                return segment.size
        position = segment.translate(max_offset)
        return segment.size if position is None else position

    def bytes_between(self, offset: int, end_offset: int) -> int:
        """Bytes of the batches from the one that holds `offset` up to `end_offset`."""
        if end_offset <= offset:
            return 0
        first = self.segments.floor(offset)
        last = self.segments.floor(end_offset)
        if first is None or last is None:
            return 0
        start = self.guarded("reading", first.translate, offset)
        start = first.size if start is None else start
        end = None
        if end_offset < self.log_end_offset:
            end = self.guarded("reading", last.translate, end_offset)
        end = last.size if end is None else end
        if first is last:
            return max(end - start, 0)
        between = self.segments.within(first.base_offset + 1, last.base_offset)
        inner = sum(s.size for s in between if s is not first)
        return first.size - start + inner + end

    def offset_for_timestamp(self, timestamp: int) -> FoundOffset | None:
        """The first record with a timestamp >= the given one, at record precision."""
        return self.guarded("looking up", lookup.offset_for_timestamp, self, timestamp)

    def offset_of_max_timestamp(self) -> FoundOffset | None:
        return self.guarded("looking up", lookup.offset_of_max_timestamp, self)

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[tuple[int, int]]:
        """(producer id, first offset) of the aborted transactions that touch [start, end)."""
        return self.guarded(
            "looking up", lookup.aborted_transactions, self, start_offset, end_offset
        )

    def aborted_in_slice(self, start_offset: int, outcome: ReadOutcome) -> list[tuple[int, int]]:
        """(producer id, first offset) of those that touch what was read from start_offset on."""
        return self.guarded("looking up", lookup.aborted_in_slice, self, start_offset, outcome)

    def last_stable_offset(self, high_watermark: int) -> int:
        """The first offset that read_committed must not see yet; at most the high watermark."""
        producers = self.producers
        producers.on_high_watermark(high_watermark)
        first = producers.first_unstable_offset()
        if first is None or first >= high_watermark:
            return high_watermark
        return max(first, self.log_start_offset)

    def end_offset_for_epoch(self, leader_epoch: int) -> tuple[int, int]:
        """(epoch, end offset) of the largest epoch <= the asked one; (-1, -1) when unknown."""
        return self.leader_epochs.end_offset_for(leader_epoch, self.log_end_offset)

    def active_producers(self, now_ms: int) -> list[ProducerStateEntry]:
        """Those that have not expired (DescribeProducers)."""
        self.producers.remove_expired(now_ms)
        return self.producers.active_producers()

    def _out_of_range(self, offset: int) -> KafkaError:
        return KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"Received request for offset {offset} for partition {self.topic_partition}, but we "
            f"only have log segments from {self.log_start_offset} upto {self.log_end_offset}.",
        )
