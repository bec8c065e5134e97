"""The log of the quorum on disk: `__cluster_metadata-0`, its snapshots and its quorum state.

    __cluster_metadata-0/
      00000000000000000000.log …                    the records, as in any partition
      00000000000000012345-0000000007.checkpoint    snapshots (metadata_snapshot.py)
      quorum-state                                  epoch, vote, leader (quorum_state.py)
      partition.metadata                            the fixed topic id AAAAAAAAAAAAAAAAAAAAAQ

State: the partition's log; the ids of the existing snapshots.
Invariant: unless the log starts at 0, a snapshot reaches its start, so that log and snapshots
together are complete.
Source: Kafka's `KafkaRaftLog.java`, `MetadataLogConfig.java`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final

from pykbroker.config import BrokerConfig, TopicConfig
from pykbroker.decision import MetadataRecord
from pykbroker.environment.files import Buffer, Files
from pykbroker.kraft.metadata_log_check import CorruptMetadataLog, check_metadata_log
from pykbroker.kraft.metadata_record_codec import decode_metadata_record
from pykbroker.kraft.metadata_snapshot import (
    BOOTSTRAP,
    PARTIAL_SUFFIX,
    CorruptSnapshot,
    Snapshot,
    SnapshotId,
    decode_snapshot,
)
from pykbroker.kraft.raft.quorum_state import (
    QUORUM_STATE_FILE,
    ElectionState,
    decode_quorum_state,
    encode_quorum_state,
)
from pykbroker.kraft.raft.raft_events import LogEnd
from pykbroker.kraft.topic_name import CLUSTER_METADATA_TOPIC
from pykbroker.log.directories.checkpoints import PARTITION_METADATA, PartitionMetadata
from pykbroker.log.directories.chores import Chores
from pykbroker.log.partition.flush import FlushJob
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.damage import OffsetsOutOfPlace
from pykbroker.log.recovery.opening import open_log
from pykbroker.protocol.control_records import decode_message
from pykbroker.protocol.primitives import METADATA_TOPIC_ID, DecodeError
from pykbroker.protocol.record_batch import (
    BatchHeader,
    CorruptBatch,
    check_crc,
    iter_batches,
    iter_records,
)
from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple

METADATA_PARTITION: Final = TopicPartition(CLUSTER_METADATA_TOPIC, 0)

_READ_BYTES = 8 << 20

_log = logging.getLogger(__name__)


class ControlRecord(NamedTuple):
    """A control record of the quorum, such as LeaderChange, KRaftVersion or KRaftVoters; the
    message of a type that only a later Kafka knows is None.
    """

    offset: int
    message: object


class LogBatch(NamedTuple):
    """One batch of the log, decoded: either control records or metadata records.

    `is_end` is False for a part of a batch that other parts follow.
    """

    base_offset: int
    last_offset: int
    epoch: int
    timestamp_ms: int
    size_bytes: int
    records: list[MetadataRecord]
    control: list[ControlRecord]
    is_end: bool = True


DecodedBatch = tuple[LogBatch, memoryview]
"""A batch, and its bytes."""


class MetadataLog:
    """The log of the metadata quorum on disk, with its snapshots."""

    def __init__(
        self, files: Files, directory: str, config: BrokerConfig, now_ms: int, *, is_clean: bool
    ) -> None:
        """Open `directory` (`…/__cluster_metadata-0`). What follows the newest snapshot is checked,
        after an unclean shutdown from the start of its segment on.

        Raises CorruptMetadataLog if committed records follow the damage, or if offsets are out of
        place; LogDirFailure or OSError if the disk fails.
        """
        self.files = files
        self.directory = directory
        self._retention_bytes: int = config.metadata_max_retention_bytes
        self._retention_ms: int = config.metadata_max_retention_ms
        self.chores = Chores()
        self.snapshots = self._recover_snapshots()
        # Records in the newest snapshot are not read again, so they need no check.
        latest = self.latest_snapshot_id()
        snapshot_offset = 0 if latest is None else latest.offset
        check_metadata_log(files, directory, snapshot_offset, is_clean=is_clean)
        try:
            self.log: PartitionLog = open_log(
                files,
                directory,
                METADATA_PARTITION,
                TopicConfig.metadata_log(config),
                now_ms=now_ms,
                is_clean=is_clean,
                recovery_point=snapshot_offset,
                topic_id=METADATA_TOPIC_ID,
                chores=self.chores,
            )
        except OffsetsOutOfPlace as fault:
            raise CorruptMetadataLog(f"{fault}: restore the file from a copy") from fault
        if latest is not None and self._is_replaced_by(latest):
            self.log.truncate_fully_and_start_at(latest.offset)
        path = f"{directory}/{PARTITION_METADATA}"
        if not files.exists(path):
            files.replace_file(path, PartitionMetadata(METADATA_TOPIC_ID).to_bytes())

    def _is_replaced_by(self, latest: SnapshotId) -> bool:
        """Return whether the log ends before the newest snapshot, or has only records of earlier
        epochs than the snapshot's.

        The node may have stopped after it had fetched the snapshot, before it had dropped the log.
        Records of epochs before the snapshot's that are beyond it were never committed.
        Source: Kafka's `KafkaRaftLog.truncateToLatestSnapshot`.
        """
        epoch = self.log.leader_epochs.latest_epoch
        is_older = epoch is not None and epoch < latest.epoch
        return is_older or self.log.log_end_offset < latest.offset

    # The log.

    @property
    def end(self) -> LogEnd:
        """Return the epoch of the last record (the snapshot's if the log is
        empty) and the end offset.
        """
        end_offset = self.log.next_offset
        latest = self.latest_snapshot_id()
        if latest is not None and latest.offset == end_offset:
            return LogEnd(latest.epoch, end_offset)
        epoch = self.log.leader_epochs.latest_epoch
        return LogEnd(0 if epoch is None else epoch, end_offset)

    @property
    def start_offset(self) -> int:
        """The first offset in the log; earlier records are in a snapshot."""
        return self.log.log_start_offset

    def end_of_epoch(self, epoch: int) -> LogEnd:
        """Return the end of the largest epoch not above `epoch`, at most up to which a replica with
        `epoch` agrees; `end` if `epoch` is above those of the log, or the log has none.

        Where the log begins, the epoch returned is that of the snapshot that ends there, if any.
        """
        found, end_offset = self.log.end_offset_for_epoch(epoch)
        if found < 0:
            return self.end
        earliest = self.snapshots[0] if self.snapshots else None
        if earliest is not None and end_offset == self.start_offset == earliest.offset:
            return LogEnd(earliest.epoch, end_offset)
        return LogEnd(found, end_offset)

    def truncation_offset(self, epoch: int, end_offset: int) -> int:
        """Return where to cut this log if the leader's has `epoch` only up to `end_offset`."""
        if epoch == 0:
            return min(end_offset, self.end.offset)
        mine = self.end_of_epoch(epoch)
        return min(mine.offset, end_offset) if mine.epoch == epoch else mine.offset

    def truncate_to(self, offset: int) -> None:
        """Cut everything from `offset` on. Raises LogDirFailure on disk errors."""
        self.log.truncate_to(offset)

    def begin_at(self, snapshot_id: SnapshotId) -> None:
        """Drop the log and earlier snapshots, because a snapshot of the leader replaces them.
        Raises LogDirFailure or OSError.
        """
        self.log.truncate_fully_and_start_at(snapshot_id.offset)
        for old in [at for at in self.snapshots if at < snapshot_id]:
            self.snapshots.remove(old)
            self.files.unlink(f"{self.directory}/{old.file_name}")

    def append(self, batch: Buffer, now_ms: int) -> None:
        """Write a batch whose offsets follow the end of the log. Raises LogDirFailure on disk
        errors, RuntimeError if the log rejects it.
        """
        outcome = self.log.append_as_follower(batch, now_ms)
        if outcome.error:
            raise RuntimeError(f"a metadata batch was rejected: {outcome.error_message}")
        self.log.write_pending()

    def prepare_flush(self) -> FlushJob | None:
        """Return the fsync that makes everything written durable; None if it already is.

        A start after a crash always checks and reindexes at least the last segment (its recovery
        point is the newest snapshot, as passed to `open_log`). Until a roll or a clean shutdown its
        indexes therefore need no fsync, and an idle node does one fsync per no-op record, not
        three.
        """
        return self.log.prepare_flush(active_indexes=False)

    def batches(self, offset: int, end_offset: int) -> Iterator[LogBatch]:
        """Yield the batches from `offset` up to `end_offset` (exclusive), decoded.

        Raises CorruptMetadataLog if one of them is damaged or has an unknown record: a node with
        wrong metadata is worse than none.
        """
        try:
            yield from self._batches(offset, end_offset)
        except CorruptBatch as damage:
            raise CorruptMetadataLog(f"{self.directory}: the log is damaged: {damage}") from damage
        except DecodeError as fault:
            raise CorruptMetadataLog(f"{self.directory}: {fault}") from fault

    def _batches(self, offset: int, end_offset: int) -> Iterator[LogBatch]:
        while offset < end_offset:
            found = self.log.read(offset, _READ_BYTES, end_offset).slice
            if found is None:
                return
            content = found.read()
            found.release()
            for header, batch in iter_batches(content, partial_tail=True):
                if header.last_offset < offset:
                    continue
                offset = header.next_offset
                yield decode_log_batch(header, batch)

    def close(self) -> None:
        """Close the log cleanly, with everything on disk. Raises LogDirFailure on disk errors."""
        self.log.flush()
        self.log.close()

    # The quorum's state.

    def read_election(self) -> ElectionState | None:
        """Read the quorum-state file; None if there is none. Raises CorruptQuorumState if it is
        damaged.
        """
        path = f"{self.directory}/{QUORUM_STATE_FILE}"
        if not self.files.exists(path):
            return None
        return decode_quorum_state(self.files.read_file(path))

    def write_election(
        self, election: ElectionState, kraft_version: int, voter_ids: list[int]
    ) -> None:
        """Write the quorum-state file, durably. Raises OSError."""
        content = encode_quorum_state(election, kraft_version, voter_ids)
        self.files.replace_file(f"{self.directory}/{QUORUM_STATE_FILE}", content)

    # Snapshots.

    def latest_snapshot_id(self) -> SnapshotId | None:
        """Return the id of the newest snapshot, even the bootstrap checkpoint; None if there is
        none.
        """
        return self.snapshots[-1] if self.snapshots else None

    def read_snapshot(self, snapshot_id: SnapshotId) -> Snapshot:
        """Load a snapshot. Raises CorruptSnapshot if it is damaged or has an unknown record,
        OSError if it cannot be read.
        """
        content = self.files.read_file(f"{self.directory}/{snapshot_id.file_name}")
        try:
            return decode_snapshot(snapshot_id, content)
        except DecodeError as fault:
            raise CorruptSnapshot(f"{snapshot_id.file_name}: {fault}") from fault

    def snapshot_size(self, snapshot_id: SnapshotId) -> int:
        """Return the size of a snapshot file in bytes."""
        return self.files.size(f"{self.directory}/{snapshot_id.file_name}")

    def read_snapshot_slice(self, snapshot_id: SnapshotId, position: int, length: int) -> bytes:
        """Read a part of a snapshot file."""
        return self.files.read_range(f"{self.directory}/{snapshot_id.file_name}", position, length)

    def write_snapshot(self, snapshot_id: SnapshotId, batches: Iterator[bytearray]) -> int:
        """Write a snapshot durably; return its size. It blocks, so call it in a thread."""
        path = f"{self.directory}/{snapshot_id.file_name}"
        partial = path.removesuffix(".checkpoint") + PARTIAL_SUFFIX
        content = b"".join(batches)
        self.files.write_file(partial, content, sync=True)
        self.files.make_read_only(partial)
        self.files.rename(partial, path)
        self.files.sync_dir(self.directory)
        return len(content)

    def snapshot_written(self, snapshot_id: SnapshotId) -> None:
        """Register a snapshot after `write_snapshot` has returned."""
        if snapshot_id not in self.snapshots:
            self.snapshots.append(snapshot_id)
            self.snapshots.sort()

    def _recover_snapshots(self) -> list[SnapshotId]:
        """List the snapshots in the directory, oldest first; remove unfinished and deleted ones."""
        if not self.files.is_dir(self.directory):
            return []
        found = []
        for name in self.files.listdir(self.directory):
            if name.endswith((PARTIAL_SUFFIX, ".checkpoint.deleted")):
                self.files.unlink(f"{self.directory}/{name}")
                continue
            snapshot_id = SnapshotId.from_file_name(name)
            if snapshot_id is not None:
                found.append(snapshot_id)
        return sorted(found)

    # Cleaning.

    def clean(self, now_ms: int, high_watermark: int) -> bool:
        """Delete old snapshots, and the segments covered by the next one, by size and by age;
        return whether it deleted anything. Raises LogDirFailure, or OSError if a snapshot cannot be
        deleted.

        metadata.max.retention.bytes and metadata.max.retention.ms; the newest snapshot is kept.
        """
        cleaned = False
        while len(self.snapshots) >= 2 and self._is_due(self.snapshots[0], now_ms):
            if not self._delete_before(self.snapshots[1], now_ms, high_watermark):
                break
            cleaned = True
        return cleaned

    def _is_due(self, snapshot_id: SnapshotId, now_ms: int) -> bool:
        path = f"{self.directory}/{snapshot_id.file_name}"
        if self._retention_bytes >= 0:
            sizes = [self.files.size(f"{self.directory}/{at.file_name}") for at in self.snapshots]
            if self.log.size_bytes + sum(sizes) > self._retention_bytes:
                return True
        if self._retention_ms < 0:
            return False
        return now_ms - self.files.modified_ms(path) > self._retention_ms

    def _delete_before(self, keep: SnapshotId, now_ms: int, high_watermark: int) -> bool:
        """Delete the snapshots before `keep` and the segments that end before it; return False if
        `keep` is the bootstrap checkpoint or not yet committed here, and nothing is deleted.
        """
        if keep == BOOTSTRAP or keep.offset > high_watermark:
            return False
        if self.log.advance_log_start_offset(keep.offset):
            self.log.delete_old_segments(now_ms, high_watermark)
        for old in [at for at in self.snapshots if at < keep]:
            self.snapshots.remove(old)
            _log.info("Deleting the metadata snapshot %s", old.file_name)
            self.files.unlink(f"{self.directory}/{old.file_name}")
        return True


def decode_log_batch(header: BatchHeader, batch: memoryview) -> LogBatch:
    """Decode a batch of the metadata log. Raises CorruptBatch if its checksum is wrong or its
    records do not fill it, DecodeError for a record that is invalid or unknown to this release.
    """
    if not check_crc(batch):
        raise CorruptBatch(f"the batch at offset {header.base_offset} fails its checksum")
    records: list[MetadataRecord] = []
    control: list[ControlRecord] = []
    for record in iter_records(batch, header):
        if header.is_control:
            control.append(ControlRecord(record.offset, decode_message(record)))
        else:
            records.append(decode_metadata_record(record.value or b""))
    return LogBatch(
        header.base_offset,
        header.last_offset,
        header.partition_leader_epoch,
        header.max_timestamp,
        header.size_bytes,
        records,
        control,
    )


def decode_fetched(content: bytes | memoryview, epoch: int) -> list[DecodedBatch]:
    """Decode fetched batches, without those of later epochs than `epoch`; the last one may be cut
    off. Raises CorruptBatch, DecodeError.
    """
    return [
        (decode_log_batch(header, batch), batch)
        for header, batch in iter_batches(content, partial_tail=True)
        if header.partition_leader_epoch <= epoch
    ]
