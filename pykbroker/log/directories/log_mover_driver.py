"""Moves partitions between the log directories of a node while they are written to (KIP-113).

State: one task for each partition that is being moved: it fills a future log from the current one,
       and once the future log has caught up, it puts it in the place of the current one.
Invariants: the current log serves until the very step in which the complete and synced copy
       replaces it; requesting another target, or the current directory, ends a move. The next
       start resumes a move that has not ended, if it finds the copy.
Source: Kafka's ReplicaAlterLogDirsThread.scala, ReplicaManager.alterReplicaLogDirs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.deferred import Task, ended, spawn
from pykbroker.environment import Environment
from pykbroker.environment.files import LogDirFailure
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.directories.partition_directories import FUTURE, MAX_NAME
from pykbroker.log.partition.holes import first_hole, gaps

if TYPE_CHECKING:
    from pykbroker.log.directories.log_manager import LogManager
    from pykbroker.log.partition.partition_log import PartitionLog
    from pykbroker.types import TopicPartition

_log = logging.getLogger(__name__)

CHUNK_BYTES = 1 << 20
HOLE_CHECK_MS = 500
ID_LENGTH = 32


class LogMover:
    """Moves the partitions of one node."""

    def __init__(
        self,
        manager: LogManager,
        environment: Environment,
        on_failure: Callable[[LogDirFailure], None],
    ) -> None:
        self._manager = manager
        self._scheduler = environment.scheduler
        self._threads = environment.background.threads("log-mover")
        self._now_ms = environment.clock.now_ms
        self._on_failure = on_failure
        self._tasks: dict[TopicPartition, Task] = {}

    def move(self, topic_partition: TopicPartition, path: str) -> None:
        """Begin to move a partition's log, unless it is on its way there. A move elsewhere ends,
        also if the log is there already.

        KafkaError: LOG_DIR_NOT_FOUND, KAFKA_STORAGE_ERROR (`path` is offline, or any directory when
        a copy has to be created, or one fails), REPLICA_NOT_AVAILABLE (this node has no log of the
        partition), INVALID_TOPIC_EXCEPTION (the name is too long for the suffix, KAFKA-4893).
        """
        suffix = f".{'0' * ID_LENGTH}-{FUTURE}"
        if len(str(topic_partition)) + len(suffix) > MAX_NAME:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, "The topic name is too long.")
        try:
            self._manager.directories.at(path)
        except KeyError:
            raise KafkaError(ErrorCode.LOG_DIR_NOT_FOUND) from None
        except LogDirFailure as failure:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(failure)) from failure
        current = self._manager.get(topic_partition)
        if current is None:
            raise KafkaError(ErrorCode.REPLICA_NOT_AVAILABLE)
        try:
            self._begin_towards(topic_partition, path, current)
        except LogDirFailure as failure:
            self._on_failure(failure)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(failure)) from failure

    def _begin_towards(
        self, topic_partition: TopicPartition, path: str, current: PartitionLog
    ) -> None:
        future = self._manager.future(topic_partition)
        if future is not None and future.log_directory != path:
            self.cancel(topic_partition)
            future = None
        if current.log_directory == path:
            return
        if future is None:
            if not all(directory.is_online for directory in self._manager.directories):
                # The partition's copy from an earlier move may be in the offline directory.
                raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "a log directory is offline")
            self._manager.moves.create_copy(topic_partition, path, self._now_ms())
        self._begin(topic_partition)

    def resume(self) -> None:
        """Resume the moves that the previous run had begun and whose copies were found."""
        for topic_partition in self._manager.future_partitions():
            self._begin(topic_partition)

    def _begin(self, topic_partition: TopicPartition) -> None:
        if topic_partition not in self._tasks:
            self._tasks[topic_partition] = spawn(self._move(topic_partition))

    def cancel(self, topic_partition: TopicPartition) -> None:
        """Cancel a move; the partition stays where it is.

        Raises LogDirFailure if the copy cannot be renamed: the next start that finds the copy
        resumes the move.
        """
        task = self._tasks.pop(topic_partition, None)
        if task is not None:
            task.cancel()
        self._manager.moves.drop_copy(topic_partition)

    async def stop(self) -> None:
        """Stop the moves, for `resume` after the next start."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await ended(tasks)
        self._threads.close()

    @property
    def moving(self) -> list[TopicPartition]:
        return list(self._tasks)

    async def _move(self, topic_partition: TopicPartition) -> None:
        await self._scheduler.sleep(0)  # not in the same turn as the request
        try:
            await self._copy(topic_partition)
        except LogDirFailure as failure:
            self._on_failure(failure)
        except KafkaError as fault:
            _log.error("%s cannot be moved: %s", topic_partition, fault.message)
        except Exception:
            _log.exception("%s cannot be moved", topic_partition)
        self._tasks.pop(topic_partition, None)

    async def _copy(self, topic_partition: TopicPartition) -> None:
        """Copy until the future log holds everything that the current one does, then swap them;
        end early if one of the two is gone.
        """
        is_synced = False
        truncations = hole = None
        while True:
            source = self._manager.get(topic_partition)
            future = self._manager.future(topic_partition)
            if source is None or future is None:  # deleted, or a directory failed
                return
            if source.truncations != truncations:
                truncations = source.truncations
                cut_at_hole(source, future, self._now_ms())
                cut_what_differs(source, future, self._now_ms())
                hole = first_hole(source)
            if source.local.unsynced_from is None:
                hole = None  # the log leads, or it was cut there
            align(source, future, self._now_ms())
            if hole is not None and future.log_end_offset >= hole:
                await self._scheduler.sleep(HOLE_CHECK_MS)
            elif future.log_end_offset == source.log_end_offset and not source.has_pending:
                if is_synced:
                    self._promote(topic_partition, source, future)
                    return
                await self._sync(future)
                is_synced = True
            else:
                await self._copy_chunk(source, future)

    async def _copy_chunk(self, source: PartitionLog, future: PartitionLog) -> None:
        offset = future.log_end_offset
        outcome = source.read(offset, CHUNK_BYTES, source.log_end_offset)
        if outcome.slice is None:
            if source.has_pending:
                await self._scheduler.sleep(0)  # the end of the next round writes it
            else:  # a power failure, a truncation or compaction took the last batches
                future.skip_to(source.log_end_offset, self._now_ms())
            return
        truncations = source.truncations
        try:
            payload = await self._threads.run(outcome.slice.read)
        except OSError as error:  # also if the file has become shorter
            if source.is_offline or source.truncations != truncations:
                return
            raise source.failure("copying", error) from error
        if future.is_offline or future.log_end_offset != offset:
            return
        if source.truncations != truncations:
            return  # the bytes may be half old and half new
        first = int.from_bytes(payload[:8], "big", signed=True)
        if first < offset and future.log_start_offset == offset:
            # The log starts within a batch (DeleteRecords): the copy must hold the whole batch.
            future.truncate_fully_and_start_at(first, self._now_ms())
        appended = future.append_as_follower(payload, self._now_ms())
        if appended.error:
            raise KafkaError(appended.error, appended.error_message)
        future.write_pending()

    async def _sync(self, future: PartitionLog) -> None:
        """Sync most of the copy while the partition is still being written to."""
        job = future.prepare_flush()
        if job is not None:
            try:
                await self._threads.run(job.run)
            except OSError as error:
                raise future.failure("syncing the copy of", error) from error
            future.complete_flush(job, self._now_ms())

    def _promote(
        self, topic_partition: TopicPartition, source: PartitionLog, future: PartitionLog
    ) -> None:
        future.advance_log_start_offset(source.log_start_offset)
        old = source.log_directory
        log = self._manager.moves.promote(topic_partition)
        _log.info("%s moved from %s to %s", topic_partition, old, log.log_directory)


def cut_at_hole(source: PartitionLog, future: PartitionLog, now_ms: int) -> None:
    """Truncate the copy at its first gap in which the current log has batches: a power failure took
    them from the copy, or the log was copied with a hole of its own and has fetched them since.
    """
    future.local.unsynced_from = None
    for start, end in gaps(future, 0):
        if source.bytes_between(max(start, source.log_start_offset), end):
            _log.warning(
                "%s: offsets from %d on are missing in the middle of the copy: copying them again",
                future.topic_partition,
                start,
            )
            future.truncate_to(start, now_ms)
            return


def cut_what_differs(source: PartitionLog, future: PartitionLog, now_ms: int) -> None:
    """Truncate the copy to where it agrees with the current log, which may have been truncated.

    An earlier run of this node may have made the copy, so the logs are compared by leader epoch
    (KIP-101), beginning with the latest of the copy. A copy without epochs restarts.
    """
    if future.leader_epochs.latest_epoch is None:
        if future.log_end_offset > source.log_start_offset:
            future.truncate_fully_and_start_at(source.log_start_offset, now_ms)
        return
    while (latest := future.leader_epochs.latest_epoch) is not None:
        epoch, end_offset = source.end_offset_for_epoch(latest)
        if epoch != latest:
            end_offset = future.leader_epochs.epochs.entries[-1][1]
        elif end_offset >= future.log_end_offset:
            return
        future.truncate_to(end_offset, now_ms)


def align(source: PartitionLog, future: PartitionLog, now_ms: int) -> None:
    """Let a copy that ends before the current log's start begin there, and truncate one that ends
    after its end.
    """
    if future.log_end_offset < source.log_start_offset:
        future.truncate_fully_and_start_at(source.log_start_offset, now_ms)
    elif future.log_end_offset > source.log_end_offset:
        future.truncate_to(source.log_end_offset, now_ms)
