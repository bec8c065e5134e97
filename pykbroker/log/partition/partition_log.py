"""The log of one partition: an append-only sequence of record batches, in segments.

    log_start_offset     recovery_point           log_end_offset     next_offset
          v                    v                        v                v
      ----+--------------------+------------------------+----------------+
          |  on disk for sure  |  written, not synced   | queued         |

State: the segments, the offsets above, producer state, leader epochs, and the batches queued since
       the last `write_pending`.
In:    batches to append (views of received frames stay views), offsets to read, truncate, delete.
Out:   AppendOutcome, ReadOutcome with a FileSlice; KafkaError for an offset out of range;
       LogDirFailure when the disk failed.
Invariants: offsets only grow; readers never see past log_end_offset; a failed write takes back
       exactly what was queued; every append of a turn is one writev (one more for each roll).
Source: Kafka's UnifiedLog.java and LocalLog.java.
"""

from __future__ import annotations

import logging
import os

from pykbroker.log.partition.flush import FlushJob
from pykbroker.log.partition.log_appending import AppendOrigin, AppendOutcome, LogAppending
from pykbroker.log.partition.log_reading import LogReading
from pykbroker.log.partition.retention import deletable_segments, retention_rules
from pykbroker.log.recovery.segment_recovery import rebuild_producer_state
from pykbroker.log.segments.segment import Segment

__all__ = ["AppendOrigin", "AppendOutcome", "PartitionLog"]

_log = logging.getLogger(__name__)


class PartitionLog(LogAppending, LogReading):
    """See the module. Made by recovery.open_log and by LogManager."""

    __slots__ = ()

    # -- flushing -------------------------------------------------------------------------------

    def prepare_flush(
        self, up_to_active: bool = True, *, active_indexes: bool = True
    ) -> FlushJob | None:
        """What must be fsynced so that the recovery point may move; run it anywhere.

        With up_to_active False only the closed segments (after a roll). With active_indexes False
        the indexes of the active segment stay as they are: for a log whose last segment is always
        indexed again after a crash.
        """
        self.write_pending()
        offset = self.log_end_offset if up_to_active else self.active.base_offset
        if offset <= self.recovery_point and not self.closed_unsynced:
            return None
        with self.guard("flushing"):
            segments = self._take_unsynced(offset)
            for segment in segments:
                segment.offset_index.write_back()
                segment.time_index.write_back()
        without = None if active_indexes else self.active
        return FlushJob(self, offset, segments, without_indexes_of=without)

    def _take_unsynced(self, offset: int) -> list[Segment]:
        """The segments that the flush up to `offset` must sync."""
        found = {id(s): s for s in self.closed_unsynced if s in self.segments}
        self.closed_unsynced = []
        if offset > self.recovery_point:
            found |= {id(s): s for s in self.segments.within(self.recovery_point, offset)}
        return list(found.values())

    def flush(self, now_ms: int | None = None) -> None:
        """fsync up to the log end, here and now. Blocks."""
        job = self.prepare_flush()
        if job is not None:
            with self.guard("flushing"):
                job.run()
            self.complete_flush(job, now_ms)

    def complete_flush(self, job: FlushJob, now_ms: int | None = None) -> None:
        """The job ran: move the recovery point, unless the log was truncated under it."""
        if job.truncations == self.truncations and not self.is_offline:
            self.mark_flushed(job.offset, now_ms)

    def mark_flushed(self, offset: int, now_ms: int | None = None) -> None:
        offset = min(offset, self.log_end_offset)
        if offset > self.recovery_point:
            self.recovery_point = offset
            self.last_flush_ms = self._now_ms if now_ms is None else now_ms

    # -- truncating and deleting ----------------------------------------------------------------

    def truncate_to(self, offset: int, now_ms: int | None = None) -> bool:
        """Cut every batch that holds an offset >= `offset`; False when there is none."""
        self.write_pending()
        now_ms = self._now_ms if now_ms is None else now_ms
        return self.guarded("truncating", self._truncate_to, offset, now_ms)

    def _truncate_to(self, offset: int, now_ms: int) -> bool:
        if offset >= self.log_end_offset:
            # Even so an epoch that began at the end without records must go.
            self.leader_epochs.truncate_from_end(self.log_end_offset)
            self.epochs_changed()
            return False
        _log.info("%s: truncating to offset %d", self.topic_partition, offset)
        if self.segments.first.base_offset > offset:
            self.truncate_fully_and_start_at(offset, now_ms)
            return True
        for segment in self.segments.above(offset):
            self.remove_segment(segment)
        self.active = self.segments.last
        self.active.truncate_to(offset, now_ms)
        self._end_at(offset)
        self.leader_epochs.truncate_from_end(offset)
        self.epochs_changed()
        self.log_start_offset = min(self.log_start_offset, offset)
        rebuild_producer_state(self.snapshots, self.segments, self.log_start_offset, offset)
        return True

    def truncate_fully_and_start_at(self, offset: int, now_ms: int | None = None) -> None:
        """Throw everything away and begin again at `offset`."""
        self.write_pending()
        now_ms = self._now_ms if now_ms is None else now_ms
        with self.guard("truncating the whole log"):
            for segment in list(self.segments):
                self.remove_segment(segment)
            self.new_segment(offset, now_ms)
            self._end_at(offset)
            self.log_start_offset = offset
            self.leader_epochs.clear()
            self.epochs_changed()
            self.snapshots.truncate_fully_and_start_at(offset)

    def advance_log_start_offset(self, offset: int) -> bool:
        """DeleteRecords and retention; the caller has checked it against the high watermark."""
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        with self.guard("moving the log start offset"):
            self.leader_epochs.truncate_from_start(offset)
            self.producers.on_log_start_offset(offset)
        self.chores.log_start_moved(self)
        return True

    def expire_producers(self, now_ms: int) -> None:
        """Forget idempotent producers that were silent for producer.id.expiration.ms."""
        self.producers.remove_expired(now_ms)

    def delete_old_segments(self, now_ms: int, high_watermark: int) -> int:
        """Retention; returns how many segments it took away."""
        self.write_pending()
        return self.guarded(
            "deleting old segments", self._delete_old_segments, now_ms, high_watermark
        )

    def _delete_old_segments(self, now_ms: int, high_watermark: int) -> int:
        deleted = 0
        for reason, is_breached in retention_rules(self, now_ms):
            deletable = deletable_segments(self, high_watermark, is_breached)
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
            self.remove_segment(segment)

    def _end_at(self, offset: int) -> None:
        self.truncations += 1
        self.log_end_offset = self.next_offset = offset
        self.recovery_point = min(self.recovery_point, offset)

    # -- closing and failing --------------------------------------------------------------------

    def close(self) -> None:
        """Clean: queued batches written, a producer snapshot at the end, files cut, all synced."""
        job = self.prepare_close()
        if job is not None:
            with self.guard("closing"):
                job.run()
        self.finish_close(job)

    def prepare_close(self, with_parent: bool = True) -> FlushJob | None:
        """All of `close` but the waiting for the disk; then the job runs, then `finish_close`."""
        self.write_pending()
        with self.guard("closing"):
            self.producers.map_end_offset = self.log_end_offset
            self.snapshots.take()
            changed = self._take_unsynced(self.log_end_offset)
            if self.active.is_writable:
                self.active.become_inactive()
                if self.active not in changed:
                    changed.append(self.active)
            if changed or self.leader_epochs.is_dirty:
                return FlushJob(self, self.log_end_offset, changed, with_parent=with_parent)
        return None

    def finish_close(self, job: FlushJob | None) -> None:
        if job is not None:
            self.mark_flushed(job.offset)
        for segment in self.segments:
            segment.release()

    def release(self) -> None:
        """Give descriptors back without writing: the disk failed or the partition is deleted."""
        self.is_offline = True
        self.chores.forget(self)
        for segment in self.segments:
            segment.release()

    def move_to(self, directory: str, *, sync: bool = True) -> None:
        """Rename the partition's directory (-delete, -stray, -future).

        Without sync a crash may bring the old name back: of a deleted partition that is harmless.
        """
        self.write_pending()
        with self.guard("renaming the directory"):
            self.files.rename(self.directory, directory)
            if sync:
                self.files.sync_dir(os.path.dirname(directory))
        self.directory = directory
        for segment in self.segments:
            segment.move_to(directory)
        self.leader_epochs.move_to(directory)
        self.snapshots.move_to(directory)
