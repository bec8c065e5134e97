"""One log directory: its identity, its lock, and whether it was closed cleanly.

    .lock                                locked until the node stops or the directory fails
    meta.properties                      cluster, node, id of this directory
    .kafka_cleanshutdown                 exists only between a clean shutdown and the next start
    *-offset-checkpoint                  see offset_checkpoints.py

State: `failure` is None while the directory works.
Invariant: the clean shutdown file is removed, durably, when the next start has seen it.
Source: Kafka's LogManager.java, CleanShutdownFileHandler.java.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping

from pykbroker.environment.files import FileLock, Files, LogDirFailure
from pykbroker.log.directories.checkpoints import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSET_CHECKPOINT,
    LOCK,
    LOG_START_OFFSET_CHECKPOINT,
    META_PROPERTIES,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    CleanShutdown,
    CorruptCheckpoint,
    MetaProperties,
)
from pykbroker.log.directories.offset_checkpoints import OffsetCheckpoints
from pykbroker.log.segments.segment import LOG_SUFFIX
from pykbroker.types import TopicPartition

_log = logging.getLogger(__name__)


class DirectoryRefused(Exception):
    """The node must not start on this directory; the message is one line for the user."""


class PartitionUnidentified(Exception):
    """A directory holds records, but their topic is unknown, or their order is impossible. The
    partition stays offline; the others continue.
    """


class LogDirectory:
    """A log directory and its own files. Methods raise LogDirFailure on disk errors, except for
    `directory_id`, which is then None, and `remove_remains`.
    """

    def __init__(self, files: Files, path: str) -> None:
        self.files = files
        self.path = path
        self.failure: LogDirFailure | None = None
        self.meta: MetaProperties | None = None
        self.was_clean = False
        self.checkpoints = OffsetCheckpoints(files, path)
        self._lock: FileLock | None = None

    def __repr__(self) -> str:
        return f"LogDirectory({self.path}{', offline' if self.failure else ''})"

    @property
    def is_online(self) -> bool:
        return self.failure is None

    @property
    def directory_id(self) -> bytes | None:
        """The id from meta.properties, read now if `open` has found none, because the file is
        written to an empty directory after locking it; None if there is none that can be read.
        """
        if self.meta is None and self.is_online:
            with contextlib.suppress(LogDirFailure, DirectoryRefused):
                self.read_meta()
        return self.meta.directory_id if self.meta is not None else None

    def open(self) -> None:
        """Create it if necessary, lock it, and read its identity. Raises
        DirectoryRefused, LogDirFailure.
        """
        try:
            self.files.mkdir(self.path)
            self._lock = self.files.lock(f"{self.path}/{LOCK}")
        except OSError as error:
            raise LogDirFailure(self.path, "locking", error) from error
        if self._lock is None:
            raise DirectoryRefused(
                f"Failed to acquire lock on file {LOCK} in {self.path}. A Kafka instance in "
                "another process or thread is using this directory."
            )
        self.read_meta()

    def read_meta(self) -> None:
        path = f"{self.path}/{META_PROPERTIES}"
        try:
            self.meta = MetaProperties.from_bytes(self.files.read_file(path), path)
        except FileNotFoundError:
            self.meta = None
        except CorruptCheckpoint as fault:
            raise DirectoryRefused(str(fault)) from fault
        except OSError as error:
            raise LogDirFailure(self.path, "reading meta.properties", error) from error

    def take_clean_shutdown(self) -> None:
        """Note in `was_clean` whether the last shutdown was clean, and remove the file
        immediately (KAFKA-10471).
        """
        path = f"{self.path}/{CLEAN_SHUTDOWN}"
        try:
            self.files.read_file(path)  # unlike `exists`, this reports a broken disk
        except FileNotFoundError:
            return
        except OSError as error:
            raise LogDirFailure(self.path, "reading the clean shutdown file", error) from error
        self.was_clean = True
        try:
            self.files.unlink(path)
            self.files.sync_dir(self.path)
        except OSError as error:
            raise LogDirFailure(self.path, "removing the clean shutdown file", error) from error

    @property
    def recovery_points(self) -> Mapping[TopicPartition, int]:
        return self.checkpoints.offsets(RECOVERY_POINT_CHECKPOINT)

    @property
    def log_start_offsets(self) -> Mapping[TopicPartition, int]:
        return self.checkpoints.offsets(LOG_START_OFFSET_CHECKPOINT)

    @property
    def high_watermarks(self) -> Mapping[TopicPartition, int]:
        return self.checkpoints.offsets(REPLICATION_OFFSET_CHECKPOINT)

    def was_never_cleaned(self, topic_partition: TopicPartition) -> bool:
        """Return whether the cleaner's checkpoint has no entry of the log; False if it could not be
        read.
        """
        name = CLEANER_OFFSET_CHECKPOINT
        cleaned = self.checkpoints.offsets(name)
        return self.checkpoints.is_readable(name) and topic_partition not in cleaned

    def write_clean_shutdown(self, broker_epoch: int) -> None:
        """Write the clean shutdown file, the last step of a clean shutdown."""
        try:
            self.files.write_file(
                f"{self.path}/{CLEAN_SHUTDOWN}", CleanShutdown(broker_epoch).to_bytes(), sync=True
            )
            self.files.sync_dir(self.path)
        except OSError as error:
            raise LogDirFailure(self.path, "writing the clean shutdown file", error) from error

    def remove_remains(self, topic_partition: TopicPartition) -> bool:
        """Remove the remains of a log that could not be created; return False if some may be left,
        or if they hold records.

        A log in another directory would then be a duplicate at the next start.
        """
        path = f"{self.path}/{topic_partition}"
        try:
            sizes = self.files.list_sizes(path)
            if any(size for name, size in sizes.items() if name.endswith(LOG_SUFFIX)):
                return False
            self.files.remove_tree(path)
            self.files.sync_dir(self.path)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def sync(self) -> None:
        """Make the names of the logs in it durable."""
        try:
            self.files.sync_dir(self.path)
        except OSError as error:
            raise LogDirFailure(self.path, "syncing", error) from error

    def usage(self) -> tuple[int, int]:
        """Return the total and usable bytes of the volume."""
        try:
            return self.files.disk_usage(self.path)
        except OSError as error:
            raise LogDirFailure(self.path, "reading the free space", error) from error

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None
