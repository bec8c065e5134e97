"""Snapshots of log directories, taken beside a live broker, mostly by hard links.

    <target>/
      snapshot.json                        what was taken, and how far each log reaches
      meta.properties, log-start-offset-checkpoint, replication-offset-checkpoint,
      recovery-point-offset-checkpoint
      <topic>-<partition>/                 as in a log directory:
        closed segments   hard links (copies where links are impossible): retention or compaction of
                          the live log only takes its own name away (what cuts them in place shows:
                          see snapshot_sizes.py)
        the last segment  copied, up to its frozen end
        indexes, producer snapshots, leader epochs, partition.metadata   copied; of the metadata
                          log also its snapshots and quorum-state

`open_log`, Spark and Apache's own tools read a snapshot like any log directory. `snapshot.json` is
written last: a directory without it is a snapshot that was not finished.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from pykbroker.log.directories.checkpoints import (
    LEADER_EPOCH_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    format_offsets,
)
from pykbroker.log.segments.txn_index import TransactionIndex
from pykbroker.offline.faults import OfflineError, UnknownTopic
from pykbroker.offline.frozen_end import FrozenEnd, freeze
from pykbroker.offline.layout import is_partition, read_partitions
from pykbroker.offline.partition_files import PartitionFiles, SegmentFiles
from pykbroker.offline.reader import Names, names_of
from pykbroker.offline.segment_index import aborted_transactions, offset_entries, time_entries
from pykbroker.offline.selecting import select_partitions
from pykbroker.offline.snapshot_sizes import MANIFEST
from pykbroker.offline.split import Selection
from pykbroker.offline.storage import is_remote, local_path, split_name
from pykbroker.offline.swaps import SWAP
from pykbroker.types import TopicPartition

_COPY_BYTES: Final = 1 << 20
_ATTEMPTS: Final = 5


@dataclass
class SnapshotReport:
    """The contents of a snapshot."""

    target: str
    partitions: int = 0
    segments: int = 0
    linked_bytes: int = 0
    copied_bytes: int = 0
    #: The reason why closed segments had to be copied.
    not_linked: str | None = None
    end_offsets: dict[str, int] = field(default_factory=dict)


def create_snapshot(
    log_dirs: Names,
    target: str | os.PathLike[str],
    topics: str | Iterable[str] | None = None,
    *,
    taken_ms: int | None = None,
    may_copy: bool = True,
) -> SnapshotReport:
    """Take a snapshot of (some topics of) log directories into a new or empty directory `target`;
    without `topics`, of all, including internal ones.

    Hard links need one file system; otherwise segments are copied, or OfflineError is raised if
    `may_copy` is False. `taken_ms` is recorded in the manifest. Raises OfflineError also if the
    target is not empty, is inside a log directory, or (like a source) is remote; UnknownTopic if
    there is nothing to take.
    """
    sources, target = names_of(log_dirs) or (), os.fspath(target)
    if any(map(is_remote, (*sources, target))):
        raise OfflineError("a snapshot needs local directories and a local target")
    target = local_path(target)
    _check_target(target, sources)
    selection = Selection(paths=sources, topics=names_of(topics))
    chosen = select_partitions(selection)
    if topics is None:  # internal topics too: a snapshot is of the whole directory
        chosen = sorted({*chosen, *_internal(sources)})
    if not chosen:
        raise UnknownTopic(f"no partition in {', '.join(sources)}")
    try:
        os.makedirs(target)
    except FileExistsError:
        if os.listdir(target):
            raise OfflineError(f"{target} already exists and is not empty") from None
    report = SnapshotReport(target)
    try:
        _take_all(report, chosen, sources, taken_ms, may_copy)
    except BaseException as fault:
        for entry in os.scandir(target):  # it was empty, so everything in it is ours
            if entry.is_dir():
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
        if isinstance(fault, OSError) and report.not_linked is not None:
            raise OfflineError(
                f"{fault}; all files were being copied, because {report.not_linked}"
            ) from fault
        raise
    return report


def _check_target(target: str, sources: tuple[str, ...]) -> None:
    """Raise OfflineError for a target inside a log directory, where a broker expects partitions."""
    place = os.path.realpath(target)
    for source in sources:
        directory = _log_directory(source)
        inside = os.path.realpath(directory)
        if os.path.commonpath([place, inside]) == inside:
            raise OfflineError(
                f"{target} is inside {directory}: the target must be outside the log directories"
            )


def _log_directory(source: str) -> str:
    """Return the log directory of a source, which may be the directory of a partition."""
    return local_path(split_name(source)[0] if is_partition(source) else source)


def _take_all(
    report: SnapshotReport,
    chosen: Iterable[TopicPartition],
    sources: tuple[str, ...],
    taken_ms: int | None,
    may_copy: bool,
) -> None:
    target = report.target
    log_starts: dict[TopicPartition, int] = {}
    high_watermarks: dict[TopicPartition, int] = {}
    for partition in chosen:
        taken = _Taker(sources, target, partition, report, may_copy).take()
        if taken is None:
            continue
        files, end = taken
        log_starts[partition] = files.log_start_offset
        known = end.next_offset if files.high_watermark is None else files.high_watermark
        high_watermarks[partition] = min(known, end.next_offset)
        report.end_offsets[str(partition)] = end.next_offset
    _write(target, LOG_START_OFFSET_CHECKPOINT, format_offsets(log_starts))
    _write(target, REPLICATION_OFFSET_CHECKPOINT, format_offsets(high_watermarks))
    ends = {each: report.end_offsets[str(each)] for each in log_starts}
    _write(target, RECOVERY_POINT_CHECKPOINT, format_offsets(ends))
    properties = f"{_log_directory(sources[0])}/{META_PROPERTIES}"
    _copy_if_there(properties, f"{target}/{META_PROPERTIES}")
    _sync_all(target)
    _write(target, MANIFEST, _manifest(report, sources, taken_ms))
    _sync(f"{target}/{MANIFEST}")
    _sync(target)
    _sync(os.path.dirname(os.path.abspath(target)))


def _internal(sources: tuple[str, ...]) -> list[TopicPartition]:
    return select_partitions(Selection(paths=sources, topic_pattern="__.*"))


def _manifest(report: SnapshotReport, sources: tuple[str, ...], taken_ms: int | None) -> bytes:
    content = {
        "version": 1,
        "taken_ms": taken_ms,
        "sources": list(sources),
        "segments": report.segments,
        "linked_bytes": report.linked_bytes,
        "copied_bytes": report.copied_bytes,
        "end_offsets": report.end_offsets,
        "sizes": {each: _sizes(f"{report.target}/{each}") for each in report.end_offsets},
    }
    return json.dumps(content, indent=2).encode() + b"\n"


def _sizes(directory: str) -> dict[str, int]:
    with os.scandir(directory) as entries:
        return {each.name: each.stat().st_size for each in entries if each.name.endswith(".log")}


def _write(directory: str, name: str, content: bytes) -> None:
    with open(f"{directory}/{name}", "xb") as opened:
        opened.write(content)


def _copy_if_there(source: str, target: str) -> int:
    """Copy a small file, and return its size; 0 if there is none, or no regular file."""
    if not os.path.isfile(source):
        return 0
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        return 0
    return os.path.getsize(target)


class _Taker:
    """Takes the snapshot of one partition."""

    def __init__(
        self,
        sources: tuple[str, ...],
        target: str,
        partition: TopicPartition,
        report: SnapshotReport,
        may_copy: bool,
    ) -> None:
        self.sources = sources
        self.partition = partition
        self.directory = f"{target}/{partition}"
        self.report = report
        self.may_copy = may_copy

    def take(self) -> tuple[PartitionFiles, FrozenEnd] | None:
        """Return the files as listed, and the frozen end; None if the partition was deleted.

        If a segment is deleted or replaced meanwhile, the partition is listed and taken again.
        Raises OfflineError after five times, or if a segment must be copied but may not.
        """
        for _ in range(_ATTEMPTS):
            found = read_partitions(self.sources, [self.partition])
            if not found:
                return None
            files = found[0]
            before = (self.report.segments, self.report.linked_bytes, self.report.copied_bytes)
            try:
                os.makedirs(self.directory)
                end = self._take(files)
            except FileNotFoundError:
                shutil.rmtree(self.directory)
                segments, linked, copied = before
                self.report.segments = segments
                self.report.linked_bytes, self.report.copied_bytes = linked, copied
                continue
            self.report.partitions += 1
            return files, end
        raise OfflineError(f"{self.partition} changes too fast for a snapshot")

    def _take(self, files: PartitionFiles) -> FrozenEnd:
        end = freeze(files)
        for segment in files.segments:
            if segment is files.segments[-1]:
                self._copy_last(segment, end)
            else:
                self._link(segment)
            self.report.segments += 1
        for offset, path in files.producer_snapshots:
            if offset <= end.next_offset:
                self._copy(path)
        directory = local_path(files.directory)
        metadata = [name for name in os.listdir(directory) if name.endswith(".checkpoint")]
        for name in (LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA, "quorum-state", *metadata):
            source = f"{directory}/{name}"
            self.report.copied_bytes += _copy_if_there(source, f"{self.directory}/{name}")
        return end

    def _place(self, path: str) -> str:
        """Return its name in the snapshot: for a segment being swapped in, the final one."""
        return f"{self.directory}/{os.path.basename(path).removesuffix(SWAP)}"

    def _copy(self, path: str | None) -> None:
        if path is not None:
            self.report.copied_bytes += _copy_if_there(local_path(path), self._place(path))

    def _link(self, segment: SegmentFiles) -> None:
        place = self._place(segment.path)
        try:
            os.link(local_path(segment.path), place)
        except OSError as fault:
            if fault.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
                raise
            if not self.may_copy:
                raise OfflineError(f"{segment.path} cannot be linked: {fault.strerror}") from fault
            self.report.not_linked = f"segments cannot be linked: {fault.strerror}"
            shutil.copyfile(local_path(segment.path), place)
            self.report.copied_bytes += os.path.getsize(place)
        else:
            self.report.linked_bytes += os.path.getsize(place)
        if os.path.getsize(place) != segment.size_bytes:
            raise FileNotFoundError(segment.path)  # replaced since it was listed: list again
        for path in (segment.index_path, segment.time_index_path, segment.transaction_index):
            self._copy(path)

    def _copy_last(self, segment: SegmentFiles, end: FrozenEnd) -> None:
        """Copy the bytes up to the frozen end, and the plausible index entries before it."""
        _copy_range(local_path(segment.path), self._place(segment.path), end.position)
        self.report.copied_bytes += end.position
        base = segment.base_offset
        if segment.index_path is not None:
            entries = offset_entries(segment.index_path, base, end.position)
            kept = b"".join(
                (offset - base).to_bytes(4) + position.to_bytes(4)
                for offset, position in entries
                if offset < end.next_offset
            )
            self._write(segment.index_path, kept)
        if segment.time_index_path is not None:
            kept = b"".join(
                time.to_bytes(8, signed=True) + (offset - base).to_bytes(4)
                for time, offset in time_entries(segment.time_index_path, base)
                if offset < end.next_offset
            )
            self._write(segment.time_index_path, kept)
        self._copy_aborted(segment, end)

    def _copy_aborted(self, segment: SegmentFiles, end: FrozenEnd) -> None:
        """Copy the transaction index, which may be newer than the listing, up to the frozen end; a
        damaged one as it is.
        """
        path, base = segment.transaction_index, segment.base_offset
        entries = aborted_transactions(path, base) if os.path.isfile(local_path(path)) else []
        if entries is None:
            self._copy(path)  # damaged, which fsck reports
        elif entries:
            index = TransactionIndex(base)
            kept = [index.append(each) for each in entries if each.last_offset < end.next_offset]
            self._write(path, b"".join(kept))

    def _write(self, path: str, content: bytes) -> None:
        with open(self._place(path), "xb") as opened:
            opened.write(content)
        self.report.copied_bytes += len(content)


def _sync_all(target: str) -> None:
    """Flush all files, including linked ones, and their directories to disk.

    After a power failure, the broker's recovery could otherwise truncate linked segments.
    """
    for directory, _, names in os.walk(target):
        for name in names:
            _sync(f"{directory}/{name}")
        _sync(directory)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy_range(source: str, target: str, length: int) -> None:
    """Copy the first `length` bytes, within the kernel where possible."""
    with open(source, "rb", buffering=0) as read, open(target, "xb", buffering=0) as written:
        position = 0
        while position < length:
            wanted = min(_COPY_BYTES * 64, length - position)
            try:
                done = os.copy_file_range(
                    read.fileno(), written.fileno(), wanted, position, position
                )
            except OSError as fault:
                if fault.errno not in (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                    raise
                piece = os.pread(read.fileno(), min(_COPY_BYTES, wanted), position)
                done = os.pwrite(written.fileno(), piece, position) if piece else 0
            if not done:
                raise FileNotFoundError(source)  # truncated meanwhile: list again
            position += done
