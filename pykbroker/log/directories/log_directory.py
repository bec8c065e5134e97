"""One log directory: whose it is, that nobody else uses it, how it was left.

    .lock                                held while the node runs
    meta.properties                      cluster, node, id of this directory
    .kafka_cleanshutdown                 there only between a clean stop and the next start
    *-offset-checkpoint                  see offset_checkpoints.py

State: `failure` is None while the directory works. Out: what was read.
Invariant: a file is replaced as a whole.
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
from pykbroker.types import TopicPartition

_log = logging.getLogger(__name__)


class DirectoryRefused(Exception):
    """The node must not start on this directory; the message is for a person, one line."""


class PartitionUnidentified(Exception):
    """Records are there, but not whose they are, or not in an order that can be: this partition
    stays offline, the others go on."""


class LogDirectory:
    """See the module. Everything raises LogDirFailure when the disk does not do it."""

    def __init__(self, files: Files, path: str) -> None:
        self.files = files
        self.path = path
        self.failure: LogDirFailure | None = None
        self.meta: MetaProperties | None = None
        self.was_clean = False
        self.clean_broker_epoch: int | None = None
        self.checkpoints = OffsetCheckpoints(files, path)
        self._lock: FileLock | None = None

    def __repr__(self) -> str:
        return f"LogDirectory({self.path}{', offline' if self.failure else ''})"

    @property
    def is_online(self) -> bool:
        return self.failure is None

    @property
    def directory_id(self) -> bytes | None:
        """From meta.properties, which an empty directory gets after it was locked."""
        if self.meta is None and self.is_online:
            with contextlib.suppress(LogDirFailure, DirectoryRefused):
                self.read_meta()
        return self.meta.directory_id if self.meta is not None else None

    def open(self) -> None:
        """Create it if need be, lock it, read whose it is. DirectoryRefused, LogDirFailure."""
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

    def write_meta(self, meta: MetaProperties, now_ms: int) -> None:
        try:
            self.files.replace_file(f"{self.path}/{META_PROPERTIES}", meta.to_bytes(now_ms))
        except OSError as error:
            raise LogDirFailure(self.path, "writing meta.properties", error) from error
        self.meta = meta

    def take_clean_shutdown(self) -> None:
        """Whether the last stop was clean; the mark goes at once (KAFKA-10471)."""
        path = f"{self.path}/{CLEAN_SHUTDOWN}"
        try:
            content = self.files.read_file(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise LogDirFailure(self.path, "reading the clean shutdown file", error) from error
        self.was_clean = True
        try:
            self.clean_broker_epoch = CleanShutdown.from_bytes(content, path).broker_epoch
        except CorruptCheckpoint:
            self.clean_broker_epoch = None  # of a Kafka that did not write the epoch
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
        """Surely never compacted; False also when that cannot be known."""
        name = CLEANER_OFFSET_CHECKPOINT
        cleaned = self.checkpoints.offsets(name)
        return self.checkpoints.is_readable(name) and topic_partition not in cleaned

    def write_clean_shutdown(self, broker_epoch: int) -> None:
        """The last thing of a clean stop."""
        try:
            self.files.write_file(
                f"{self.path}/{CLEAN_SHUTDOWN}", CleanShutdown(broker_epoch).to_bytes(), sync=True
            )
            self.files.sync_dir(self.path)
        except OSError as error:
            raise LogDirFailure(self.path, "writing the clean shutdown file", error) from error

    def usage(self) -> tuple[int, int]:
        """Total and usable bytes of the volume."""
        try:
            return self.files.disk_usage(self.path)
        except OSError as error:
            raise LogDirFailure(self.path, "asking for the free space", error) from error

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None
