"""Determines how dirty a compacted log is, and records how far each has been cleaned.

State   per partition: the first dirty offset (`cleaner-offset-checkpoint`), which logs are being
        cleaned, and which cannot be cleaned (until a restart, or a new log of that name).
Invariants
    From the first dirty offset on, no segment is cleaned that reaches beyond the last stable offset
    or has a record younger than min.compaction.lag.ms, nor one after it; and never the active one.
    One round at a time for each log.

    dirty ratio = cleanable bytes / (clean bytes + cleanable bytes): a log is due above
    min.cleanable.dirty.ratio, or when the first batch of a dirty segment is older than
    max.compaction.lag.ms and there is something to clean.

Source: Kafka's LogCleanerManager.java.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.environment.files import Files
    from pykbroker.log.compaction.round import CompactionJob
    from pykbroker.log.partition.partition_log import PartitionLog
    from pykbroker.log.segments.segment import Segment

_log = logging.getLogger(__name__)

_END_OF_TIME = 0x7FFF_FFFF_FFFF_FFFF


class LogToClean(NamedTuple):
    """A log as a candidate for cleaning. Offsets as in CompactionJob."""

    log: PartitionLog
    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    is_overdue: bool
    truncations: int

    @property
    def dirty_ratio(self) -> float:
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0

    @property
    def is_due(self) -> bool:
        if self.is_overdue and self.cleanable_bytes > 0:
            return True
        return self.dirty_ratio > self.log.config.min_cleanable_dirty_ratio


class CleanerState:
    """Which logs are clean up to where, are being cleaned, or cannot be cleaned."""

    def __init__(self) -> None:
        self.first_dirty: dict[TopicPartition, int] = {}
        self.in_progress: set[TopicPartition] = set()
        self.uncleanable: set[TopicPartition] = set()
        self._identities: dict[TopicPartition, object] = {}

    def load(self, offsets: Mapping[TopicPartition, int], logs: Iterable[PartitionLog]) -> None:
        """Load the checkpoint of a log directory, for the logs that it covers."""
        for log in logs:
            partition = log.topic_partition
            if partition in offsets:
                self.first_dirty[partition] = offsets[partition]
                self._identities[partition] = log.local.identity

    # -- choosing -------------------------------------------------------------------------------

    def consider(self, log: PartitionLog, high_watermark: int, now_ms: int) -> LogToClean | None:
        """Return the log if it is due and may be cleaned now, else None. Raises OSError,
        CorruptSegment, CorruptIndex.
        """
        partition = log.topic_partition
        if not self._is_of(log):
            self.removed(partition)  # the topic was recreated, or the replica has come back
        if (
            not log.config.compact
            or len(log.segments) < 2
            or log.is_offline
            or partition in self.in_progress
            or partition in self.uncleanable
        ):
            return None
        candidate = self.examine(log, high_watermark, now_ms)
        return candidate if candidate.is_due else None

    def begin(self, chosen: LogToClean) -> None:
        self.in_progress.add(chosen.log.topic_partition)

    def examine(self, log: PartitionLog, high_watermark: int, now_ms: int) -> LogToClean:
        """Determine how dirty a log is."""
        first_dirty = self._first_dirty_of(log)
        closed = [segment for segment in log.segments if segment is not log.active]
        bound = min(log.last_stable_offset(high_watermark), log.active.base_offset)
        lag_ms = log.config.min_compaction_lag_ms
        if lag_ms > 0:
            for segment in closed:
                if (
                    _ends_after(log, segment, first_dirty)
                    and segment.largest_timestamp().timestamp > now_ms - lag_ms
                ):
                    bound = min(bound, segment.base_offset)
                    break
        bound = max(bound, first_dirty)
        # Only whole segments are cleaned, up to the first that reaches beyond the bound.
        uncleanable = log.active.base_offset
        for segment in closed:
            if _ends_after(log, segment, bound):
                uncleanable = segment.base_offset
                break
        clean = sum(s.size for s in closed if not _ends_after(log, s, first_dirty))
        cleanable = sum(
            s.size
            for s in closed
            if _ends_after(log, s, first_dirty) and s.base_offset < uncleanable
        )
        return LogToClean(
            log,
            first_dirty,
            uncleanable,
            clean,
            cleanable,
            _is_overdue(log, closed, first_dirty, now_ms),
            log.truncations,
        )

    def _first_dirty_of(self, log: PartitionLog) -> int:
        start = log.log_start_offset
        partition = log.topic_partition
        if not self._is_of(log):
            self.removed(partition)
        self._identities[partition] = log.local.identity
        known = self.first_dirty.get(partition, start)
        if start <= known <= log.log_end_offset:
            return known
        if known > log.log_end_offset or not log.config.delete:
            _log.warning(
                "%s: the first dirty offset is reset to the log start %d, %d is outside the log",
                log.topic_partition,
                start,
                known,
            )
        self.first_dirty[log.topic_partition] = start
        return start

    # -- what happened --------------------------------------------------------------------------

    def finished(self, partition: TopicPartition, end_offset: int) -> None:
        self.in_progress.discard(partition)
        self.first_dirty[partition] = end_offset

    def aborted(self, partition: TopicPartition) -> None:
        """The round was aborted; the log counts as dirty as before."""
        self.in_progress.discard(partition)

    def failed(self, partition: TopicPartition) -> None:
        """The log cannot be cleaned; it is skipped, and the others continue."""
        self.in_progress.discard(partition)
        self.uncleanable.add(partition)

    def truncated(self, log: PartitionLog) -> None:
        """The end of the log was cut off: records that replace it are dirty. (LogManager lowers
        the checkpoint.)
        """
        partition = log.topic_partition
        bound = log.active.base_offset
        if self._is_of(log) and self.first_dirty.get(partition, bound) > bound:
            self.first_dirty[partition] = bound

    def removed(self, partition: TopicPartition) -> None:
        self.uncleanable.discard(partition)
        self.first_dirty.pop(partition, None)
        self._identities.pop(partition, None)

    def checkpoint_of(self, logs: Iterable[PartitionLog]) -> dict[TopicPartition, int]:
        """Return the checkpoint of the directory that holds these logs.

        Logs that are no longer compacted are kept in it, because recovery treats gaps in other logs
        as losses.
        """
        return {
            log.topic_partition: self.first_dirty[log.topic_partition]
            for log in logs
            if log.topic_partition in self.first_dirty and self._is_of(log)
        }

    def _is_of(self, log: PartitionLog) -> bool:
        """Return False if the known state belongs to an older log with the same name.

        True also if nothing is known.
        """
        identity = log.local.identity
        return self._identities.get(log.topic_partition, identity) is identity


def _ends_after(log: PartitionLog, segment: Segment, offset: int) -> bool:
    """Return whether the segment may hold offsets at or above `offset`."""
    following = log.segments.higher(segment.base_offset)
    return following is None or following.base_offset > offset


def _is_overdue(log: PartitionLog, closed: list[Segment], first_dirty: int, now_ms: int) -> bool:
    """Return whether the first batch of a dirty segment is older than max.compaction.lag.ms."""
    lag_ms = max(log.config.max_compaction_lag_ms, 0)
    if lag_ms == _END_OF_TIME:
        return False
    oldest = _END_OF_TIME
    for segment in closed:
        if segment.size and _ends_after(log, segment, first_dirty):
            if segment.first_timestamp is None:
                segment.first_timestamp = segment.header_at(0).max_timestamp
            if segment.first_timestamp > 0:
                oldest = min(oldest, segment.first_timestamp)
    return oldest < now_ms - lag_ms


def make_job(
    chosen: LogToClean,
    high_watermark: int,
    now_ms: int,
    *,
    map_bytes: int,
    io_buffer_bytes: int,
) -> tuple[CompactionJob, list[Segment]]:
    """Return the job for a worker, and the segments that it covers. Raises OSError,
    CorruptIndex.
    """
    from pykbroker.log.compaction.round import CompactionJob, SourceSegment

    log = chosen.log
    segments = [
        segment
        for segment in log.segments
        if segment.base_offset < chosen.first_uncleanable_offset and segment is not log.active
    ]
    aborted = {
        tuple(entry)
        for segment in log.segments
        for entry in segment.txn_index.index
        if entry.first_offset < chosen.first_uncleanable_offset
    }
    config = log.config
    job = CompactionJob(
        directory=log.directory,
        segments=tuple(
            SourceSegment(
                segment.base_offset,
                segment.size,
                _size_of(log.files, segment.offset_index.path),
                _size_of(log.files, segment.time_index.path),
                log.files.modified_ms(segment.file.path),
            )
            for segment in segments
        ),
        first_dirty_offset=chosen.first_dirty_offset,
        first_uncleanable_offset=chosen.first_uncleanable_offset,
        high_watermark=high_watermark,
        now_ms=now_ms,
        delete_retention_ms=config.delete_retention_ms,
        segment_bytes=config.segment_bytes,
        segment_index_bytes=config.segment_index_bytes,
        index_interval_bytes=config.index_interval_bytes,
        map_bytes=map_bytes,
        io_buffer_bytes=io_buffer_bytes,
        aborted=tuple(sorted(aborted)),  # type: ignore[arg-type]
        last_records=tuple(
            (entry.producer_id, entry.last_offset, entry.producer_epoch)
            for entry in log.producers.active_producers()
        ),
    )
    return job, segments


def _size_of(files: Files, path: str) -> int:
    try:
        return files.size(path)
    except FileNotFoundError:
        return 0
