"""One log directory: whose it is, that nobody else uses it, its checkpoint files, how it was left.

    .lock                                held while the node runs
    meta.properties                      cluster, node, id of this directory
    .kafka_cleanshutdown                 there only between a clean stop and the next start
    recovery-point-offset-checkpoint     flushed up to
    log-start-offset-checkpoint          log starts that are not at a segment's base
    replication-offset-checkpoint        high watermarks

State: `failure` is None while the directory works. In: offsets to write. Out: what was read.
Invariant: a file is replaced as a whole; one that says what it said is not written again.
Source: Kafka's LogManager.java, CleanShutdownFileHandler.java.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping

from pykbroker.log.checkpoints import (
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
    format_offsets,
    parse_offsets,
)
from pykbroker.log.file_lock import FileLock
from pykbroker.log.files import Files, LogDirFailure
from pykbroker.types import TopicPartition

_log = logging.getLogger(__name__)


class DirectoryRefused(Exception):
    """The node must not start on this directory; the message is for a person, one line."""


class PartitionUnidentified(Exception):
    """Records are there, but not whose they are: this partition stays offline, the others go on."""


class LogDirectory:
    """See the module. Everything raises LogDirFailure when the disk does not do it."""

    def __init__(self, files: Files, path: str) -> None:
        self.files = files
        self.path = path
        self.failure: LogDirFailure | None = None
        self.meta: MetaProperties | None = None
        self.was_clean = False
        self.clean_broker_epoch: int | None = None
        self.recovery_points: dict[TopicPartition, int] = {}
        self.log_start_offsets: dict[TopicPartition, int] = {}
        self.high_watermarks: dict[TopicPartition, int] = {}
        self._cleaned: set[TopicPartition] | None = set()
        self._lock: FileLock | None = None
        self._written: dict[str, bytes] = {}

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
        self.replace(META_PROPERTIES, meta.to_bytes(now_ms))
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

    def read_checkpoints(self) -> None:
        """A checkpoint that cannot be read counts as empty, as in Kafka: more is checked then."""
        self.recovery_points = self._read(RECOVERY_POINT_CHECKPOINT)
        self.log_start_offsets = self._read(LOG_START_OFFSET_CHECKPOINT)
        self.high_watermarks = self._read(REPLICATION_OFFSET_CHECKPOINT)
        try:
            path = f"{self.path}/{CLEANER_OFFSET_CHECKPOINT}"
            self._cleaned = set(parse_offsets(self.files.read_file(path), path))
        except FileNotFoundError:
            self._cleaned = set()
        except (CorruptCheckpoint, OSError):
            self._cleaned = None

    def _read(self, name: str) -> dict[TopicPartition, int]:
        path = f"{self.path}/{name}"
        try:
            return parse_offsets(self.files.read_file(path), path)
        except FileNotFoundError:
            return {}
        except CorruptCheckpoint as fault:
            _log.warning("Starting without a checkpoint: %s", fault)
            return {}
        except OSError as error:
            raise LogDirFailure(self.path, f"reading {name}", error) from error

    def was_never_cleaned(self, topic_partition: TopicPartition) -> bool:
        """Surely never compacted; False also when that cannot be known."""
        return self._cleaned is not None and topic_partition not in self._cleaned

    def write_recovery_points(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.replace(RECOVERY_POINT_CHECKPOINT, format_offsets(offsets))

    def write_log_start_offsets(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.replace(LOG_START_OFFSET_CHECKPOINT, format_offsets(offsets))

    def write_high_watermarks(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.replace(REPLICATION_OFFSET_CHECKPOINT, format_offsets(offsets))

    def write_clean_shutdown(self, broker_epoch: int) -> None:
        """The last thing of a clean stop."""
        try:
            self.files.write_file(
                f"{self.path}/{CLEAN_SHUTDOWN}", CleanShutdown(broker_epoch).to_bytes(), sync=True
            )
            self.files.sync_dir(self.path)
        except OSError as error:
            raise LogDirFailure(self.path, "writing the clean shutdown file", error) from error

    def replace(self, name: str, content: bytes) -> None:
        if self._written.get(name) == content:
            return
        try:
            self.files.replace_file(f"{self.path}/{name}", content)
        except OSError as error:
            raise LogDirFailure(self.path, f"writing {name}", error) from error
        self._written[name] = content

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
