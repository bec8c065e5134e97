"""The one timer of all logs: retention, flushes, checkpoints, deletions, expired producers.

Invariants: there is no timer per partition. The tasks run one after another; a thread waits for
       their fsyncs and checkpoint writes and unlinks what was deleted. Retention and the expiry of
       producers run in slices, so that the loop serves clients in between. A directory that fails
       is reported, and the others continue.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from pykbroker.deferred import Task, ended, spawn
from pykbroker.environment import Environment
from pykbroker.environment.files import Files, LogDirFailure
from pykbroker.errors import KafkaError
from pykbroker.log.directories.checkpoints import (
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
)
from pykbroker.log.directories.chores import Deletion
from pykbroker.log.directories.offset_checkpoints import (
    high_watermarks,
    log_starts,
    recovery_points,
)
from pykbroker.log.partition.flush import FlushJob
from pykbroker.log.partition.log_flusher import LogFlusher
from pykbroker.log.partition.partition_log import PartitionLog

if TYPE_CHECKING:
    from pykbroker.log.directories.log_directory import LogDirectory
    from pykbroker.log.directories.log_manager import LogManager
    from pykbroker.log.directories.log_mover_driver import LogMover
    from pykbroker.types import TopicPartition

_log = logging.getLogger(__name__)

CHORES_INTERVAL_MS = 1000
LOGS_PER_SLICE = 64
NEVER_MS = 1 << 53

#: These first run when their interval has passed (ProducerStateManager: an idempotent producer of
#: old records stays known for a while after a start).
LATER_TASKS = ("chores", "high watermarks", "producers")


class HousekeepingDriver:
    """`start` after the logs are loaded; `await stop()` before they are closed.

    Tasks are scheduled by the deadline clock; record timestamps are compared with the wall clock.
    high_watermarks: those of the replica manager, for retention and replication-offset-checkpoint.
    on_failure: the function that takes a failed directory offline.
    """

    def __init__(
        self,
        log_manager: LogManager,
        environment: Environment,
        *,
        high_watermarks: Callable[[], Mapping[TopicPartition, int]],
        on_failure: Callable[[LogDirFailure], None],
    ) -> None:
        self._manager = log_manager
        self._environment = environment
        self._scheduler = environment.scheduler
        self._now_ms = environment.clock.now_ms
        self._wall_ms = environment.clock.wall_ms
        self._high_watermarks = high_watermarks
        self._on_failure = on_failure
        self._threads = environment.background.threads("housekeeping")
        self._mover: LogMover | None = None
        self._task: Task | None = None
        config = log_manager.config
        self._tasks: list[tuple[str, int, Callable[[], Awaitable[None]]]] = [
            ("chores", CHORES_INTERVAL_MS, self.do_chores),
            (
                "high watermarks",
                config.replica_high_watermark_checkpoint_interval_ms,
                self.checkpoint_high_watermarks,
            ),
            ("retention", config.log_retention_check_interval_ms, self.apply_retention),
            ("flush", config.log_flush_scheduler_interval_ms, self.flush_old),
            (
                "recovery points",
                config.log_flush_offset_checkpoint_interval_ms,
                self.checkpoint_recovery_points,
            ),
            (
                "log start offsets",
                config.log_flush_start_offset_checkpoint_interval_ms,
                self.checkpoint_log_start_offsets,
            ),
            (
                "producers",
                config.producer_id_expiration_check_interval_ms,
                self.expire_producers,
            ),
        ]
        self._due_ms: list[int] = []

    def start(self) -> None:
        """Most tasks run first log.initial.task.delay.ms after the start (30 s), as in Kafka."""
        now_ms = self._now_ms()
        delay_ms = self._manager.config.log_initial_task_delay_ms
        self._due_ms = [
            now_ms + (interval if name in LATER_TASKS else delay_ms)
            for name, interval, _ in self._tasks
        ]
        self._task = spawn(self._run())
        if self._manager.future_partitions():
            self.mover.resume()

    @property
    def mover(self) -> LogMover:
        """Return the mover of partitions between log directories; created at the first call."""
        if self._mover is None:
            from pykbroker.log.directories.log_mover_driver import LogMover

            self._mover = LogMover(
                self._manager,
                self._environment,
                self._on_failure,
            )
        return self._mover

    async def stop(self) -> None:
        if self._task is not None:
            task, self._task = self._task, None
            task.cancel()
            await ended([task])
        if self._mover is not None:
            await self._mover.stop()
        self._threads.close()

    async def _run(self) -> None:
        while True:
            await self._scheduler.sleep(min(self._due_ms) - self._now_ms())
            await self.run_due()

    async def run_due(self) -> None:
        """Run the tasks that are due, one after another."""
        now_ms = self._now_ms()
        for index, (name, interval_ms, task) in enumerate(self._tasks):
            if self._due_ms[index] <= now_ms:
                try:
                    await task()
                except LogDirFailure as failure:
                    self._on_failure(failure)
                except Exception:
                    _log.exception("Housekeeping task %r failed", name)
                # As in KafkaScheduler, a task without a period runs once.
                self._due_ms[index] = self._now_ms() + interval_ms if interval_ms > 0 else NEVER_MS

    async def _for_each_log(self, visit: Callable[[PartitionLog], None]) -> None:
        """Visit the logs that are online, in slices; a failing directory is reported once."""
        for number, log in enumerate(list(self._manager.logs())):
            if log.is_offline:
                continue
            try:
                visit(log)
            except LogDirFailure as failure:
                self._on_failure(failure)
            except KafkaError:
                # A damaged log, which its `corrupt` has reported; the others are still visited.
                continue
            if number % LOGS_PER_SLICE == LOGS_PER_SLICE - 1:
                await self._scheduler.sleep(0)

    # -- tasks ----------------------------------------------------------------------------------

    async def do_chores(self) -> None:
        """Fsync closed segments and the directories of deleted logs; delete the files whose
        deletion delay has passed.

        After a truncation the recovery points come first: the next start would not check what was
        written below the former ones.
        """
        if self._manager.chores.take_truncated():
            await self.checkpoint_recovery_points()
        await self._flush_rolled()
        await self._sync_removed()
        deletions = self._manager.chores.due_deletions(self._now_ms())
        if deletions:
            await self._threads.run(partial(delete_files, self._manager.files, deletions))

    async def _flush_rolled(self) -> None:
        for flusher in self._manager.chores.take_rolled():
            assert isinstance(flusher, LogFlusher)
            if not flusher.is_offline:
                await self._flush(flusher.prepare_closed, flusher.complete)

    async def _sync_removed(self) -> None:
        """Sync the directories of logs that were deleted: a power failure brings none back."""
        removal = self._manager.removal
        for directory, last in removal.unsynced():
            try:
                await self._threads.run(directory.sync)
                removal.synced(directory.path, last)
            except LogDirFailure as failure:
                self._on_failure(failure)

    async def _flush(
        self, prepare: Callable[[], FlushJob | None], complete: Callable[[FlushJob, int], None]
    ) -> None:
        """Fsync in a thread what `prepare` finds in one log."""
        try:
            job = prepare()
            if job is not None:
                await self._threads.run(partial(run_flush, job))
                complete(job, self._now_ms())
        except LogDirFailure as failure:
            self._on_failure(failure)

    async def flush_old(self) -> None:
        """Flush the logs with unflushed records that were last flushed flush.ms ago or earlier."""
        now_ms = self._now_ms()
        for log in list(self._manager.logs()):
            if (
                not log.is_offline
                and log.log_end_offset > log.recovery_point
                and now_ms - log.last_flush_ms >= log.config.flush_ms
            ):
                await self._flush(log.prepare_flush, log.complete_flush)

    async def apply_retention(self) -> None:
        """Delete old segments, and sync what that has closed.

        If all records of a log are deleted, the snapshot just written is all that is left of its
        producers, so it must not wait for the chores.
        """
        now_ms = self._wall_ms()
        high_watermarks = self._high_watermarks()

        def visit(log: PartitionLog) -> None:
            log.delete_old_segments(now_ms, high_watermarks.get(log.topic_partition, 0))

        await self._for_each_log(visit)
        await self._flush_rolled()

    async def expire_producers(self) -> None:
        now_ms = self._wall_ms()
        await self._for_each_log(lambda log: log.expire_producers(now_ms))

    async def checkpoint_high_watermarks(self) -> None:
        offsets = dict(self._high_watermarks())
        for directory in self._manager.directories:
            if directory.is_online:
                found = high_watermarks(self._manager.logs_in(directory), offsets)
                await self._checkpoint(directory, REPLICATION_OFFSET_CHECKPOINT, found)

    async def checkpoint_recovery_points(self) -> None:
        for directory in self._manager.directories:
            if directory.is_online:
                found = recovery_points(self._manager.logs_in(directory))
                await self._checkpoint(directory, RECOVERY_POINT_CHECKPOINT, found)

    async def checkpoint_log_start_offsets(self) -> None:
        for directory in self._manager.directories:
            if directory.is_online:
                found = log_starts(self._manager.logs_in(directory))
                await self._checkpoint(directory, LOG_START_OFFSET_CHECKPOINT, found)

    async def _checkpoint(
        self, directory: LogDirectory, name: str, offsets: Mapping[TopicPartition, int]
    ) -> None:
        """Write a file of one directory; if that fails, those of the others are still written."""
        try:
            await directory.checkpoints.write_in(self._threads.run, name, offsets)
        except LogDirFailure as failure:
            self._on_failure(failure)


def run_flush(job: FlushJob) -> None:
    try:
        job.run()
    except OSError as error:
        raise LogDirFailure(job.log_directory, "flushing", error) from error


def delete_files(files: Files, deletions: list[Deletion]) -> None:
    """Delete files, best effort: the next start retries those that cannot be deleted."""
    for deletion in deletions:
        for path in deletion.paths:
            try:
                if deletion.is_directory:
                    files.remove_tree(path)
                else:
                    files.unlink(path)
            except OSError as error:
                if not isinstance(error, FileNotFoundError):
                    _log.error("Cannot delete %s: %s", path, error)
