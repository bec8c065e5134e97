"""Takes logs out of use: their directories are set aside, and perhaps deleted later.

    /a/orders-0 -> /a/orders-0.<id>-delete    deleted after log.segment.delete.delay.ms
    /a/orders-0 -> /a/orders-0.<id>-stray     left for an operator to inspect

State: the logs that were deleted since their log directory was synced, numbered: a power failure
       may bring them back.
Invariant: a deleted log does not come back beside one of its partition in another log directory,
       because the next start refuses two.
Source: Kafka's LogManager.asyncDelete, which syncs the log directory after each renaming.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from pykbroker.environment.files import Files, LogDirFailure
from pykbroker.log.directories.chores import Chores
from pykbroker.log.directories.log_creation import NothingCreated
from pykbroker.log.directories.log_directories import LogDirectories
from pykbroker.log.directories.log_directory import LogDirectory
from pykbroker.log.directories.partition_directories import DELETE, STRAY, aside_name
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.types import TopicPartition

_log = logging.getLogger(__name__)


class LogRemoval:
    """Takes logs out of use. `delay_ms` returns the node's log.segment.delete.delay.ms."""

    def __init__(
        self,
        files: Files,
        directories: LogDirectories,
        chores: Chores,
        delay_ms: Callable[[], int],
    ) -> None:
        self._files = files
        self._directories = directories
        self._chores = chores
        self._delay_ms = delay_ms
        self._deletions = 0
        self._unsynced: dict[str, dict[TopicPartition, int]] = {}

    def delete(self, log: PartitionLog) -> None:
        """Set the directory aside immediately; its files are deleted after the delay.

        A topic may have thousands of partitions, so nothing is synced here: housekeeping syncs the
        log directories that `unsynced` returns.
        """
        self._forget(log)
        self._set_aside(log, DELETE)
        self._deletions += 1
        self._unsynced.setdefault(log.log_directory, {})[log.topic_partition] = self._deletions
        self._delete_later(log)

    def delete_copy(self, log: PartitionLog) -> None:
        """Delete a copy; durably, because the next start refuses two copies of a log."""
        self._set_aside(log, DELETE, sync=True)
        self._delete_later(log)

    def delete_replaced(self, log: PartitionLog) -> None:
        """Delete a log that has been set aside, because a copy has taken its place."""
        self._forget(log)
        self._delete_later(log)

    def make_stray(self, log: PartitionLog) -> None:
        """Set a log aside for an operator to inspect; durably, because a log of its name may be
        created elsewhere.
        """
        self._forget(log)
        self._set_aside(log, STRAY, sync=True)
        log.release()
        _log.warning("Log of %s is stray and was moved to %s", log.topic_partition, log.directory)

    def make_unopened_stray(self, topic_partition: TopicPartition, path: str) -> None:
        """Set aside the directory of a log that was not opened and belongs to another topic."""
        parent = path.rpartition("/")[0]
        aside = f"{parent}/{aside_name(topic_partition, self._files.unique_id(), STRAY)}"
        try:
            self._files.rename(path, aside)
            self._files.sync_dir(parent)
        except OSError as error:
            raise LogDirFailure(parent, f"renaming {path}", error) from error
        self._directories.at(parent).checkpoints.forget(topic_partition)
        _log.warning("%s belongs to another topic and was moved to %s", path, aside)

    def unsynced(self) -> list[tuple[LogDirectory, int]]:
        """Return the log directories to be synced, with the number of the last deletion.

        A directory that is offline cannot be synced any more.
        """
        return [
            (directory, self._deletions)
            for directory in self._directories
            if directory.is_online and directory.path in self._unsynced
        ]

    def synced(self, path: str, last: int) -> None:
        """A log directory was synced after the deletions up to the one with the number `last`."""
        deleted = self._unsynced.pop(path, {})
        later = {partition: number for partition, number in deleted.items() if number > last}
        if later:
            self._unsynced[path] = later

    def sync_before_creating(self, topic_partition: TopicPartition, target: str) -> None:
        """Sync the other log directories in which a log of the partition was just deleted.
        NothingCreated if one of them fails.
        """
        for directory, last in self.unsynced():
            if directory.path != target and topic_partition in self._unsynced[directory.path]:
                try:
                    self._files.sync_dir(directory.path)
                except OSError as error:
                    raise NothingCreated(directory.path, "syncing", error) from error
                self.synced(directory.path, last)

    def _forget(self, log: PartitionLog) -> None:
        """Drop its checkpoint entries: they must not apply to the next log of its name."""
        for directory in self._directories:
            if directory.path == log.log_directory:
                directory.checkpoints.forget(log.topic_partition)

    def _set_aside(self, log: PartitionLog, kind: str, *, sync: bool = False) -> None:
        name = aside_name(log.topic_partition, self._files.unique_id(), kind)
        log.move_to(f"{log.log_directory}/{name}", sync=sync)

    def _delete_later(self, log: PartitionLog) -> None:
        self._chores.delete_later([log.directory], self._delay_ms(), is_directory=True)
        log.release()
