"""The offset checkpoints of one log directory, including entries of logs that no longer exist.

    recovery-point-offset-checkpoint     flushed up to
    log-start-offset-checkpoint          log starts above the base of the first segment
    replication-offset-checkpoint        high watermarks
    cleaner-offset-checkpoint            compacted up to

A topic may be deleted and recreated under the same name. An entry of the old log, applied to the
new one, would hide or lose its records.

State   per file: its offsets without those of logs deleted since, and whether the file still
        contains such entries; writes in progress in threads; logs that exist but are not open.
Invariants
    No log is created in the directory while a file has an entry for an older one of its name
    (`settle`), except for a file that a thread is writing just then: a write that was in progress
    when a log was deleted is repeated without it, when it ends. Entries of logs that are not open
    are kept. A file is replaced atomically.
Source  Kafka's LogManager.java (asyncDelete), LogCleanerManager.java (updateCheckpoints).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from pykbroker.environment.files import Files, LogDirFailure
from pykbroker.log.directories.checkpoints import (
    CLEANER_OFFSET_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    CorruptCheckpoint,
    format_offsets,
    parse_offsets,
)
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.deferred import Deferred
    from pykbroker.log.partition.partition_log import PartitionLog

_log = logging.getLogger(__name__)

NAMES = (
    RECOVERY_POINT_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    CLEANER_OFFSET_CHECKPOINT,
)


def recovery_points(logs: Iterable[PartitionLog]) -> dict[TopicPartition, int]:
    """Return the recovery points of the logs; for one that may still have a hole since the recovery
    of this start (holes.py), at most where that began.
    """
    return {log.topic_partition: _checked_from(log) for log in logs}


def _checked_from(log: PartitionLog) -> int:
    unsynced_from = log.local.unsynced_from
    point = log.recovery_point
    return point if unsynced_from is None else min(point, unsynced_from)


def log_starts(logs: Iterable[PartitionLog]) -> dict[TopicPartition, int]:
    """Return the log starts that are above the first segment's base offset."""
    return {
        log.topic_partition: log.log_start_offset
        for log in logs
        if log.log_start_offset > log.segments.first.base_offset
    }


def high_watermarks(
    logs: Iterable[PartitionLog], offsets: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """Select the high watermarks of a directory's logs."""
    partitions = (log.topic_partition for log in logs)
    return {partition: offsets[partition] for partition in partitions if partition in offsets}


class CheckpointWrite:
    """A write that runs in a thread: `run` there, then `OffsetCheckpoints.end` on the loop."""

    __slots__ = ("_checkpoints", "name", "offsets", "written")

    def __init__(
        self, checkpoints: OffsetCheckpoints, name: str, offsets: dict[TopicPartition, int]
    ) -> None:
        self._checkpoints = checkpoints
        self.name = name
        self.offsets = offsets
        self.written: dict[TopicPartition, int] | None = None

    def run(self) -> None:
        offsets = dict(self.offsets)
        self._checkpoints.write(self.name, offsets)
        self.written = offsets


class OffsetCheckpoints:
    """The offset checkpoints of one log directory. Methods raise LogDirFailure on disk errors."""

    def __init__(self, files: Files, directory: str) -> None:
        self._files = files
        self._directory = directory
        self._on_disk: dict[str, dict[TopicPartition, int]] = {name: {} for name in NAMES}
        self._unreadable: set[str] = set()
        self._written: dict[str, bytes] = {}
        self._under_way: dict[str, CheckpointWrite] = {}
        self._gone: set[TopicPartition] = set()
        self._unopened: set[TopicPartition] = set()
        self._stale: set[str] = set()

    def offsets(self, name: str) -> Mapping[TopicPartition, int]:
        """Return the entries of a file as last read or written, without logs that were deleted
        since.
        """
        return self._on_disk[name]

    def is_readable(self, name: str) -> bool:
        return name not in self._unreadable

    def read(self, present: Collection[str]) -> None:
        """Read the files. `present`: the partitions whose logs, or copies of them, exist.

        A checkpoint that does not parse counts as empty (in Kafka its directory goes offline). If
        the disk fails, that is so only for the cleaner's.
        """
        self._unreadable.clear()
        for name in NAMES:
            self._on_disk[name] = self._read(name)
        for topic_partition in set().union(*self._on_disk.values()):
            if str(topic_partition) not in present:
                self.forget(topic_partition)

    def _read(self, name: str) -> dict[TopicPartition, int]:
        path = f"{self._directory}/{name}"
        try:
            return parse_offsets(self._files.read_file(path), path)
        except FileNotFoundError:
            return {}
        except CorruptCheckpoint as fault:
            _log.warning("Starting without a checkpoint: %s", fault)
        except OSError as error:
            if name != CLEANER_OFFSET_CHECKPOINT:  # without it, more has to be compacted
                raise LogDirFailure(self._directory, f"reading {name}", error) from error
        self._unreadable.add(name)
        return {}

    # -- writing --------------------------------------------------------------------------------

    def write(self, name: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace a file, durably, unless this object has last written the same to it."""
        if self._unopened:
            known = self._on_disk[name]
            offsets = {tp: known[tp] for tp in self._unopened if tp in known} | dict(offsets)
        content = format_offsets(offsets)
        if self._written.get(name) != content:
            try:
                self._files.replace_file(f"{self._directory}/{name}", content)
            except OSError as error:
                raise LogDirFailure(self._directory, f"writing {name}", error) from error
            self._written[name] = content
        self._on_disk[name] = dict(offsets)
        self._unreadable.discard(name)
        self._stale.discard(name)

    def put(self, name: str, topic_partition: TopicPartition, offset: int) -> None:
        """Add an entry to a file; if a thread is writing the file, when that ends."""
        write = self._under_way.get(name)
        if write is not None:
            write.offsets[topic_partition] = offset
        else:
            self.write(name, {**self._on_disk[name], topic_partition: offset})

    def lower(self, name: str, topic_partition: TopicPartition, offset: int) -> None:
        """Lower an entry of a file to `offset`, if there is a higher one."""
        write = self._under_way.get(name)
        offsets = self._on_disk[name] if write is None else write.offsets
        if offsets.get(topic_partition, offset) > offset:
            self.put(name, topic_partition, offset)

    def begin(self, name: str, offsets: Mapping[TopicPartition, int]) -> CheckpointWrite:
        """Begin a write for a thread; at most one at a time for each file."""
        write = self._under_way[name] = CheckpointWrite(self, name, dict(offsets))
        return write

    def end(self, write: CheckpointWrite) -> None:
        """End a write, even if it failed; if it succeeded, but entries have changed since, repeat
        it. Does nothing for a write that has ended.
        """
        if self._under_way.get(write.name) is not write:
            return
        del self._under_way[write.name]
        if write.written is not None and write.written != write.offsets:
            self.write(write.name, write.offsets)

    async def write_in(
        self,
        run: Callable[[Callable[[], object]], Deferred],
        name: str,
        offsets: Mapping[TopicPartition, int],
    ) -> None:
        """Replace a file in the thread in which `run` runs a function; at most one at a time for
        each file. If the caller is cancelled meanwhile, because its node stops, the write does not
        end, and nothing is repeated.
        """
        write = self.begin(name, offsets)
        try:
            await run(write.run)
        except LogDirFailure:
            self.end(write)
            raise
        self.end(write)

    def keep(self, topic_partition: TopicPartition) -> None:
        """Keep the entries of a log that exists but was not opened.

        Its recovery point, 0 if unknown, is written, because the next start has to check the log
        from there.
        """
        self._unopened.add(topic_partition)
        points = self._on_disk[RECOVERY_POINT_CHECKPOINT]
        self._on_disk[RECOVERY_POINT_CHECKPOINT] = {topic_partition: 0, **points}

    # -- logs that are no more ------------------------------------------------------------------

    def forget(self, topic_partition: TopicPartition) -> None:
        """Forget a log that was deleted or moved to another directory. Nothing is written yet."""
        self._gone.add(topic_partition)
        self._unopened.discard(topic_partition)
        for write in self._under_way.values():
            write.offsets.pop(topic_partition, None)
        for name, offsets in self._on_disk.items():
            if topic_partition in offsets:
                if name in self._under_way:  # its thread may be reading them
                    offsets = self._on_disk[name] = dict(offsets)
                del offsets[topic_partition]
                self._stale.add(name)

    def settle(self, topic_partition: TopicPartition) -> None:
        """Remove the entries of an older log with this name, before a new one is created, from the
        files that no thread is writing.
        """
        if topic_partition not in self._gone:
            return
        for name in self._stale - self._under_way.keys():
            self.write(name, self._on_disk[name])
        self._gone.clear()
