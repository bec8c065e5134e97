"""The batches appended in this round, until one write puts them into the log.

    add      queues a batch; the checks of later batches already see it
    write    writes what is queued with writev, after which the log end offset moves
    roll     writes the queued batches; the next batch begins a segment

State: the queued bytes, the places of their batches in the log, their producer updates.
In:    batches with their offsets assigned. Out: LogDirFailure; KafkaError if the active segment is
       found to be corrupt.
Invariants: `write` leaves nothing queued, even when it raises one of these; after a disk failure no
       batch is written.
Source: Kafka's UnifiedLog.append and roll, LogSegment.shouldRoll.
"""

from __future__ import annotations

import contextlib
import errno
import logging
from typing import TYPE_CHECKING

from pykbroker.environment.files import Buffer, LogDirFailure
from pykbroker.errors import KafkaError
from pykbroker.log.partition.local_log import LocalLog
from pykbroker.log.partition.log_flusher import LogFlusher
from pykbroker.log.producers.producer_state import CompletedTxn, ProducerUpdate
from pykbroker.log.segments.entry_index import MAX_RELATIVE_OFFSET
from pykbroker.log.segments.index_files import CorruptIndex
from pykbroker.log.segments.segment import CorruptSegment, Placed, Segment

if TYPE_CHECKING:
    from pykbroker.config import TopicConfig

_log = logging.getLogger(__name__)


class AppendQueue:
    """The batches appended in this round."""

    __slots__ = (
        "_batches",
        "_flusher",
        "_local",
        "_parts",
        "_producers",
        "_roll_ms",
        "_segment_bytes",
        "_size_bytes",
        "_updates",
        "next_offset",
    )

    def __init__(self, local: LocalLog, flusher: LogFlusher) -> None:
        self._local = local
        self._flusher = flusher
        self._producers = local.snapshots.manager
        self.next_offset = local.log_end_offset
        """The offset of the next batch; the log ends here once what is queued is written."""
        self._parts: list[Buffer] = []
        self._batches: list[Placed] = []
        self._size_bytes = 0
        self._updates: list[ProducerUpdate] = []
        self.update_config(local.config)

    @property
    def is_empty(self) -> bool:
        return not self._batches

    def update_config(self, config: TopicConfig) -> None:
        self._segment_bytes = config.segment_bytes
        self._roll_ms = config.segment_ms
        if config.compact and config.max_compaction_lag_ms > 0:  # only closed segments are cleaned
            self._roll_ms = min(self._roll_ms, config.max_compaction_lag_ms)

    # -- queueing -------------------------------------------------------------------------------

    def add(
        self,
        part: Buffer,
        place: Placed,
        update: ProducerUpdate | None,
        *,
        joins_last: bool = False,
    ) -> None:
        """Queue the batch for `place`, and apply its producer update.

        `part` contains its bytes; with `joins_last` also those of the last part, which it replaces.
        """
        if update is not None:
            self._producers.apply(update)
            self._updates.append(update)
        if joins_last:
            self._parts[-1] = part
        else:
            self._parts.append(part)
        self._batches.append(place)
        _, last_offset, _, size = place
        self._size_bytes += size
        self.next_offset = last_offset + 1

    def must_roll(self, size: int, last_offset: int, max_timestamp: int, now_ms: int) -> bool:
        """Return whether a batch of `size` bytes must begin a segment; the sizes
        of queued batches count.

        Raises LogDirFailure or KafkaError if opening the active segment for this fails.
        """
        segment = self._local.active
        filled = segment.size + self._size_bytes
        if (
            filled + size > self._segment_bytes
            or segment.index_full
            or last_offset - segment.base_offset > MAX_RELATIVE_OFFSET
        ):
            return True
        if not filled:
            return False
        first = segment.first_timestamp
        if first is None:
            first = self._first_timestamp(segment)
        waited_ms = max_timestamp - first if first >= 0 else now_ms - segment.created_ms
        return waited_ms > self._roll_ms - segment.roll_jitter_ms

    def _first_timestamp(self, segment: Segment) -> int:
        """Return the largest timestamp of the first batch of a segment."""
        if not segment.size:  # all of its batches are still queued
            _, _, max_timestamp, _ = self._batches[0]
            return max_timestamp
        self._local.guarded("opening a segment", segment.make_writable)
        first = segment.first_timestamp
        assert first is not None
        return first

    def restart_at(self, offset: int) -> None:
        """Continue at this offset, after a truncation or `PartitionLog.skip_to`.
        Nothing is queued.
        """
        self.next_offset = offset

    # -- writing --------------------------------------------------------------------------------

    def write(self) -> None:
        """Write what is queued with writev, then move the log end offset.

        On LogDirFailure the log is offline, and the queued batches are discarded, unless it was the
        flush after the write (flush.messages) that failed. The next start may find them in the
        file, if they were written or could not be cut off again. They are also discarded on
        KafkaError: the active segment is damaged.
        """
        batches = self._batches
        if not batches:
            return
        local = self._local
        if local.is_offline:
            self._take_back()
            raise local.failure("writing", OSError(errno.EIO, "the log is offline"))
        segment = local.active
        size_before = segment.size
        try:
            if not segment.is_writable:
                local.guarded("opening a segment", segment.make_writable)
            aborted = self._aborted()
            if aborted:  # before the write: a damaged index is rebuilt from the segment
                local.guarded("opening a transaction index", segment.txn_index.load)
            segment.append(self._parts, batches)
            for completed in aborted:
                local.has_new_names |= segment.txn_index.append_aborted(completed)
        except (LogDirFailure, KafkaError):
            self._take_back()
            raise
        except OSError as error:
            segment.size = size_before
            self._take_back()
            self._cut_back()
            raise local.failure("writing", error) from error
        self._parts = []
        self._batches = []
        self._size_bytes = 0
        if self._updates:
            self._updates = []
        local.log_end_offset = self._producers.map_end_offset = self.next_offset
        if local.log_end_offset >= self._flusher.due_offset:
            self._flusher.flush()

    def _aborted(self) -> list[CompletedTxn]:
        """Return the transactions that the queued markers abort."""
        return [
            completed
            for update in self._updates
            if (completed := update.completed) is not None and completed.is_aborted
        ]

    def _take_back(self) -> None:
        """Discard what is queued, so that the log in memory ends where it ended before."""
        for update in reversed(self._updates):
            self._producers.undo(update)
        self._parts = []
        self._batches = []
        self._size_bytes = 0
        self._updates = []
        self.next_offset = self._local.log_end_offset

    def _cut_back(self) -> None:
        """Remove, as far as the disk allows, what a failed write left in the files."""
        local = self._local
        with contextlib.suppress(OSError, CorruptSegment, CorruptIndex):
            local.active.cut_back()
            local.active.truncate_to(local.log_end_offset, local.now_ms)
            local.leader_epochs.truncate_from_end(local.log_end_offset)

    # -- rolling --------------------------------------------------------------------------------

    def roll(self, now_ms: int, base_offset: int | None = None) -> Segment:
        """Write what is queued, close the active segment and begin a new one at base_offset, but
        not below the log end. An active segment that begins there and is empty stays.

        Raises LogDirFailure, KafkaError.
        """
        self.write()
        local = self._local
        base = max(base_offset or 0, local.log_end_offset)
        old = local.active
        if old.base_offset == base and not old.size:
            return old
        local.guarded("rolling", old.become_inactive)
        with local.guard("rolling"):
            self._flusher.note_roll(old)
            segment = local.new_segment(base, now_ms)
            # The snapshot is at the new base offset, which may be ahead of the log end.
            self._producers.map_end_offset = base
            local.snapshots.take()
        _log.debug("%s: rolled new log segment at offset %d", local.topic_partition, base)
        return segment
