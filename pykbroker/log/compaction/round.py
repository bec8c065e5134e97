"""One round of compaction of one partition: from its old segments to `.cleaned` files.

    1. keys      every key of the dirty segments -> its latest offset, until the map is full;
                 without those of aborted transactions
    2. groups    adjacent segments that together fit into one
    3. copy      batch by batch, what batch_filter.py keeps (old_batch_filter.py for messages before
                 magic 2, which become batches of magic 2), into `<base>.log.cleaned` with its
                 indexes; synced, with the modification time of the last source
    4. swap      segment_swap.py replaces the old segments (not done here)

State   none of its own: a CompactionJob is complete, so a worker process can do steps 1 to 3.
In      closed segments, which are not written to (but for a truncation of the log, after which the
        caller drops the round); Files.
Out     an iterator: the number of bytes read or written since the last step (for the throttle), and
        each finished Group; the caller stops the round by not resuming the iterator.
Invariants
    The old files are only read. A wrong checksum ends the round with UncleanableBatch, because a
    damaged batch must not receive a new, valid checksum.

Source: Kafka's Cleaner.java.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pykbroker.environment.files import Buffer, Files, OpenFile
from pykbroker.log.compaction.batch_filter import Retention, collect_keys, filter_batch
from pykbroker.log.compaction.cleaned_transactions import CleanedTransactions
from pykbroker.log.compaction.key_map import KeyMap
from pykbroker.log.compaction.old_batch_filter import collect_old_keys, filter_old_message
from pykbroker.log.producers.producer_state import CompletedTxn
from pykbroker.log.segments.segment import CLEANED_SUFFIX, Placed, Segment, placed, segment_path
from pykbroker.log.segments.txn_index import AbortedTxn
from pykbroker.protocol.old_messages import HEAD_BYTES, is_old_frame
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.record_batch import (
    CONTROL_BIT,
    LOG_OVERHEAD,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
)
from pykbroker.protocol.stored_batch import has_right_crc, read_stored_header

MAX_SEGMENT_BYTES = 0x7FFF_FFFF
MAX_OFFSET_RANGE = 0x7FFF_FFFF
_WRITE_BYTES = 1 << 20
_FRAME = struct.Struct(">8xi4xb")


class UncleanableBatch(CorruptBatch):
    """A batch of a segment that cannot be read; names the file, and its position or offset."""


@dataclass(frozen=True)
class SourceSegment:
    """A closed segment as described in a job."""

    base_offset: int
    size: int
    index_bytes: int
    time_index_bytes: int
    modified_ms: int


@dataclass(frozen=True)
class CompactionJob:
    """Everything a round needs to know; it can be sent to another process as JSON."""

    directory: str
    segments: tuple[SourceSegment, ...]  # closed segments before first_uncleanable_offset
    first_dirty_offset: int
    first_uncleanable_offset: int
    high_watermark: int
    now_ms: int
    delete_retention_ms: int
    segment_bytes: int
    segment_index_bytes: int
    index_interval_bytes: int
    map_bytes: int = 128 * 1024 * 1024
    io_buffer_bytes: int = 512 * 1024
    aborted: tuple[tuple[int, int, int, int], ...] = ()
    last_records: tuple[tuple[int, int, int], ...] = ()  # producer, last data offset, epoch
    preallocate: bool = field(default=False, init=False)  # for segments that are never appended to

    def to_json(self) -> dict[str, Any]:
        fields = asdict(self)
        del fields["preallocate"]
        return fields

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> CompactionJob:
        segments = tuple(SourceSegment(**segment) for segment in fields.pop("segments"))
        aborted = tuple(tuple(entry) for entry in fields.pop("aborted"))
        last_records = tuple(tuple(entry) for entry in fields.pop("last_records"))
        return cls(segments=segments, aborted=aborted, last_records=last_records, **fields)


@dataclass(frozen=True)
class Group:
    """The segments `old` (base offsets) are to be replaced by the cleaned ones `new`."""

    old: tuple[int, ...]
    new: tuple[int, ...]


@dataclass
class CompactionResult:
    """The result of a round. `end_offset` is the new first dirty offset."""

    end_offset: int = -1
    keys: int = 0
    bytes_read: int = 0
    bytes_written: int = 0


def compact(files: Files, job: CompactionJob, result: CompactionResult) -> Iterator[int | Group]:
    """Run a round. `result` is complete when the iterator ends. UncleanableBatch, OSError."""
    keys = KeyMap(job.map_bytes)
    yield from build_key_map(files, job, keys, result)
    result.keys = len(keys)
    end_offset = max(keys.latest_offset + 1, job.first_dirty_offset)
    aborted = [AbortedTxn(*entry) for entry in job.aborted]
    retention = Retention(
        keys,
        CleanedTransactions(aborted),
        {producer: (offset, epoch) for producer, offset, epoch in job.last_records},
        high_watermark=job.high_watermark,
        now_ms=job.now_ms,
        delete_retention_ms=job.delete_retention_ms,
    )
    for group in group_segments(job, end_offset):
        yield from clean_group(files, job, group, retention, result)
    result.end_offset = end_offset


# -- 1. keys ------------------------------------------------------------------------------------


def build_key_map(
    files: Files, job: CompactionJob, keys: KeyMap, result: CompactionResult
) -> Iterator[int]:
    """Add the keys of the dirty segments to the map; stop early when it is full."""
    start = job.first_dirty_offset
    transactions = CleanedTransactions(
        AbortedTxn(*entry) for entry in job.aborted if entry[2] >= start
    )
    for segment, following in with_following(job, job.segments):
        if following <= start:
            continue
        for header, batch in read_batches(files, job, segment):
            if header.last_offset < start:
                continue
            if header.attributes & CONTROL_BIT:
                transactions.on_control_batch(header, batch)
            elif not transactions.on_batch(header):
                if keys.is_full:
                    return
                collect = collect_keys if header.magic == MAGIC_V2 else collect_old_keys
                keys.put_all(*_described(collect, files, job, segment, batch, header, start))
            keys.advance_to(header.last_offset)
            result.bytes_read += len(batch)
            yield len(batch)
        # Offsets may end before the next segment begins.
        keys.advance_to(following - 1)


def with_following(
    job: CompactionJob, segments: Sequence[SourceSegment]
) -> Iterator[tuple[SourceSegment, int]]:
    """Yield each segment with the offset at which the next one begins."""
    bases = [segment.base_offset for segment in segments[1:]]
    return zip(segments, [*bases, job.first_uncleanable_offset], strict=False)


def _described(
    call: Any,
    files: Files,
    job: CompactionJob,
    segment: SourceSegment,
    batch: memoryview,
    header: BatchHeader,
    *arguments: Any,
) -> Any:
    """Call a function; if a batch cannot be read, raise an error that names its file."""
    try:
        return call(batch, header, *arguments)
    except UncleanableBatch:
        raise
    except CorruptBatch as fault:
        path = segment_path(job.directory, segment.base_offset)
        raise UncleanableBatch(f"{path}: batch at offset {header.base_offset}: {fault}") from None


# -- 2. groups ----------------------------------------------------------------------------------


def group_segments(job: CompactionJob, end_offset: int) -> list[list[SourceSegment]]:
    """Group adjacent segments whose total size, and those of their indexes, fit one segment, and
    whose offsets fit 31 bits.
    """
    segments = [segment for segment in job.segments if segment.base_offset < end_offset]
    groups: list[list[SourceSegment]] = []
    log_bytes = index_bytes = time_index_bytes = 0
    for segment, following in with_following(job, segments):
        if (
            groups
            and log_bytes + segment.size <= job.segment_bytes
            and index_bytes + segment.index_bytes <= job.segment_index_bytes
            and time_index_bytes + segment.time_index_bytes <= job.segment_index_bytes
            and (segment.size == 0 or following - 1 - groups[-1][0].base_offset <= MAX_OFFSET_RANGE)
        ):
            groups[-1].append(segment)
        else:
            groups.append([segment])
            log_bytes = index_bytes = time_index_bytes = 0
        log_bytes += segment.size
        index_bytes += segment.index_bytes
        time_index_bytes += segment.time_index_bytes
    return groups


# -- 3. copy ------------------------------------------------------------------------------------


def clean_group(
    files: Files,
    job: CompactionJob,
    group: list[SourceSegment],
    retention: Retention,
    result: CompactionResult,
) -> Iterator[int | Group]:
    """Copy what is kept of one group; the last value yielded is the finished Group."""
    output = CleanedOutput(files, job, group[0].base_offset)
    retention.transactions.follow_kept_aborts(output.keep_abort)
    for segment in group:
        output.modified_ms = segment.modified_ms
        retention.keeps_old_tombstones = segment.modified_ms > old_tombstones_until_ms(job)
        for header, batch in read_batches(files, job, segment):
            size = len(batch)
            keep = filter_batch if header.magic == MAGIC_V2 else filter_old_message
            kept = _described(keep, files, job, segment, batch, header, retention)
            if kept is not None:
                output.add(kept, header)
                size += len(kept)
                result.bytes_written += len(kept)
            result.bytes_read += len(batch)
            yield size
    output.finish()
    yield Group(tuple(segment.base_offset for segment in group), tuple(output.base_offsets))


def old_tombstones_until_ms(job: CompactionJob) -> int:
    """Return the modification time up to which segments lose tombstones that are older than magic 2
    and have no horizon of their own: delete.retention.ms before the last segment of the clean part
    was written; 0 if there is none.
    """
    clean = [s.modified_ms for s in job.segments if s.base_offset < job.first_dirty_offset]
    return clean[-1] - job.delete_retention_ms if clean else 0


class CleanedOutput:
    """The `.cleaned` segments of one group: one, unless its size or offsets exceed 31 bits."""

    def __init__(self, files: Files, job: CompactionJob, base_offset: int) -> None:
        self._files = files
        self._job = job
        self.base_offsets: list[int] = []
        self.modified_ms = job.now_ms
        self._parts: list[Buffer] = []
        self._batches: list[Placed] = []
        self._pending_bytes = 0
        self._aborted: list[AbortedTxn] = []
        self._segment = self._create(base_offset)

    def _create(self, base_offset: int) -> Segment:
        self.base_offsets.append(base_offset)
        return Segment.create(
            self._files,
            self._job.directory,
            base_offset,
            self._job,
            self._job.now_ms,
            suffix=CLEANED_SUFFIX,
        )

    def add(self, batch: Buffer, header: BatchHeader) -> None:
        size = self._segment.size + self._pending_bytes
        if size and (
            size + len(batch) > MAX_SEGMENT_BYTES
            or header.last_offset - self._segment.base_offset > MAX_OFFSET_RANGE
        ):
            self.finish()
            self._segment = self._create(header.base_offset)
        self._parts.append(batch)
        self._batches.append(placed(header))
        self._pending_bytes += len(batch)
        if self._pending_bytes >= _WRITE_BYTES:
            self._write()

    def keep_abort(self, aborted: AbortedTxn) -> None:
        """Add the transaction of an abort marker that is kept to the new index."""
        self._aborted.append(aborted)

    def _write(self) -> None:
        if self._parts:
            self._segment.append(self._parts, self._batches)
            self._parts, self._batches, self._pending_bytes = [], [], 0
        for aborted in self._aborted:
            completed = CompletedTxn(
                aborted.producer_id, aborted.first_offset, aborted.last_offset, True
            )
            completed.last_stable_offset = aborted.last_stable_offset
            self._segment.txn_index.append_aborted(completed)
        self._aborted = []

    def finish(self) -> None:
        """Write and sync the segment that is being filled."""
        self._write()
        segment = self._segment
        segment.become_inactive()
        segment.sync()
        segment.release()
        self._files.set_modified_ms(segment.file.path, self.modified_ms)


# -- reading ------------------------------------------------------------------------------------


def read_batches(
    files: Files, job: CompactionJob, source: SourceSegment
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Yield the batches of a closed segment, read in large pieces, with verified checksums. Raises
    UncleanableBatch.
    """
    path = segment_path(job.directory, source.base_offset)
    file = files.open(path)
    try:
        position = 0
        piece = memoryview(b"")
        at = 0
        while position < source.size:
            size = _whole_size(piece, at)
            if size is None or at + size > len(piece):
                piece = _read_piece(file, position, source.size, job.io_buffer_bytes)
                at = 0
                size = _whole_size(piece, 0)
                if size is None or size > len(piece):
                    raise UncleanableBatch(f"{path}: incomplete batch at position {position}")
            batch = piece[at : at + size]
            try:
                header = read_stored_header(batch)
            except CorruptBatch as fault:
                raise UncleanableBatch(f"{path}: position {position}: {fault}") from None
            if not has_right_crc(batch, header):
                raise UncleanableBatch(f"{path}: wrong checksum at position {position}")
            yield header, batch
            at += size
            position += size
    finally:
        file.close()


def _read_piece(file: OpenFile, position: int, end: int, io_buffer_bytes: int) -> memoryview:
    """Read at least the whole batch at `position`, unless the segment ends earlier."""
    left = end - position
    piece = file.pread(min(max(io_buffer_bytes, RECORD_BATCH_OVERHEAD), left), position)
    size = _whole_size(memoryview(piece), 0)
    if size is not None and len(piece) < size <= left:
        piece = file.pread(size, position)
    return memoryview(piece)


def _whole_size(piece: memoryview, at: int) -> int | None:
    """Return the size of the batch at `at`, at least that of a header (which an unknown magic has,
    too); None if its header is incomplete.
    """
    if at + HEAD_BYTES > len(piece):
        return None
    length, magic = _FRAME.unpack_from(piece, at)
    size = LOG_OVERHEAD + int(length)
    if is_old_frame(magic, length):
        return size
    if at + RECORD_BATCH_OVERHEAD > len(piece):
        return None
    if magic != MAGIC_V2:
        return RECORD_BATCH_OVERHEAD  # read_stored_header will report the fault
    return max(size, RECORD_BATCH_OVERHEAD)
