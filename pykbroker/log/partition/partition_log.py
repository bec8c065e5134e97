"""The log of one partition: an append-only sequence of record batches, in segments.

    log_start_offset     recovery_point           log_end_offset     next_offset
          v                    v                        v                v
      ----+--------------------+------------------------+----------------+
          |  on disk for sure  |  written, not synced   | queued         |

A log is composed of parts with separate state; none knows the log, or a part above it:

    LogAppender   checks batches         -> AppendQueue, LocalLog
    AppendQueue   a round's appends      -> LogFlusher, LocalLog
    LogFlusher    the recovery point     -> LocalLog
    LogReader     slices and look-ups    -> LocalLog
    LocalLog      segments, written offsets, the files beside them, disk faults

This module has the log's interface, and what involves several parts: truncation, retention,
closing.

In:    batches to append, offsets to read, truncate, delete.
Out:   for example AppendOutcome, ReadOutcome with a FileSlice; KafkaError for an offset out of
       range, and where the log is corrupt; LogDirFailure when the disk failed.
Invariants: the log end only grows, except by a truncation; readers never see past log_end_offset.
Source: Kafka's UnifiedLog.java and LocalLog.java.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.environment.files import Buffer, Files, LogDirFailure
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.directories.chores import Chores
from pykbroker.log.directories.epoch_checkpoint import EpochCheckpoint
from pykbroker.log.partition import lookup
from pykbroker.log.partition.append_outcome import AppendOrigin, AppendOutcome
from pykbroker.log.partition.append_queue import AppendQueue
from pykbroker.log.partition.flush import FlushJob
from pykbroker.log.partition.local_log import LocalLog
from pykbroker.log.partition.log_appender import LogAppender
from pykbroker.log.partition.log_flusher import LogFlusher
from pykbroker.log.partition.log_reader import LogReader
from pykbroker.log.partition.read_outcome import ReadOutcome
from pykbroker.log.partition.retention import deletable_segments, retention_rules
from pykbroker.log.producers.producer_snapshots import ProducerSnapshots
from pykbroker.log.producers.producer_state import ProducerStateEntry
from pykbroker.log.producers.verification import VerificationGuard
from pykbroker.log.recovery.segment_recovery import rebuild_producer_state
from pykbroker.log.segments.segment import FoundOffset, Segment
from pykbroker.log.segments.segment_list import SegmentList
from pykbroker.log.validation.batch_validation import ValidationOutcome

if TYPE_CHECKING:
    from pykbroker.config import TopicConfig
    from pykbroker.types import TopicPartition

__all__ = ["AppendOrigin", "AppendOutcome", "PartitionLog"]

_log = logging.getLogger(__name__)


class PartitionLog:
    """The log of one partition. Created by `open_log` (recovery/opening.py)."""

    __slots__ = (
        "appender",
        "flusher",
        "leader_epochs",
        "local",
        "producers",
        "queue",
        "reader",
        "segments",
        "snapshots",
        "topic_id",
        "topic_partition",
    )

    def __init__(
        self,
        *,
        files: Files,
        directory: str,
        topic_partition: TopicPartition,
        config: TopicConfig,
        segments: SegmentList,
        log_start_offset: int,
        recovery_point: int,
        log_end_offset: int,
        leader_epochs: EpochCheckpoint,
        snapshots: ProducerSnapshots,
        now_ms: int,
        topic_id: bytes | None = None,
        is_directory_durable: bool = False,
        chores: Chores | None = None,
        jitter: Callable[[int], int] | None = None,
    ) -> None:
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.segments = segments
        self.leader_epochs = leader_epochs
        self.snapshots = snapshots
        self.producers = snapshots.manager
        local = self.local = LocalLog(
            files=files,
            directory=directory,
            topic_partition=topic_partition,
            config=config,
            segments=segments,
            log_start_offset=log_start_offset,
            log_end_offset=log_end_offset,
            leader_epochs=leader_epochs,
            snapshots=snapshots,
            now_ms=now_ms,
            chores=chores,
            jitter=jitter,
        )
        """What is on the disk, for what works on segments: retention, compaction, checks."""
        self.flusher = LogFlusher(local, recovery_point, is_directory_durable=is_directory_durable)
        self.queue = AppendQueue(local, self.flusher)
        self.appender = LogAppender(local, self.queue)
        """For checks before an append, and for batches that are only queued."""
        self.reader = LogReader(local)

    def __repr__(self) -> str:
        return (
            f"PartitionLog({self.directory}, start={self.log_start_offset}, "
            f"end={self.log_end_offset}, segments={len(self.segments)})"
        )

    def update_config(self, config: TopicConfig) -> None:
        for part in (self.local, self.flusher, self.queue, self.appender):
            part.update_config(config)

    # -- what it is -----------------------------------------------------------------------------

    @property
    def config(self) -> TopicConfig:
        return self.local.config

    @property
    def files(self) -> Files:
        return self.local.files

    @property
    def chores(self) -> Chores:
        return self.local.chores

    @property
    def directory(self) -> str:
        return self.local.directory

    @property
    def log_directory(self) -> str:
        """The log directory (one of log.dirs) that the partition's directory is in."""
        return self.local.log_directory

    @property
    def active(self) -> Segment:
        return self.local.active

    @property
    def size_bytes(self) -> int:
        return self.segments.size_bytes

    @property
    def is_offline(self) -> bool:
        return self.local.is_offline

    @property
    def truncations(self) -> int:
        """How often the end of the log was cut off."""
        return self.local.truncations

    @property
    def log_start_offset(self) -> int:
        return self.local.log_start_offset

    @property
    def recovery_point(self) -> int:
        return self.flusher.recovery_point

    @property
    def last_flush_ms(self) -> int:
        return self.flusher.last_flush_ms

    @property
    def log_end_offset(self) -> int:
        return self.local.log_end_offset

    @property
    def next_offset(self) -> int:
        return self.queue.next_offset

    @property
    def has_pending(self) -> bool:
        return not self.queue.is_empty

    # -- appending ------------------------------------------------------------------------------

    def append_as_leader(
        self,
        records: Buffer,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        checked: ValidationOutcome | None = None,
        guard: VerificationGuard | None = None,
        transaction_version: int = 0,
    ) -> AppendOutcome:
        """Validate, check the producer, assign offsets, queue. Client errors
        are returned as outcomes.

        `records` may be patched in place if it is writable. `checked` is the result of an earlier
        `validate`. `transaction_version` and `guard`: see `ProducerStateManager.prepare`. Raises
        LogDirFailure, because a roll writes the queued batches, for example, and KafkaError if the
        active segment is damaged (log_appender.py).
        """
        return self.appender.append_as_leader(
            records, leader_epoch, now_ms, origin, checked, guard, transaction_version
        )

    def append_as_follower(
        self, records: Buffer, now_ms: int, leader_epoch: int | None = None
    ) -> AppendOutcome:
        """Queue batches whose offsets the leader assigned.

        The first batch of a higher epoch than `leader_epoch`, and all after it, are skipped
        (KAFKA-18723). A damaged batch, or an offset below the next one, is an error of the outcome;
        then nothing is queued. Raises LogDirFailure, KafkaError, and CorruptBatch for a marker.
        """
        return self.appender.append_as_follower(records, now_ms, leader_epoch)

    def assign_epoch_start(self, leader_epoch: int, start_offset: int) -> None:
        """Record that `leader_epoch`, in which this replica leads, begins at start_offset."""
        self.appender.assign_epoch_start(leader_epoch, start_offset)

    def write_pending(self) -> None:
        """Write what is queued, then move the log end offset; see `AppendQueue.write`."""
        self.queue.write()

    def roll(self, now_ms: int, base_offset: int | None = None) -> Segment:
        """See `AppendQueue.roll`."""
        return self.queue.roll(now_ms, base_offset)

    # -- reading --------------------------------------------------------------------------------

    def read(
        self, offset: int, max_bytes: int, max_offset: int, min_one_batch: bool = True
    ) -> ReadOutcome:
        """Return the batches of one segment from `offset` on, below `max_offset`.

        The last batch of the slice may be cut off by max_bytes, as in Kafka; the first one is
        complete if min_one_batch (KIP-74). Raises KafkaError(OFFSET_OUT_OF_RANGE) outside the log.
        """
        local = self.local
        if offset < local.log_start_offset or offset > local.log_end_offset:
            raise self._out_of_range(offset)
        if offset >= max_offset:
            return ReadOutcome()
        return local.guarded(
            "reading", self.reader.read, offset, max_bytes, max_offset, min_one_batch
        )

    def read_small(
        self,
        offset: int,
        max_bytes: int,
        max_offset: int,
        min_one_batch: bool,
        committed_only: bool,
    ) -> Buffer | None:
        """Return the bytes that `read` would find, if few and available; None: call `read`.

        Available means: the active segment has the position of `offset` among its hints,
        `max_offset` is the log end, and the page cache holds the bytes. With `committed_only`, also
        None if aborted transactions may have to be reported.
        """
        return self.reader.read_small(offset, max_bytes, max_offset, min_one_batch, committed_only)

    def bytes_between(self, offset: int, end_offset: int) -> int:
        """Return the size of the batches from that of `offset` up to `end_offset`; 0 if the first
        segment begins above `offset`.
        """
        if end_offset <= offset:
            return 0
        return self.local.guarded("reading", self.reader.bytes_between, offset, end_offset)

    def offset_for_timestamp(self, timestamp: int) -> FoundOffset | None:
        """See `lookup.offset_for_timestamp`."""
        return self.local.guarded("looking up", self.reader.offset_for_timestamp, timestamp)

    def offset_of_max_timestamp(self) -> FoundOffset | None:
        """See `lookup.offset_of_max_timestamp`."""
        return self.local.guarded("looking up", self.reader.offset_of_max_timestamp)

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[tuple[int, int]]:
        """Return (producer id, first offset) of aborted transactions that overlap [start, end)."""
        return self.local.guarded(
            "looking up", lookup.aborted_transactions, self.local, start_offset, end_offset
        )

    def aborted_in_slice(self, start_offset: int, outcome: ReadOutcome) -> list[tuple[int, int]]:
        """See `lookup.aborted_in_slice`."""
        return self.local.guarded(
            "looking up", lookup.aborted_in_slice, self.local, start_offset, outcome
        )

    def last_stable_offset(self, high_watermark: int) -> int:
        """The first offset not visible to read_committed; at most the high watermark."""
        first = self.producers.unstable_offset_at(high_watermark)
        if first is None or first >= high_watermark:
            return high_watermark
        return max(first, self.log_start_offset)

    def end_offset_for_epoch(self, leader_epoch: int) -> tuple[int, int]:
        """See `LeaderEpochs.end_offset_for`."""
        return self.leader_epochs.end_offset_for(leader_epoch, self.log_end_offset)

    def active_producers(self, now_ms: int) -> list[ProducerStateEntry]:
        """Return the producers that have not expired (DescribeProducers)."""
        self.producers.remove_expired(now_ms)
        return self.producers.active_producers()

    def expire_producers(self, now_ms: int) -> None:
        """Remove producers without an open transaction, silent for producer.id.expiration.ms."""
        self.producers.remove_expired(now_ms)

    def _out_of_range(self, offset: int) -> KafkaError:
        return KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"Received request for offset {offset} for partition {self.topic_partition}, but we "
            f"only have log segments from {self.log_start_offset} upto {self.log_end_offset}.",
        )

    # -- flushing -------------------------------------------------------------------------------

    def prepare_flush(self, *, active_indexes: bool = True) -> FlushJob | None:
        """Write what is queued; return the job of `LogFlusher.prepare` up to the log end, if any.

        After the job, `complete_flush` moves the recovery point.
        """
        self.write_pending()
        return self.flusher.prepare(self.log_end_offset, active_indexes=active_indexes)

    def complete_flush(self, job: FlushJob, now_ms: int | None = None) -> None:
        """See `LogFlusher.complete`."""
        self.flusher.complete(job, now_ms)

    def mark_flushed(self, offset: int, now_ms: int | None = None) -> None:
        """Record that everything below `offset` is synced."""
        self.flusher.mark_flushed(offset, now_ms)

    def flush(self, now_ms: int | None = None) -> None:
        """Fsync up to the log end. It blocks."""
        self.write_pending()
        self.flusher.flush(now_ms)

    # -- truncating and deleting ----------------------------------------------------------------

    def truncate_to(self, offset: int, now_ms: int | None = None) -> bool:
        """Cut every batch that contains an offset >= `offset`, and end the log there; return False
        if it does not end above `offset`.
        """
        self.write_pending()
        now_ms = self.local.now_ms if now_ms is None else now_ms
        return self.local.guarded("truncating", self._truncate_to, offset, now_ms)

    def _truncate_to(self, offset: int, now_ms: int) -> bool:
        local = self.local
        if offset >= local.log_end_offset:
            # Even then, an epoch that began at the end without records must be removed.
            self.leader_epochs.truncate_from_end(local.log_end_offset)
            return False
        _log.info("%s: truncating to offset %d", self.topic_partition, offset)
        if self.segments.first.base_offset > offset:
            self.truncate_fully_and_start_at(offset, now_ms)
            return True
        local.cut_segments(offset, now_ms)
        self._end_at(offset)
        self.leader_epochs.truncate_from_end(offset)
        local.log_start_offset = min(local.log_start_offset, offset)
        rebuild_producer_state(self.snapshots, self.segments, local.log_start_offset, offset)
        self.chores.truncated(self)
        return True

    def truncate_fully_and_start_at(self, offset: int, now_ms: int | None = None) -> None:
        """Delete everything and restart at `offset`."""
        self.write_pending()
        local = self.local
        now_ms = local.now_ms if now_ms is None else now_ms
        with local.guard("truncating the whole log"):
            for segment in list(self.segments):
                local.remove_segment(segment)
            local.new_segment(offset, now_ms)
            self._end_at(offset)
            local.log_start_offset = offset
            self.leader_epochs.clear()
            self.snapshots.truncate_fully_and_start_at(offset)
        self.chores.truncated(self)

    def skip_to(self, offset: int, now_ms: int) -> None:
        """Let the log end at `offset`, without a batch since its end: a copy of a log whose last
        batches were compacted or lost.
        """
        self.roll(now_ms, offset)
        self.local.log_end_offset = offset
        self.local.has_new_names = True
        self.queue.restart_at(offset)

    def _end_at(self, offset: int) -> None:
        self.local.end_at(offset)
        self.local.has_new_names = True
        self.queue.restart_at(offset)
        self.flusher.end_at(offset)

    def advance_log_start_offset(self, offset: int) -> bool:
        """Move the log start up to `offset`; return False if it is there or later. The caller has
        checked the high watermark.
        """
        if offset <= self.log_start_offset:
            return False
        self.local.log_start_offset = offset
        with self.local.guard("moving the log start offset"):
            self.leader_epochs.truncate_from_start(offset)
            self.producers.on_log_start_offset(offset)
        self.chores.log_start_moved(self)
        return True

    def delete_old_segments(self, now_ms: int, high_watermark: int) -> int:
        """Apply retention; return how many segments were deleted."""
        self.write_pending()
        return self.local.guarded(
            "deleting old segments", self._delete_old_segments, now_ms, high_watermark
        )

    def _delete_old_segments(self, now_ms: int, high_watermark: int) -> int:
        deleted = 0
        for reason, is_breached in retention_rules(self.local, now_ms):
            deletable = deletable_segments(self.local, high_watermark, is_breached)
            if deletable:
                self._delete_oldest(deletable, reason, now_ms)
                deleted += len(deletable)
        return deleted

    def _delete_oldest(self, deletable: list[Segment], reason: str, now_ms: int) -> None:
        if len(deletable) == len(self.segments):
            self.roll(now_ms)  # there must always be a segment to append to
        following = self.segments.higher(deletable[-1].base_offset)
        assert following is not None
        self.advance_log_start_offset(following.base_offset)
        for segment in deletable:
            _log.info("%s: deleting %r: %s breached", self.topic_partition, segment, reason)
            self.local.remove_segment(segment)

    # -- closing and failing --------------------------------------------------------------------

    def close(self) -> None:
        """Close cleanly: write queued batches and a producer snapshot, cut files, sync all."""
        job = self.prepare_close()
        if job is not None:
            with self.local.guard("closing"):
                job.run()
        self.finish_close(job)

    def prepare_close(self, with_parent: bool = True) -> FlushJob | None:
        """Do all of `close` but waiting for the disk; then run the job, then `finish_close`."""
        self.write_pending()
        with self.local.guard("closing"):
            self.producers.map_end_offset = self.log_end_offset
            self.local.has_new_names |= self.snapshots.take()
            return self.flusher.prepare_close(with_parent=with_parent)

    def finish_close(self, job: FlushJob | None) -> None:
        if job is not None:
            self.mark_flushed(job.offset)
        self.local.release()

    def failure(self, action: str, error: OSError) -> LogDirFailure:
        """Take the log offline after a disk error; return the exception for the caller to raise.

        Queued batches will never be written.
        """
        return self.local.failure(action, error)

    def release(self) -> None:
        """Take the log offline and release its descriptors, without writing."""
        self.local.is_offline = True
        self.chores.forget(self.flusher)
        self.local.release()

    def move_to(self, directory: str, *, sync: bool = True) -> None:
        """Rename the partition's directory: set it aside (-delete, -stray), or put a copy in place.

        Without sync a power failure may restore the old name; see log_removal.
        """
        self.write_pending()
        self.local.move_to(directory, sync=sync)
