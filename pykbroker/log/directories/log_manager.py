"""The topics' logs of a node, across its log directories.

State: the logs by partition; future logs (copies that move between directories); the directories
       of logs that were not opened; chores; parts with a state or rules of their own:
           LogDirectories (`log_directories`)   locks, look-ups, which directory is offline
           LogMoves (`log_moves`)               copies, and how they replace logs
           LogRemoval (`log_removal`)           what is set aside or deleted
Invariants: a partition has at most one current log; a LogDirFailure is that of one directory, and
       the others continue; nothing here waits for a timer (housekeeping_driver does).
Source: Kafka's LogManager.java.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from pykbroker.config import TopicConfig
from pykbroker.environment.files import Files, LogDirFailure
from pykbroker.environment.slices import Breathe, go_on
from pykbroker.log.directories.checkpoints import (
    CLEANER_OFFSET_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
)
from pykbroker.log.directories.chores import Chores
from pykbroker.log.directories.closing import IN_ONE_GO, Closing, close_directory
from pykbroker.log.directories.directory_loader import DirectoryLoader, Loading, Logs
from pykbroker.log.directories.log_creation import NothingCreated, create_log
from pykbroker.log.directories.log_directories import LogDirectories
from pykbroker.log.directories.log_directory import LogDirectory, PartitionUnidentified
from pykbroker.log.directories.log_moves import LogMoves
from pykbroker.log.directories.log_removal import LogRemoval
from pykbroker.log.directories.log_table import LogTable
from pykbroker.log.directories.offset_checkpoints import (
    high_watermarks,
    log_starts,
    recovery_points,
)
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.config import BrokerConfig
    from pykbroker.log.directories.directory_report import DirectoryReport, Wanted

_log = logging.getLogger(__name__)

NO_BROKER_EPOCH = -1


class LogManager:
    """The topics' logs of a node."""

    def __init__(
        self,
        directories: Sequence[str],
        config: BrokerConfig,
        files: Files,
        *,
        topic_config: Callable[[str], TopicConfig] | None = None,
        topic_id: Callable[[str], bytes | None] | None = None,
        jitter: Callable[[int], int] | None = None,
        loading: Loading | None = None,
        on_offline: Callable[[LogDirectory], None] | None = None,
    ) -> None:
        """`on_offline` is called with each directory that fails after it was opened."""
        self.files = files
        self.config = config
        self.directories = LogDirectories(files, directories, on_offline)
        self.chores = Chores()
        self.chores.follow_truncations(self._on_truncated)
        self.jitter = jitter
        self._topic_config = topic_config
        self._topic_id = topic_id
        self._loading = loading
        self._current = LogTable()
        self._future: Logs = {}
        self._unidentified: dict[TopicPartition, str] = {}
        """Logs that were not opened: whose they are, or their order, cannot be told."""
        self.removal = LogRemoval(
            files, self.directories, self.chores, lambda: self.config.log_segment_delete_delay_ms
        )
        self.moves = LogMoves(
            files, self.directories, self.removal, self._current, self._future, self._create_in
        )

    def on_config(self, config: BrokerConfig) -> None:
        """Apply a change of the dynamic configuration; the cleaner reads it each round."""
        self.config = config
        for logs in (self._current, self._future):
            for log in logs.values():
                log.snapshots.expire_after(config.producer_id_expiration_ms)

    # -- starting and stopping ------------------------------------------------------------------

    def load(self, now_ms: int) -> None:
        """Open the existing logs, like `open_logs`, without waiting: RuntimeError if it has to."""
        opening = self.open_logs(now_ms)
        try:
            opening.send(None)
        except StopIteration:
            return
        opening.close()
        raise RuntimeError("logs are being recovered elsewhere: await open_logs")

    async def open_logs(self, now_ms: int) -> None:
        """Open the existing logs, and recover them after an unclean shutdown. Raises
        DirectoryRefused if the node must not start.
        """
        self.directories.open()
        loader = DirectoryLoader(
            self.files,
            self.config,
            self.chores,
            topic_config=self._topic_config,
            topic_id=self._topic_id,
            jitter=self.jitter,
            loading=self._loading,
            now_ms=now_ms,
            unidentified=self._unidentified,
        )
        for directory in self.directories:
            if directory.is_online:
                try:
                    await loader.load(directory, self._current, self._future)
                except LogDirFailure as failure:
                    self.on_dir_failure(failure.directory, failure)
        self._promote_abandoned()
        self.directories.require_one()

    def _promote_abandoned(self) -> None:
        """Promote copies without a log, as a crash during a promotion leaves them; not while the
        log may be in a directory that is offline.
        """
        unopened = self._unidentified.keys()  # a log that is there, but closed
        for topic_partition in sorted(self._future.keys() - self._current.keys() - unopened):
            if not all(directory.is_online for directory in self.directories):
                return
            _log.info("Promoting the abandoned copy of %s", topic_partition)
            try:
                self.moves.promote(topic_partition)
            except LogDirFailure as failure:
                self.on_dir_failure(failure.directory, failure)

    def shutdown(self, now_ms: int, broker_epoch: int = NO_BROKER_EPOCH) -> None:
        """Close the logs like `close_logs`, in one go."""
        with suppress(StopIteration):
            self.close_logs(broker_epoch).send(None)

    async def close_logs(
        self,
        broker_epoch: int = NO_BROKER_EPOCH,
        offsets: Mapping[TopicPartition, int] | None = None,
        closing: Closing = IN_ONE_GO,
    ) -> None:
        """Write the high watermarks `offsets`, if given; then close each online directory (see
        `close_directory`), and unlock all. Nothing may be appended meanwhile.

        Failures are logged. A directory is not marked as clean if its logs, or its checkpoints
        other than the high watermarks, fail.
        """
        if offsets is not None:
            for directory in self.directories:
                job = partial(self.checkpoint_high_watermarks, directory, offsets)
                try:
                    await closing.run_jobs([job])
                except LogDirFailure as failure:
                    _log.error("The high watermarks were not written: %s", failure)
        for directory in self.directories:
            if directory.is_online:
                logs = self.logs_in(directory, with_future=True)
                checkpoints = [self.checkpoint_recovery_points, self.checkpoint_log_start_offsets]
                try:
                    await close_directory(directory, logs, checkpoints, broker_epoch, closing)
                except LogDirFailure as failure:
                    _log.error("The shutdown was not clean: %s", failure)
        self.directories.unlock()

    # -- logs -----------------------------------------------------------------------------------

    def get(self, topic_partition: TopicPartition) -> PartitionLog | None:
        return self._current.get(topic_partition)

    def future(self, topic_partition: TopicPartition) -> PartitionLog | None:
        return self._future.get(topic_partition)

    def future_partitions(self) -> list[TopicPartition]:
        """Return the partitions of which there is a copy, to be moved to another directory."""
        return list(self._future)

    def logs(self) -> Iterable[PartitionLog]:
        return self._current.values()

    def logs_in(self, directory: LogDirectory, with_future: bool = False) -> list[PartitionLog]:
        logs = list(self._current.values())
        if with_future:
            logs += self._future.values()
        return [log for log in logs if log.log_directory == directory.path]

    def create(
        self,
        topic_partition: TopicPartition,
        topic_id: bytes | None,
        config: TopicConfig,
        directory: str | None = None,
        now_ms: int = 0,
        *,
        is_new: bool = True,
    ) -> PartitionLog:
        """Create a log, by default in the online directory with the fewest logs. Raises
        LogDirFailure of that directory, or of another one in which an older log of the partition
        was; KeyError if `directory` is not one of the node's.

        is_new False: the partition may have a log already. Then PartitionUnidentified is raised if
        a log that was not opened may be that of the partition, and LogDirFailure while any
        directory is offline, which may contain the log: an empty one elsewhere would lose data now
        and be a duplicate log later.
        """
        if not is_new:
            for each in self.directories:
                if each.failure is not None:
                    raise each.failure
        self._require_free(topic_partition, is_new)
        if not is_new:
            _log.warning(
                "%s is in no log directory: an empty log is created for it", topic_partition
            )
        self._drop_copy(topic_partition)
        if directory is None:
            target = self.directories.for_new_log(self._current.counts)
        else:
            target = self.directories.at(directory)
        self.removal.sync_before_creating(topic_partition, target.path)
        log = self._create_in(
            target, str(topic_partition), topic_partition, topic_id, config, now_ms
        )
        self._current[topic_partition] = log
        return log

    def _drop_copy(self, topic_partition: TopicPartition) -> None:
        """Delete the copy of an earlier log, if there is one. NothingCreated if that fails."""
        try:
            self.moves.drop_copy(topic_partition)
        except LogDirFailure as failure:
            cause = OSError(str(failure))
            raise NothingCreated(failure.directory, "deleting a copy", cause) from failure

    def _require_free(self, topic_partition: TopicPartition, is_new: bool) -> None:
        """Raise PartitionUnidentified if a log that was not opened may be that of the partition. It
        cannot be that of a new partition, for which it is set aside.
        """
        path = self._unidentified.get(topic_partition)
        if path is None:
            return
        if not is_new:
            raise PartitionUnidentified(f"{path} was not opened at the start")
        self.removal.make_unopened_stray(topic_partition, path)
        del self._unidentified[topic_partition]

    def _create_in(
        self,
        target: LogDirectory,
        name: str,
        topic_partition: TopicPartition,
        topic_id: bytes | None,
        config: TopicConfig,
        now_ms: int,
    ) -> PartitionLog:
        target.checkpoints.settle(topic_partition)
        return create_log(
            self.files,
            target.path,
            name,
            topic_partition,
            config,
            now_ms=now_ms,
            topic_id=topic_id,
            chores=self.chores,
            jitter=self.jitter,
            producer_id_expiration_ms=self.config.producer_id_expiration_ms,
        )

    def delete(self, topic_partition: TopicPartition) -> None:
        """Set the directory aside immediately; its files are deleted after the node's
        log.segment.delete.delay.ms.

        Raises LogDirFailure; then the copy of a log that is being moved is nevertheless deleted.
        """
        try:
            self._delete(self._current, topic_partition)
        finally:
            self._delete(self._future, topic_partition)

    def _delete(self, logs: Logs, topic_partition: TopicPartition) -> None:
        log = logs.pop(topic_partition, None)
        if log is not None:
            self.removal.delete(log)

    def make_stray(self, log: PartitionLog) -> None:
        """Set a log, or the copy of one, aside for an operator to inspect."""
        for logs in (self._current, self._future):
            if logs.get(log.topic_partition) is log:
                del logs[log.topic_partition]
                self.removal.make_stray(log)

    # -- what follows the logs ------------------------------------------------------------------

    def follow_moves(self, moved: Callable[[TopicPartition, PartitionLog], None]) -> None:
        """Call `moved` whenever a partition's log was replaced by its copy in another directory."""
        self.moves.follow(moved)

    def follow_log_starts(self, moved: Callable[[PartitionLog], None]) -> None:
        """Call `moved` when a log's start offset has grown, but not by a truncation."""
        self.chores.follow_log_starts(moved)

    def _on_truncated(self, log: PartitionLog) -> None:
        """Lower the cleaner's checkpoint: records that replace truncated ones are not clean."""
        if self._current.get(log.topic_partition) is log:
            checkpoints = self.directories.at(log.log_directory).checkpoints
            bound = log.active.base_offset
            checkpoints.lower(CLEANER_OFFSET_CHECKPOINT, log.topic_partition, bound)

    # -- directories ----------------------------------------------------------------------------

    def directory_id_of(self, log: PartitionLog) -> bytes | None:
        return self.directories.at(log.log_directory).directory_id

    def on_dir_failure(
        self, path: str, failure: LogDirFailure | None = None
    ) -> list[TopicPartition]:
        """Take a directory offline; return the partitions whose current log was in it."""
        self.directories.fail(path, failure)
        gone = []
        for logs in (self._current, self._future):
            for topic_partition, log in list(logs.items()):
                if log.log_directory == path:
                    log.release()
                    del logs[topic_partition]
                    if logs is self._current:
                        gone.append(topic_partition)
        return gone

    def reports(self, wanted: Wanted = None, breathe: Breathe = go_on) -> list[DirectoryReport]:
        """Return what DescribeLogDirs reports of every directory; see `report_directory`."""
        from pykbroker.log.directories.directory_report import report_directory

        return [
            report_directory(directory, self._current, self._future, wanted, breathe)
            for directory in self.directories
        ]

    # -- checkpoints ----------------------------------------------------------------------------

    def checkpointed_high_watermark(self, topic_partition: TopicPartition) -> int:
        log = self._current.get(topic_partition)
        for directory in self.directories:
            if log is None or directory.path == log.log_directory:
                found = directory.high_watermarks.get(topic_partition)
                if found is not None:
                    return found
        return 0

    def checkpoint_recovery_points(self, directory: LogDirectory) -> None:
        offsets = recovery_points(self.logs_in(directory))
        directory.checkpoints.write(RECOVERY_POINT_CHECKPOINT, offsets)

    def checkpoint_log_start_offsets(self, directory: LogDirectory) -> None:
        offsets = log_starts(self.logs_in(directory))
        directory.checkpoints.write(LOG_START_OFFSET_CHECKPOINT, offsets)

    def checkpoint_high_watermarks(
        self, directory: LogDirectory, offsets: Mapping[TopicPartition, int]
    ) -> None:
        if directory.is_online:
            found = high_watermarks(self.logs_in(directory), offsets)
            directory.checkpoints.write(REPLICATION_OFFSET_CHECKPOINT, found)
