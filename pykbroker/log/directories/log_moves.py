"""Moves logs between the log directories of a node: makes copies, and puts them in place.

    /a/orders-0                    the log, until its copy is complete
    /b/orders-0.<id>-future        the copy, which log_mover_driver fills

The copies and the current logs are those of LogManager. A crash within `promote` leaves one log of
a partition, or a copy that the next start with all directories promotes; log_promotion.py has the
exception, a failing directory.

Source: Kafka's LogManager.java (getOrCreateLog, replaceCurrentWithFutureLog).
"""

from __future__ import annotations

from collections.abc import Callable

from pykbroker.environment.files import Files
from pykbroker.log.directories.checkpoints import (
    CLEANER_OFFSET_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
)
from pykbroker.log.directories.directory_loader import Logs
from pykbroker.log.directories.log_directories import LogDirectories
from pykbroker.log.directories.log_promotion import put_in_place
from pykbroker.log.directories.log_removal import LogRemoval
from pykbroker.log.directories.partition_directories import DELETE, FUTURE, aside_name
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.types import TopicPartition


class LogMoves:
    """Moves logs between the log directories of a node. `create` creates an empty log."""

    def __init__(
        self,
        files: Files,
        directories: LogDirectories,
        removal: LogRemoval,
        current: Logs,
        copies: Logs,
        create: Callable[..., PartitionLog],
    ) -> None:
        self._files = files
        self._directories = directories
        self._removal = removal
        self._current = current
        self._copies = copies
        self._create = create
        self._on_moved: Callable[[TopicPartition, PartitionLog], None] = lambda *_: None

    def follow(self, moved: Callable[[TopicPartition, PartitionLog], None]) -> None:
        """Call `moved` whenever a partition's log was replaced by its copy."""
        self._on_moved = moved

    def create_copy(
        self, topic_partition: TopicPartition, directory: str, now_ms: int = 0
    ) -> PartitionLog:
        """Create an empty copy in another directory, to be filled and then promoted. Raises
        LogDirFailure; KeyError if the partition has no log or the directory is unknown.
        """
        current = self._current[topic_partition]
        target = self._directories.at(directory)
        name = aside_name(topic_partition, self._files.unique_id(), FUTURE)
        log = self._create(target, name, topic_partition, current.topic_id, current.config, now_ms)
        if current.log_start_offset:
            log.truncate_fully_and_start_at(current.log_start_offset, now_ms)
        self._copies[topic_partition] = log
        return log

    def promote(self, topic_partition: TopicPartition) -> PartitionLog:
        """Replace a log by its copy, which has caught up; the old log, if there is one, is deleted.
        Raises LogDirFailure.
        """
        copy = self._copies[topic_partition]
        old = self._current.get(topic_partition)
        copy.flush()
        if old is None:
            copy.move_to(f"{copy.log_directory}/{topic_partition}")
        else:
            self._hand_over(old, copy)
            put_in_place(old, aside_name(topic_partition, self._files.unique_id(), DELETE), copy)
            self._removal.delete_replaced(old)
        del self._copies[topic_partition]
        self._current[topic_partition] = copy
        self._on_moved(topic_partition, copy)
        return copy

    def _hand_over(self, old: PartitionLog, copy: PartitionLog) -> None:
        """Hand the state of the log to the copy, and its compaction and log start checkpoints to
        the new directory; they are durable unless their file is just being written.
        """
        copy.local.identity = old.local.identity
        copy.producers.verifications = old.producers.verifications
        partition = old.topic_partition
        before = self._directories.at(old.log_directory).checkpoints
        after = self._directories.at(copy.log_directory).checkpoints
        cleaned = before.offsets(CLEANER_OFFSET_CHECKPOINT).get(partition)
        if cleaned is not None:
            after.put(CLEANER_OFFSET_CHECKPOINT, partition, cleaned)
        if partition in before.offsets(LOG_START_OFFSET_CHECKPOINT):
            after.put(LOG_START_OFFSET_CHECKPOINT, partition, copy.log_start_offset)

    def drop_copy(self, topic_partition: TopicPartition) -> None:
        """Delete the copy, if there is one."""
        log = self._copies.pop(topic_partition, None)
        if log is not None:
            self._removal.delete_copy(log)
