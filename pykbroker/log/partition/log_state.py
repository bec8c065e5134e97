"""What a partition's log is made of: the part that its reading, appending and the rest share."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from pykbroker.environment.files import Buffer, Files, LogDirFailure
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.directories.chores import Chores
from pykbroker.log.directories.epoch_checkpoint import EpochCheckpoint
from pykbroker.log.producers.producer_snapshots import ProducerSnapshots
from pykbroker.log.producers.producer_state import (
    CompletedTxn,
    ProducerStateManager,
    ProducerUpdate,
)
from pykbroker.log.recovery.damage import end_before, ends_torn
from pykbroker.log.recovery.segment_recovery import rebuild_indexes, rebuild_transaction_index
from pykbroker.log.segments.index_files import CorruptIndex
from pykbroker.log.segments.segment import DELETED_SUFFIX, CorruptSegment, Placed, Segment
from pykbroker.log.segments.segment_list import SegmentList
from pykbroker.log.validation.validation_rules import ValidationRules
from pykbroker.protocol.record import CorruptBatch

if TYPE_CHECKING:
    from pykbroker.config import TopicConfig
    from pykbroker.log.partition.record_lookup import LookedUp
    from pykbroker.types import TopicPartition

_log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")

MOST_FAULTS_TOLD = 1000


class LogState:
    """The fields of a PartitionLog, and what happens when its disk fails."""

    __slots__ = (
        "__weakref__",
        "_batches",
        "_completed",
        "_flush_messages",
        "_latest_epoch",
        "_now_ms",
        "_parts",
        "_pending_bytes",
        "_roll_ms",
        "_rules",
        "_segment_bytes",
        "_told",
        "_updates",
        "active",
        "chores",
        "closed_unsynced",
        "config",
        "directory",
        "files",
        "is_directory_durable",
        "is_offline",
        "jitter",
        "last_flush_ms",
        "leader_epochs",
        "log_end_offset",
        "log_start_offset",
        "looked_up",
        "next_offset",
        "producers",
        "recovery_point",
        "segments",
        "snapshots",
        "topic_id",
        "topic_partition",
        "truncations",
    )

    def __init__(
        self,
        *,
        files: Files,
        directory: str,
        topic_partition: TopicPartition,
        config: TopicConfig,
        segments: SegmentList,
        log_start_offset: int,
        recovery_point: int,
        log_end_offset: int,
        leader_epochs: EpochCheckpoint,
        snapshots: ProducerSnapshots,
        now_ms: int,
        topic_id: bytes | None = None,
        is_directory_durable: bool = False,
        chores: Chores | None = None,
        jitter: Callable[[int], int] | None = None,
    ) -> None:
        self.files = files
        self.directory = directory
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.segments = segments
        self.active = segments.last
        self.log_start_offset = log_start_offset
        self.recovery_point = recovery_point
        self.log_end_offset = log_end_offset
        self.next_offset = log_end_offset
        self.leader_epochs = leader_epochs
        self.snapshots = snapshots
        self.producers: ProducerStateManager = snapshots.manager
        self.chores = chores if chores is not None else Chores()
        self.jitter = jitter
        """Draws segment.jitter.ms from [0, its argument): injected, the log has no dice."""
        self.is_offline = False
        self.truncations = 0
        self.closed_unsynced: list[Segment] = []
        """Rolled since the last flush: closing them wrote to their indexes."""
        self.is_directory_durable = is_directory_durable
        """False: the directory is new, the next flush syncs its name and partition.metadata."""
        self.last_flush_ms = now_ms
        self._now_ms = now_ms
        self._parts: list[Buffer] = []
        self._batches: list[Placed] = []
        self._pending_bytes = 0
        self._completed: list[CompletedTxn] = []
        self._updates: list[ProducerUpdate] = []
        self.looked_up: LookedUp = {}
        self._told: set[str] = set()
        """Damage that was logged already."""
        self.epochs_changed()
        self.update_config(config)

    def __repr__(self) -> str:
        return (
            f"PartitionLog({self.directory}, start={self.log_start_offset}, "
            f"end={self.log_end_offset}, segments={len(self.segments)})"
        )

    @property
    def log_directory(self) -> str:
        """The log directory (one of log.dirs) that the partition's directory is in."""
        return os.path.dirname(self.directory)

    @property
    def size_bytes(self) -> int:
        return self.segments.size_bytes

    @property
    def has_pending(self) -> bool:
        return bool(self._batches)

    def update_config(self, config: TopicConfig) -> None:
        self.config = config
        self._segment_bytes = config.segment_bytes
        self._roll_ms = config.segment_ms
        if config.compact and config.max_compaction_lag_ms > 0:  # only closed segments are cleaned
            self._roll_ms = min(self._roll_ms, config.max_compaction_lag_ms)
        self._flush_messages = config.flush_messages
        self._rules = ValidationRules.of(config, str(self.topic_partition))
        for segment in self.segments:
            segment.index_interval_bytes = config.index_interval_bytes

    def failure(self, action: str, error: OSError) -> LogDirFailure:
        self.is_offline = True
        self.files.may_wait = True  # whoever looked something up has his answer
        return LogDirFailure(self.log_directory, f"{action} {self.topic_partition}", error)

    @contextlib.contextmanager
    def guard(self, action: str) -> Iterator[None]:
        """An error of the disk takes the log directory offline."""
        try:
            yield
        except OSError as error:
            raise self.failure(action, error) from error
        except (CorruptSegment, CorruptBatch) as fault:
            raise self.corrupt(fault) from fault

    def corrupt(self, fault: Exception) -> KafkaError:
        """One line for each damaged place, however often a client asks for it."""
        if str(fault) not in self._told and len(self._told) < MOST_FAULTS_TOLD:
            self._told.add(str(fault))
            _log.error("%s: %s", self.topic_partition, fault)
        return KafkaError(ErrorCode.CORRUPT_MESSAGE, str(fault))

    def guarded(self, action: str, call: Callable[..., ResultT], *arguments: object) -> ResultT:
        """Call it under `guard`; an index that turns out to be garbage is built again first, and
        the torn end of a closed segment is left out."""
        for _ in range(2 * len(self.segments)):
            with self.guard(action):
                try:
                    return call(*arguments)
                except CorruptIndex as fault:
                    self.rebuild_index(fault)
                except CorruptSegment as damage:
                    if not self.leave_out_torn_end(damage):
                        raise
        with self.guard(action):
            return call(*arguments)

    def rebuild_index(self, fault: CorruptIndex) -> None:
        _log.warning("%s: %s; rebuilding the indexes", self.topic_partition, fault)
        self.files.may_wait = True  # half an index is none
        for segment in self.segments:
            if fault.path == segment.txn_index.path:
                rebuild_transaction_index(
                    segment, self.snapshots, self.segments, self.log_start_offset
                )
            elif fault.path in segment.paths():
                try:
                    rebuild_indexes(segment)
                except CorruptSegment as damage:  # who reads on will meet it
                    _log.error("%s: %s: not indexed from there on", self.topic_partition, damage)

    def leave_out_torn_end(self, fault: CorruptSegment) -> bool:
        """A closed segment that was cut short: what is left of its last batch helps nobody.

        The log goes on with the next segment, as in Kafka; the file stays as it is.
        """
        for segment in self.segments:
            if segment.file.path == fault.path and segment is not self.active:
                self.files.may_wait = True
                if not ends_torn(segment, fault.position):
                    return False
                following = self.segments.higher(segment.base_offset)
                assert following is not None
                _log.error(
                    "%s: %s ends within a batch: offsets %d to %d are lost",
                    self.topic_partition,
                    fault.path,
                    end_before(segment, fault.position),
                    following.base_offset - 1,
                )
                segment.size = fault.position
                return True
        return False

    def remove_segment(self, segment: Segment, *, with_snapshot: bool = True) -> None:
        """Out of the list; its files and snapshot renamed, and unlinked after their delay."""
        self.segments.remove(segment)
        segment.release()
        segment.change_suffix("", DELETED_SUFFIX)
        paths = segment.paths()
        snapshot = self.snapshots.remove(segment.base_offset) if with_snapshot else None
        if snapshot is not None:
            self.files.rename(snapshot, snapshot + DELETED_SUFFIX)
            paths.append(snapshot + DELETED_SUFFIX)
        self.chores.delete_later(paths, self.config.file_delete_delay_ms)

    def epochs_changed(self) -> None:
        latest = self.leader_epochs.latest_epoch
        self._latest_epoch = -1 if latest is None else latest
