"""The on-disk part of a partition's log: segments, producer snapshots, leader epochs.

State: the segments and which of them is active, the log's written extent (`log_start_offset`,
       `log_end_offset`), the files beside the segments, whether the log is offline.
In:    segments to add and remove, a new directory name; faults encountered by readers and writers.
Out:   what `guard` makes of faults: LogDirFailure for disk errors, KafkaError(CORRUPT_MESSAGE) for
       damaged segments and batches.
Invariants: the active segment is the last one; a log whose disk failed stays offline.
Source: Kafka's LocalLog.java.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from pykbroker.environment.files import Files, LogDirFailure
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.directories.chores import Chores
from pykbroker.log.directories.epoch_checkpoint import EpochCheckpoint
from pykbroker.log.producers.producer_snapshots import ProducerSnapshots
from pykbroker.log.recovery.damage import end_before, ends_torn
from pykbroker.log.recovery.segment_recovery import rebuild_indexes, rebuild_transaction_index
from pykbroker.log.segments.index_files import CorruptIndex
from pykbroker.log.segments.segment import DELETED_SUFFIX, CorruptSegment, Segment
from pykbroker.log.segments.segment_list import SegmentList
from pykbroker.protocol.record import CorruptBatch

if TYPE_CHECKING:
    from pykbroker.config import TopicConfig
    from pykbroker.types import TopicPartition

_log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")

MOST_FAULTS_LOGGED = 1000


class LocalLog:
    """The on-disk part of a log. PartitionLog and AppendQueue move its offsets; the other parts
    read them.
    """

    __slots__ = (
        "_logged",
        "active",
        "chores",
        "config",
        "directory",
        "files",
        "has_new_names",
        "identity",
        "is_offline",
        "jitter",
        "leader_epochs",
        "log_end_offset",
        "log_start_offset",
        "now_ms",
        "segments",
        "snapshots",
        "topic_partition",
        "truncations",
        "unsynced_from",
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
        log_end_offset: int,
        leader_epochs: EpochCheckpoint,
        snapshots: ProducerSnapshots,
        now_ms: int,
        chores: Chores | None = None,
        jitter: Callable[[int], int] | None = None,
    ) -> None:
        self.files = files
        self.directory = directory
        self.topic_partition = topic_partition
        self.segments = segments
        self.active = segments.last
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset
        self.leader_epochs = leader_epochs
        self.snapshots = snapshots
        self.chores = chores if chores is not None else Chores()
        self.jitter = jitter
        """Draws segment.jitter.ms from [0, its argument): injected, the log has no dice."""
        self.now_ms = now_ms
        """The time of the last append, or of the opening: the log has no clock."""
        self.identity = object()
        """Shared with the copy that replaces this log in another directory, and with no other."""
        self.is_offline = False
        self.has_new_names = False
        """Files were created, renamed or deleted, and the next flush has to sync the directory."""
        self.truncations = 0
        """How often the end of the log was cut off."""
        self.unsynced_from: int | None = None
        """The first offset that may not have been synced before an unclean stop, for `first_hole`
        and the recovery point checkpoint; None if the log was not recovered, and once it has been
        compared with a leader or leads."""
        self._logged: tuple[str, ...] = ()
        """Damage that was logged already."""
        self.update_config(config)

    @property
    def log_directory(self) -> str:
        """The log directory (one of log.dirs) that the partition's directory is in."""
        return os.path.dirname(self.directory)

    def update_config(self, config: TopicConfig) -> None:
        self.config = config
        for segment in self.segments:
            segment.index_interval_bytes = config.index_interval_bytes

    # -- segments -------------------------------------------------------------------------------

    def new_segment(self, base_offset: int, now_ms: int) -> Segment:
        """Add a segment, which becomes the active one. Raises OSError."""
        jitter_ms = min(self.config.segment_jitter_ms, self.config.segment_ms)
        drawn_ms = self.jitter(jitter_ms) if self.jitter is not None and jitter_ms > 0 else 0
        segment = Segment.create(
            self.files,
            self.directory,
            base_offset,
            self.config,
            now_ms,
            roll_jitter_ms=drawn_ms,
        )
        self.segments.add(segment)
        self.active = self.segments.last
        return segment

    def remove_segment(self, segment: Segment, *, with_snapshot: bool = True) -> None:
        """Remove a segment; its files, and `with_snapshot` its snapshot, are renamed, and deleted
        after file.delete.delay.ms. Raises OSError.
        """
        self.segments.remove(segment)
        segment.release()
        segment.change_suffix("", DELETED_SUFFIX)
        paths = segment.paths()
        snapshot = self.snapshots.remove(segment.base_offset) if with_snapshot else None
        if snapshot is not None:
            self.files.rename(snapshot, snapshot + DELETED_SUFFIX)
            paths.append(snapshot + DELETED_SUFFIX)
        self.chores.delete_later(paths, self.config.file_delete_delay_ms)

    def cut_segments(self, offset: int, now_ms: int) -> None:
        """Cut every batch that contains an offset >= `offset`; some segment begins at or below it.
        Raises OSError, CorruptSegment, CorruptIndex.

        After segments were removed, the directory is synced: after a power failure one would come
        back that overlaps what was appended in its place, and the log could not be opened.
        """
        removed = self.segments.above(offset)
        for segment in removed:
            self.remove_segment(segment)
        if removed:
            self.files.sync_dir(self.directory)
        self.active = self.segments.last
        self.active.truncate_to(offset, now_ms)

    def end_at(self, offset: int) -> None:
        """Move the end after everything from `offset` on was cut off."""
        self.truncations += 1
        self.log_end_offset = offset

    def release(self) -> None:
        """Release the segments without writing (see `Segment.release`)."""
        for segment in self.segments:
            segment.release()

    def move_to(self, directory: str, *, sync: bool) -> None:
        """Rename the partition's directory; see PartitionLog."""
        with self.guard("renaming the directory"):
            self.files.rename(self.directory, directory)
            if sync:
                self.files.sync_dir(os.path.dirname(directory))
        self.directory = directory
        for segment in self.segments:
            segment.move_to(directory)
        self.leader_epochs.move_to(directory)
        self.snapshots.move_to(directory)

    # -- faults ---------------------------------------------------------------------------------

    def failure(self, action: str, error: OSError) -> LogDirFailure:
        """Take the log offline; return the exception for the caller to raise."""
        self.is_offline = True
        self.files.may_wait = True  # a look-up that was tried without waiting has its answer
        return LogDirFailure(self.log_directory, f"{action} {self.topic_partition}", error)

    def corrupt(self, fault: Exception) -> KafkaError:
        """Return the error for damage; each of the first MOST_FAULTS_LOGGED damaged places is
        logged once, however often clients read it.
        """
        if str(fault) not in self._logged and len(self._logged) < MOST_FAULTS_LOGGED:
            self._logged += (str(fault),)
            _log.error("%s: %s", self.topic_partition, fault)
        return KafkaError(ErrorCode.CORRUPT_MESSAGE, str(fault))

    @contextlib.contextmanager
    def guard(self, action: str) -> Iterator[None]:
        """On a disk error in the block, take the log offline and raise LogDirFailure; for a
        damaged segment or batch, raise KafkaError. CorruptIndex is not handled.
        """
        try:
            yield
        except OSError as error:
            raise self.failure(action, error) from error
        except (CorruptSegment, CorruptBatch) as fault:
            raise self.corrupt(fault) from fault

    def guarded(self, action: str, call: Callable[..., ResultT], *arguments: object) -> ResultT:
        """Return the result of `call`; faults are handled as by `guard`.

        But first, a corrupt index is rebuilt, or the torn end of a closed segment is skipped, and
        the call is repeated: at most twice as often as there are segments.
        """
        repairs = 0
        while True:
            try:
                return call(*arguments)
            except (CorruptIndex, CorruptSegment) as fault:
                with self.guard(action):
                    if repairs == 2 * len(self.segments) or not self._is_repaired(fault):
                        raise
            except CorruptBatch as fault:
                raise self.corrupt(fault) from fault
            except OSError as error:
                raise self.failure(action, error) from error
            repairs += 1

    def _is_repaired(self, fault: CorruptIndex | CorruptSegment) -> bool:
        """Return whether the call that encountered the fault should be repeated."""
        if isinstance(fault, CorruptSegment):
            return self._leave_out_torn_end(fault)
        self._rebuild_index(fault)
        return True

    def _rebuild_index(self, fault: CorruptIndex) -> None:
        _log.warning("%s: %s; rebuilding the indexes", self.topic_partition, fault)
        self.files.may_wait = True  # an incomplete index is useless
        for segment in self.segments:
            if fault.path == segment.txn_index.path:
                rebuild_transaction_index(
                    segment, self.snapshots, self.segments, self.log_start_offset
                )
            elif fault.path in segment.paths():
                try:
                    rebuild_indexes(segment)
                except CorruptSegment as damage:  # a reader that gets there encounters it
                    _log.error("%s: %s: not indexed from there on", self.topic_partition, damage)

    def _leave_out_torn_end(self, fault: CorruptSegment) -> bool:
        """Skip the remainder of the last batch of a closed segment that was cut short; return
        False if the fault is another one.

        The log continues with the next segment, as in Kafka; the file is not changed.
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
