"""The cleaner of a node: picks the dirtiest log, has a worker process compact it, swaps segments.

State   `log.cleaner.threads` workers, each with its current round.
Invariants
    Records are read, hashed and copied in the worker, not on the loop, which reads headers and
    indexes to choose a log, and renames; directories are synced in the worker's thread. A log that
    is truncated, deleted or moved during cleaning keeps the segments that are not swapped yet. A
    log that is being copied to another directory is not cleaned, because the
    copy has the old contents and would be considered clean. A partition that cannot be cleaned is
    marked, and the others continue. No log is cleaned by two workers at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.deferred import Mutex, Task, ended, spawn
from pykbroker.environment import Environment
from pykbroker.environment.files import LogDirFailure
from pykbroker.log.compaction.cleaner_state import CleanerState, LogToClean, make_job
from pykbroker.log.compaction.compaction_worker_driver import CompactionWorker
from pykbroker.log.directories.checkpoints import CLEANER_OFFSET_CHECKPOINT
from pykbroker.log.segments.index_files import CorruptIndex
from pykbroker.log.segments.segment import CLEANED_SUFFIX, CorruptSegment
from pykbroker.log.segments.segment_swap import discard_cleaned, replace_segments

if TYPE_CHECKING:
    from pykbroker.log.compaction.round import CompactionJob
    from pykbroker.log.directories.log_manager import LogManager
    from pykbroker.log.partition.partition_log import PartitionLog
    from pykbroker.log.segments.segment import Segment
    from pykbroker.types import TopicPartition

_log = logging.getLogger(__name__)

LOGS_PER_SLICE = 64
WORKER_IDLE_MS = 60_000
LEAST_PAUSE_MS = 10  # leaves the event loop free for other work
LONGEST_NAP_MS = 15_000
LEAST_MAP_BYTES = 1024 * 1024


class CleanerDriver:
    """The cleaners of a node. `start` after the logs are loaded; `await stop()` before
    `LogManager.close_logs`.
    """

    def __init__(
        self,
        log_manager: LogManager,
        environment: Environment,
        *,
        high_watermarks: Callable[[], Mapping[TopicPartition, int]],
        on_failure: Callable[[LogDirFailure], None],
    ) -> None:
        self.state = CleanerState()
        self._manager = log_manager
        self._scheduler = environment.scheduler
        self._background = environment.background
        self._now_ms = environment.clock.wall_ms
        self._high_watermarks = high_watermarks
        self._on_failure = on_failure
        self._choosing = Mutex()
        self._checkpointing = Mutex()
        self._tasks: dict[int, Task] = {}
        self.workers: list[CompactionWorker] = []

    def start(self) -> None:
        config = self._manager.config
        if config.log_cleaner_enable:
            self.load_checkpoints()
            self._start(0)

    async def stop(self) -> None:
        for worker in self.workers:
            worker.end_process()
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await ended(tasks)
        for worker in self.workers:
            worker.close()
        self.workers.clear()

    def _start(self, number: int) -> None:
        self._tasks[number] = spawn(self._run(number))

    def load_checkpoints(self) -> None:
        for directory in self._manager.directories:
            offsets = directory.checkpoints.offsets(CLEANER_OFFSET_CHECKPOINT)
            self.state.load(offsets, self._manager.logs_in(directory))
        self._manager.chores.follow_truncations(self.state.truncated)

    async def _run(self, number: int) -> None:
        """Run one of the cleaners; the first always runs and starts the others."""
        idle_ms = 0.0
        await self._scheduler.sleep(0)
        while True:
            config = self._manager.config  # the current value: it may change while the node runs
            if number == 0:
                self._call_in(config.log_cleaner_threads)
            elif number >= config.log_cleaner_threads:
                break
            is_wanted = (
                config.log_cleaner_threads > 0 and config.log_cleaner_io_max_bytes_per_second > 0
            )
            if is_wanted and await self.clean_one(number):
                idle_ms = 0.0
                continue
            idle_ms += await self._pause()
            if idle_ms >= WORKER_IDLE_MS:
                self.worker(number).end_process()
        self.worker(number).end_process()
        del self._tasks[number]

    async def _pause(self) -> float:
        """Wait log.cleaner.backoff.ms, which may be lowered meanwhile; return
        how many milliseconds it was.
        """
        waited_ms = 0.0
        while True:
            left_ms = max(self._manager.config.log_cleaner_backoff_ms, LEAST_PAUSE_MS) - waited_ms
            if left_ms <= 0:
                return waited_ms
            nap_ms = min(left_ms, LONGEST_NAP_MS)
            await self._scheduler.sleep(nap_ms)
            waited_ms += nap_ms

    def _call_in(self, threads: int) -> None:
        for number in range(1, threads):
            if number not in self._tasks:
                self._start(number)

    def worker(self, number: int) -> CompactionWorker:
        """Return the worker of a cleaner; workers are created one after another."""
        while len(self.workers) <= number:
            self.workers.append(CompactionWorker(self._background))
        return self.workers[number]

    # -- one round ------------------------------------------------------------------------------

    async def clean_one(self, number: int = 0) -> bool:
        """Try to clean the dirtiest log that is due; return False if none is."""
        async with self._choosing:
            chosen = await self._choose()
            if chosen is None:
                return False
            self.state.begin(chosen)
        partition = chosen.log.topic_partition
        worker = self.worker(number)
        try:
            end_offset = await self._clean(chosen, worker)
        except LogDirFailure as failure:
            self.state.aborted(partition)
            self._on_failure(failure)
        except Exception:
            _log.exception("%s: compaction failed; the log will not be cleaned again", partition)
            self.state.failed(partition)
        else:
            if end_offset is None:
                self.state.aborted(partition)
                await self._pause()
            elif not self._is_in_place(chosen):
                self.state.aborted(partition)  # deleted, truncated or copied since its last swap
            elif end_offset < 0:
                self.state.failed(partition)
            else:
                self.state.finished(partition, end_offset)
                await self._write_checkpoint(chosen.log, worker)
        finally:
            if partition in self.state.in_progress:
                self.state.aborted(partition)
        return True

    async def _choose(self) -> LogToClean | None:
        dirtiest: LogToClean | None = None
        high_watermarks = self._high_watermarks()
        now_ms = self._now_ms()
        for number, log in enumerate(list(self._manager.logs())):
            mark = high_watermarks.get(log.topic_partition, 0)
            found = self._consider(log, mark, now_ms)
            if found and (dirtiest is None or found.dirty_ratio > dirtiest.dirty_ratio):
                dirtiest = found
            if number % LOGS_PER_SLICE == LOGS_PER_SLICE - 1:
                await self._scheduler.sleep(0)
        return dirtiest

    def _consider(self, log: PartitionLog, mark: int, now_ms: int) -> LogToClean | None:
        """Return the log if it is due; None also after a failure, which must not keep the others
        from being cleaned.
        """
        partition = log.topic_partition
        if self._manager.future(partition) is not None:
            return None
        try:
            return self.state.consider(log, mark, now_ms)
        except OSError as error:
            self._on_failure(log.failure("determining what to compact in", error))
        except (CorruptSegment, CorruptIndex) as fault:
            self._leave_alone(log, str(fault))
            self.state.failed(partition)
        return None

    async def _clean(self, chosen: LogToClean, worker: CompactionWorker) -> int | None:
        """Clean a log; return the offset up to which it is clean, None if aborted, -1 if it cannot
        be cleaned. Raises LogDirFailure.
        """
        log = chosen.log
        config = self._manager.config
        cleaners = max(config.log_cleaner_threads, 1)  # the cleaners share memory and throughput
        mark = self._high_watermarks().get(log.topic_partition, 0)
        job, segments = make_job(
            chosen,
            mark,
            self._now_ms(),
            map_bytes=max(config.log_cleaner_dedupe_buffer_size // cleaners, LEAST_MAP_BYTES),
            io_buffer_bytes=config.log_cleaner_io_buffer_size // cleaners,
        )
        _log.info(
            "%s: compacting offsets %d to %d, %.0f%% dirty",
            log.topic_partition,
            job.first_dirty_offset,
            job.first_uncleanable_offset,
            100 * chosen.dirty_ratio,
        )
        by_base = {segment.base_offset: segment for segment in segments}
        await worker.send(job, config.log_cleaner_io_max_bytes_per_second / cleaners)
        while True:
            message = await worker.receive()
            if message is None:
                _log.warning("%s: the compaction worker ended", log.topic_partition)
                self._discard(job)
                return None
            if "group" in message:
                if not self._swap(chosen, job, by_base, message["group"]):
                    worker.end_process()
                    self._discard(job)
                    return None
                await self._sync_directory(log, worker)
            elif "done" in message:
                _log.info("%s: compacted, %s", log.topic_partition, message["done"])
                return int(message["done"]["end_offset"])
            else:
                self._discard(job)
                return self._failed(chosen, message)

    def _swap(
        self,
        chosen: LogToClean,
        job: CompactionJob,
        by_base: Mapping[int, Segment],
        group: dict[str, list[int]],
    ) -> bool:
        log = chosen.log
        if not self._is_in_place(chosen) or log.directory != job.directory:
            return False
        old = [by_base[base_offset] for base_offset in group["old"]]
        return replace_segments(log.local, old, group["new"], sync=False)

    def _is_in_place(self, chosen: LogToClean) -> bool:
        """Return whether the log still exists, has not been truncated since it was chosen, and is
        not being moved to another directory.
        """
        log = chosen.log
        return (
            self._manager.get(log.topic_partition) is log
            and self._manager.future(log.topic_partition) is None
            and log.truncations == chosen.truncations
        )

    async def _sync_directory(self, log: PartitionLog, worker: CompactionWorker) -> None:
        """Make the swap's renames durable without making the loop wait for the disk."""
        try:
            await worker.in_thread(partial(self._manager.files.sync_dir, log.directory))
        except FileNotFoundError:
            return  # deleted or moved in the meantime
        except OSError as error:
            raise log.failure("syncing the directory of", error) from error

    def _failed(self, chosen: LogToClean, message: dict[str, Any]) -> int | None:
        log = chosen.log
        kind, reason = message["failed"], message["message"]
        # A file that was truncated while the worker read it looks corrupt.
        if kind == "gone" or (kind == "corrupt" and not self._is_in_place(chosen)):
            _log.info("%s: compaction aborted: %s", log.topic_partition, reason)
            return None
        if kind == "io":
            error = OSError(message.get("errno") or 0, reason)
            raise LogDirFailure(log.log_directory, f"compacting {log.topic_partition}", error)
        self._leave_alone(log, reason)
        return -1

    def _leave_alone(self, log: PartitionLog, reason: str) -> None:
        _log.error(
            "%s cannot be compacted and is skipped until the next restart: %s",
            log.topic_partition,
            reason,
        )

    def _discard(self, job: CompactionJob) -> None:
        """Delete the `.cleaned` files of the job's directory, which will not be swapped in."""
        files = self._manager.files
        try:
            names = files.listdir(job.directory)
        except OSError:
            return
        bases = {int(name[:20]) for name in names if name.endswith(CLEANED_SUFFIX)}
        discard_cleaned(files, job.directory, sorted(bases))

    async def _write_checkpoint(self, log: PartitionLog, worker: CompactionWorker) -> None:
        try:
            directory = self._manager.directories.at(log.log_directory)
            async with self._checkpointing:
                offsets = self.state.checkpoint_of(self._manager.logs_in(directory))
                await directory.checkpoints.write_in(
                    worker.in_thread, CLEANER_OFFSET_CHECKPOINT, offsets
                )
        except LogDirFailure as failure:
            self._on_failure(failure)
