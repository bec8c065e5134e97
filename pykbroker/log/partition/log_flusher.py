"""The durable part of a log: the recovery point, and the flushes that move it.

State: the recovery point, the closed or recovered segments that are in no job yet, the latest job.
In:    offsets to flush to, closed segments, completed jobs. Out: FlushJobs; LogDirFailure,
       OSError when closing.
Invariants: the records below the recovery point survive a power failure; it never passes the log
       end; `complete` ignores a job that was prepared before a truncation.
Source: Kafka's UnifiedLog.flush, LocalLog.markFlushed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pykbroker.log.partition.flush import FlushJob
from pykbroker.log.partition.local_log import LocalLog
from pykbroker.log.segments.segment import Segment

if TYPE_CHECKING:
    from pykbroker.config import TopicConfig


class LogFlusher:
    """Flushes a log. It notes a roll in the log's chores."""

    __slots__ = (
        "_closed_unsynced",
        "_is_directory_durable",
        "_latest_job",
        "_local",
        "due_offset",
        "last_flush_ms",
        "recovery_point",
    )

    def __init__(self, local: LocalLog, recovery_point: int, *, is_directory_durable: bool) -> None:
        self._local = local
        self.recovery_point = recovery_point
        self.last_flush_ms = local.now_ms
        self._closed_unsynced: tuple[Segment, ...] = ()
        """Rolled or recovered since the last job: this wrote to their indexes."""
        self._latest_job: FlushJob | None = None
        self._is_directory_durable = is_directory_durable
        """False: the directory is new, the next flush syncs its name and partition.metadata."""
        self.update_config(local.config)

    def update_config(self, config: TopicConfig) -> None:
        self.due_offset = self.recovery_point + config.flush_messages
        """flush.messages: when the log ends here, it must be flushed."""

    def _move_recovery_point(self, offset: int) -> None:
        self.recovery_point = offset
        self.due_offset = offset + self._local.config.flush_messages

    @property
    def is_offline(self) -> bool:
        return self._local.is_offline

    def note_roll(self, closed: Segment) -> None:
        """Record that the active segment was closed, also in the log's chores."""
        self._closed_unsynced += (closed,)
        self._local.chores.rolled(self)

    def note_recovered(self, segments: Iterable[Segment]) -> None:
        """Record that the indexes of segments were rebuilt, even if they end below the recovery
        point; the next flush includes them.
        """
        self._closed_unsynced += tuple(segments)

    def end_at(self, offset: int) -> None:
        """Lower the recovery point after the log was truncated at `offset`."""
        self._move_recovery_point(min(self.recovery_point, offset))

    # -- in parts, the waiting elsewhere --------------------------------------------------------

    def prepare(self, offset: int, *, active_indexes: bool = True) -> FlushJob | None:
        """Return the job that must run, in any thread, before the recovery point moves to `offset`;
        None if it is there and no segment was closed or recovered since the last job. Raises
        LogDirFailure.

        With active_indexes False the indexes of the active segment are not synced: for a log whose
        last segment is always indexed again after a crash.
        """
        if offset <= self.recovery_point and not self._closed_unsynced:
            return None
        with self._local.guard("flushing"):
            segments = self._take_unsynced(offset)
            for segment in segments:
                segment.offset_index.write_back()
                segment.time_index.write_back()
        return self._job(offset, segments, None if active_indexes else self._local.active)

    def prepare_closed(self) -> FlushJob | None:
        """Like `prepare`, up to the beginning of the active segment."""
        return self.prepare(self._local.active.base_offset)

    def prepare_close(self, *, with_parent: bool) -> FlushJob | None:
        """Close the active segment and return the job that syncs everything, None if all is synced;
        without the parent the caller syncs that. Raises OSError.
        """
        local = self._local
        changed = self._take_unsynced(local.log_end_offset)
        active = local.active
        if active.is_writable:
            active.become_inactive()
            if active not in changed:
                changed.append(active)
        is_behind = self._latest_job is not None and not self._latest_job.has_run
        is_behind = is_behind or local.has_new_names or local.leader_epochs.is_dirty
        if not changed and not is_behind:
            return None
        return self._job(local.log_end_offset, changed, with_parent=with_parent)

    def complete(self, job: FlushJob, now_ms: int | None = None) -> None:
        """Move the recovery point after a job, unless the log was truncated or went offline
        meanwhile.
        """
        if job.truncations == self._local.truncations and not self._local.is_offline:
            self.mark_flushed(job.offset, now_ms)

    def mark_flushed(self, offset: int, now_ms: int | None = None) -> None:
        """Record that everything below `offset` is synced."""
        offset = min(offset, self._local.log_end_offset)
        if offset > self.recovery_point:
            self._move_recovery_point(offset)
            self.last_flush_ms = self._local.now_ms if now_ms is None else now_ms

    def _take_unsynced(self, offset: int) -> list[Segment]:
        """Return the segments that the flush up to `offset` must sync."""
        segments = self._local.segments
        latest = self._latest_job
        given_up = () if latest is None or latest.has_run else latest.segments
        found = {id(s): s for s in (*given_up, *self._closed_unsynced) if s in segments}
        self._closed_unsynced = ()
        if offset > self.recovery_point:
            found |= {id(s): s for s in segments.within(self.recovery_point, offset)}
        return list(found.values())

    def _job(
        self,
        offset: int,
        segments: list[Segment],
        without_indexes_of: Segment | None = None,
        *,
        with_parent: bool = True,
    ) -> FlushJob:
        job = FlushJob(
            self._local,
            offset,
            segments,
            self.recovery_point,
            is_new=not self._is_directory_durable,
            before=self._latest_job,
            with_parent=with_parent,
            without_indexes_of=without_indexes_of,
        )
        self._is_directory_durable = True
        self._latest_job = job
        return job

    # -- here and now ---------------------------------------------------------------------------

    def flush(self, now_ms: int | None = None) -> None:
        """Fsync up to the log end. It blocks; raises LogDirFailure."""
        job = self.prepare(self._local.log_end_offset)
        if job is not None:
            with self._local.guard("flushing"):
                job.run()
            self.complete(job, now_ms)
