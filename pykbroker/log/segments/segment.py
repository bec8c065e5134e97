"""One segment of a partition's log: a file of record batches, and the indexes beside it.

    00000000000000000042.log        record batches
    00000000000000000042.index      offset -> position, sparse     (offset_index.py)
    00000000000000000042.timeindex  timestamp -> offset, sparse    (time_index.py)
    00000000000000000042.txnindex   aborted transactions           (txn_index.py)

State: `size` is where the batches end: any bytes after it in the file are no batch of the log, but
preallocated, torn, or left over from a failed write. In a segment that was just opened, it is the
size of the file. `hints` caches the positions of some offsets, so that a tailing consumer needs no
look-up.
In:    buffers of batches with their offsets assigned; offsets to find.
Out:   positions, batch headers, batches. LogReader makes slices of them, record_lookup.py finds
       records by time.
Invariant: offsets that are appended are >= base_offset and fit 31 bits above it.
Source: Kafka's LogSegment.java.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

from pykbroker.environment.files import Buffer, Files
from pykbroker.log.segments.entry_index import MAX_RELATIVE_OFFSET
from pykbroker.log.segments.index_files import (
    CorruptIndex,
    OffsetIndexFile,
    TimeIndexFile,
    TxnIndexFile,
)
from pykbroker.protocol.old_messages import (
    HEAD_BYTES,
    UNKNOWN_COUNT,
    is_old_frame,
    old_header,
)
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    LOG_OVERHEAD,
    MAGIC_AT,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
    unpack_header,
)
from pykbroker.values import NamedTuple

LOG_SUFFIX = ".log"
INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
TXN_INDEX_SUFFIX = ".txnindex"
INDEX_SUFFIXES = (INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX)
DELETED_SUFFIX = ".deleted"
CLEANED_SUFFIX = ".cleaned"
SWAP_SUFFIX = ".swap"

MAX_HINTS = 64
WINDOW_BYTES = 8 * 1024
HEADER_CHUNK_BYTES = 64 * 1024

LEAST_LENGTH = RECORD_BATCH_OVERHEAD - LOG_OVERHEAD
Placed: TypeAlias = tuple[int, int, int, int]
"""A batch that has its place in a log: base offset, last offset, max timestamp, size in bytes."""

LOCATE = struct.Struct(">qi4xb6xi")
"""base offset, batch length, magic, last offset delta (which messages before magic 2 lack)."""


class SegmentConfig(Protocol):
    """The topic settings that a segment uses (implemented by config.TopicConfig)."""

    @property
    def segment_index_bytes(self) -> int: ...
    @property
    def index_interval_bytes(self) -> int: ...
    @property
    def segment_bytes(self) -> int: ...
    @property
    def preallocate(self) -> bool: ...


class CorruptSegment(Exception):
    """The bytes at a position of a log file are not a record batch that can be there."""

    def __init__(self, path: str, position: int, reason: str) -> None:
        super().__init__(f"{path} is corrupt at position {position}: {reason}")
        self.path = path
        self.position = position
        self.reason = reason


class TimestampOffset(NamedTuple):
    timestamp: int
    offset: int


class FoundOffset(NamedTuple):
    """The record found by a look-up by time; leader_epoch is -1 if the batch has none."""

    offset: int
    timestamp: int
    leader_epoch: int


def placed(header: BatchHeader) -> Placed:
    """Return what a segment records of a batch with this header."""
    return header.base_offset, header.last_offset, header.max_timestamp, header.size_bytes


def segment_path(directory: str, base_offset: int, suffix: str = LOG_SUFFIX) -> str:
    return f"{directory}/{base_offset:020d}{suffix}"


class Segment:
    """One segment. Disk failures raise OSError, corrupt bytes raise CorruptSegment, or CorruptIndex
    if an index is at fault.

    The constructor opens a segment whose log file exists; `create` creates a new one.
    """

    __slots__ = (
        "base_offset",
        "bytes_since_index",
        "created_ms",
        "directory",
        "file",
        "files",
        "first_timestamp",
        "hints",
        "index_full",
        "index_interval_bytes",
        "is_writable",
        "largest",
        "offset_index",
        "roll_jitter_ms",
        "size",
        "time_index",
        "txn_index",
    )

    def __init__(
        self,
        files: Files,
        directory: str,
        base_offset: int,
        config: SegmentConfig,
        now_ms: int,
        suffix: str = "",
        *,
        create: bool = False,
    ) -> None:
        self.files = files
        self.directory = directory
        self.base_offset = base_offset
        self.file = files.open(segment_path(directory, base_offset) + suffix, create=create)
        self.size = self.file.size
        self.created_ms = now_ms
        self.roll_jitter_ms = 0
        self.index_interval_bytes = config.index_interval_bytes
        path = segment_path(directory, base_offset, "")
        index_bytes = config.segment_index_bytes
        memory = files.index_memory
        self.offset_index = OffsetIndexFile(
            files, path + INDEX_SUFFIX + suffix, base_offset, index_bytes, memory
        )
        self.time_index = TimeIndexFile(
            files, path + TIME_INDEX_SUFFIX + suffix, base_offset, index_bytes, memory
        )
        self.txn_index = TxnIndexFile(
            files, path + TXN_INDEX_SUFFIX + suffix, base_offset, index_bytes, memory
        )
        self.bytes_since_index = 0
        self.index_full = False
        self.is_writable = False
        self.largest: TimestampOffset | None = None
        """Largest timestamp and the last offset of its batch; None: not looked up yet."""
        self.first_timestamp: int | None = None
        """Largest timestamp of the first batch, which time-based rolling counts from."""
        self.hints: dict[int, int] = {}

    @classmethod
    def create(
        cls,
        files: Files,
        directory: str,
        base_offset: int,
        config: SegmentConfig,
        now_ms: int,
        suffix: str = "",
        roll_jitter_ms: int = 0,
    ) -> Segment:
        """Create a new, empty, active segment; existing files with its names are removed."""
        for kind in (LOG_SUFFIX, *INDEX_SUFFIXES):
            files.unlink(segment_path(directory, base_offset, kind) + suffix)
        segment = cls(files, directory, base_offset, config, now_ms, suffix, create=True)
        if config.preallocate:
            segment.file.truncate(config.segment_bytes)
        segment.size = 0
        segment.roll_jitter_ms = roll_jitter_ms
        segment.largest = TimestampOffset(-1, base_offset)
        segment.make_writable()
        return segment

    def __repr__(self) -> str:
        return f"Segment({self.file.path}, size={self.size})"

    # -- writing --------------------------------------------------------------------------------

    def make_writable(self) -> None:
        """Preallocate the indexes and load the values that appends compare with."""
        self.is_writable = True
        self.offset_index.preallocate()
        self.time_index.preallocate()
        self.index_full = self.offset_index.is_full or self.time_index.is_full
        self.largest_timestamp()
        if self.first_timestamp is None and self.size:
            self.first_timestamp = self.header_at(0).max_timestamp

    def append(self, parts: Sequence[Buffer], batches: Sequence[Placed]) -> None:
        """Write the parts, which contain these batches, with writev; then
        update the indexes.
        """
        if not self.is_writable:
            self.make_writable()
        position = self.size
        size = position + self.file.pwritev(parts, position)
        self.size = size
        hints = self.hints
        if len(hints) >= MAX_HINTS:
            del hints[next(iter(hints))]
        base_offset, _, max_timestamp, _ = batches[0]
        hints[base_offset] = position
        if self.first_timestamp is None:
            self.first_timestamp = max_timestamp
        self.index_batches(batches, position)

    def index_batches(self, batches: Sequence[Placed], position: int) -> None:
        """Index batches that begin at `position`, by the rule of LogSegment.append."""
        largest = self.largest
        assert largest is not None
        since = self.bytes_since_index
        interval = self.index_interval_bytes
        for _, last_offset, max_timestamp, size_bytes in batches:
            if max_timestamp > largest[0]:
                largest = TimestampOffset(max_timestamp, last_offset)
            if since > interval and not self.index_full:  # one round may fill it: rolled later
                self.offset_index.append(last_offset, position)
                self.time_index.append(largest[0], largest[1])
                self.index_full = self.offset_index.is_full or self.time_index.is_full
                since = 0
            position += size_bytes
            since += size_bytes
        self.bytes_since_index = since
        self.largest = largest

    def can_hold(self, last_offset: int) -> bool:
        return 0 <= last_offset - self.base_offset <= MAX_RELATIVE_OFFSET

    def become_inactive(self) -> None:
        """Stop appending: add the last time index entry (for retention), cut files to size."""
        largest = self.largest_timestamp()
        self.time_index.append(largest.timestamp, largest.offset, force=True)
        self.offset_index.trim()
        self.time_index.trim()
        self.trim_log()
        self.is_writable = False

    def trim_log(self) -> None:
        if self.file.size != self.size:
            self.file.truncate(self.size)

    # -- finding --------------------------------------------------------------------------------

    def largest_timestamp(self) -> TimestampOffset:
        """Largest timestamp of all batches; first reads those after the last time index entry.

        Otherwise an index that lost whole entries at its end would look valid, and look-ups would
        skip the segment and retention would delete it too early.
        """
        if self.largest is None:
            timestamp, offset = self.time_index.last_entry
            position = self.position_of_time_entry(timestamp, offset)
            for _, header in self.headers_from(position):
                if header.max_timestamp > timestamp:
                    timestamp, offset = header.max_timestamp, header.last_offset
            self.largest = TimestampOffset(timestamp, offset)
        return self.largest

    def position_of_time_entry(self, timestamp: int, offset: int) -> int:
        """Return the position of a time index entry's batch, which has the entry's timestamp; 0 for
        a negative timestamp. Raises CorruptIndex if the entry has no such batch.
        """
        if timestamp < 0:
            return 0
        for position, header in self.headers_from(self.position_of_entry(offset)):
            if header.last_offset >= offset:
                is_inside = header.base_offset <= offset or header.record_count == UNKNOWN_COUNT
                if is_inside and header.max_timestamp == timestamp:
                    return position
                break
        path = self.time_index.path
        raise CorruptIndex(path, f"entry ({timestamp}, {offset}) does not point at a batch")

    def indexed_timestamp(self) -> int:
        """Return a lower bound of the largest timestamp, without reading batches."""
        return (self.largest or self.time_index.last_entry)[0]

    def position_of_entry(self, offset: int) -> int:
        """Return where to begin scanning for `offset`: the verified index entry at or below it."""
        entry_offset, position = self.offset_index.lookup(offset)
        if position:
            self._check_entry(entry_offset, position)
        return position

    def upper_bound(self, position: int, size: int) -> int | None:
        """Return a verified offset above all in [position, position + size), or None."""
        entry = self.offset_index.upper_bound(position, size)
        if entry is None:
            return None
        self._check_entry(*entry)
        return entry[0]

    def translate(self, offset: int) -> int | None:
        """Position of the first batch whose last offset is >= `offset`; None if beyond the end."""
        hints = self.hints
        position = hints.get(offset)
        if position is not None:
            return position
        position = self.position_of_entry(offset)
        end = self.size
        unpack = LOCATE.unpack_from
        window = WINDOW_BYTES
        while position < end:
            found = self.file.pread(min(window, end - position), position)
            if len(found) == HEAD_BYTES:
                found += b"\0"  # the smallest message of magic 0 is shorter by this
            limit = len(found) - LOCATE.size
            at = 0
            while at <= limit:
                base_offset, length, magic, delta = unpack(found, at)
                if length < LEAST_LENGTH or magic != MAGIC_V2 or delta < 0:
                    if not is_old_frame(magic, length):
                        raise CorruptSegment(self.file.path, position + at, "no batch header")
                    delta = 0
                if base_offset + delta >= offset:
                    self._check_frame(position + at, base_offset, length, delta)
                    if len(hints) >= MAX_HINTS:
                        del hints[next(iter(hints))]
                    hints[offset] = position + at
                    return position + at
                at += LOG_OVERHEAD + length
            if at == 0:
                raise CorruptSegment(self.file.path, position, "incomplete batch header")
            position += at
            window = HEADER_CHUNK_BYTES
        return None

    def _check_frame(self, position: int, base_offset: int, length: int, delta: int) -> None:
        """Check that what a reader receives begins with a complete batch of this segment."""
        if position + LOG_OVERHEAD + length > self.size:
            raise CorruptSegment(self.file.path, position, "the batch ends beyond the file")
        if base_offset < self.base_offset or not self.can_hold(base_offset + delta):
            reason = f"a batch of offsets {base_offset} to {base_offset + delta} cannot be here"
            raise CorruptSegment(self.file.path, position, reason)

    def _check_entry(self, offset: int, position: int) -> None:
        """Raise CorruptIndex unless an entry has an offset of the batch at its position.

        It is the last offset of the batch; Kafka before 1.0 wrote the first one. If batches were
        appended together, older brokers wrote the last offset of all: such an index is rebuilt.
        """
        found = self.file.pread(LOCATE.size, position) if 0 < position < self.size else b""
        if len(found) == HEAD_BYTES:
            found += b"\0"
        if len(found) == LOCATE.size:
            base_offset, length, magic, delta = LOCATE.unpack(found)
            if magic == MAGIC_V2:
                if base_offset <= offset <= base_offset + delta:
                    return
            elif is_old_frame(magic, length):
                is_compressed = found[MAGIC_AT + 1] & CODEC_MASK
                if offset == base_offset or (is_compressed and offset < base_offset):
                    return
        path = self.offset_index.path
        raise CorruptIndex(path, f"entry ({offset}, {position}) does not point at a batch")

    def header_at(self, position: int) -> BatchHeader:
        return next(self.headers_from(position))[1]

    def batch_size_at(self, position: int) -> int:
        found = self.file.pread(LOG_OVERHEAD, position)
        return LOG_OVERHEAD + int.from_bytes(found[8:12], "big")

    def headers_from(
        self, position: int, end: int | None = None
    ) -> Iterator[tuple[int, BatchHeader]]:
        """Yield (position, header) of the batches from `position` on, without their records."""
        end = self.size if end is None else end
        path = self.file.path
        found = b""
        start = position
        while position < end:
            at = position - start
            if at + RECORD_BATCH_OVERHEAD > len(found):
                start, at = position, 0
                found = self.file.pread(min(HEADER_CHUNK_BYTES, end - position), position)
                if len(found) < RECORD_BATCH_OVERHEAD:  # old messages may be as short
                    found += bytes(RECORD_BATCH_OVERHEAD - len(found))
            header = unpack_header(found, at)
            size = LOG_OVERHEAD + header.batch_length
            if header.magic != MAGIC_V2 or size < RECORD_BATCH_OVERHEAD or position + size > end:
                old = old_header(found, at, end - position)
                if old is None:
                    raise CorruptSegment(path, position, "no batch header")
                header = old
                size = LOG_OVERHEAD + header.batch_length
            yield position, header
            position += size

    def read_batch(self, position: int, header: BatchHeader) -> bytes:
        return self.file.pread(LOG_OVERHEAD + header.batch_length, position)

    def next_offset(self) -> int:
        """Return the offset after the last batch, scanning from the last index entry."""
        following = self.base_offset
        if self.size:
            position = self.position_of_entry(self.offset_index.last_offset)
            for _, header in self.headers_from(position):
                following = header.next_offset
        return following

    # -- cutting, renaming, closing -------------------------------------------------------------

    def truncate_to(self, offset: int, now_ms: int) -> int:
        """Cut every batch that contains an offset >= `offset`; return the number of bytes cut."""
        position = self.translate(offset)
        self.hints.clear()
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.txn_index.truncate_to(offset)
        cut = 0
        if position is not None:
            cut = self.size - position
            self.file.truncate(position)
            self.file.sync()  # cut data must not reappear below the recovery point
            self.size = position
        if self.size == 0:
            self.created_ms = now_ms
            self.first_timestamp = None
        self.bytes_since_index = 0
        self.largest = None
        self.make_writable()
        return cut

    def cut_back(self) -> None:
        """Discard what a failed write left after the last complete batch."""
        self.file.truncate(self.size)

    def paths(self) -> list[str]:
        return [
            self.file.path,
            self.offset_index.path,
            self.time_index.path,
            self.txn_index.path,
        ]

    def change_suffix(self, old: str, new: str) -> None:
        """Rename the segment's files, in Kafka's order: the log first."""
        renamed = [path.removesuffix(old) + new for path in self.paths()]
        self.files.rename(self.file.path, renamed[0])
        self.file.path = renamed[0]
        self.offset_index.rename(renamed[1])
        self.time_index.rename(renamed[2])
        self.txn_index.rename(renamed[3])

    def move_to(self, directory: str) -> None:
        """Update the paths after the partition's directory was renamed."""
        old = self.directory
        self.directory = directory
        for part in (self.file, self.offset_index, self.time_index, self.txn_index):
            part.path = directory + part.path.removeprefix(old)

    def sync(self) -> None:
        """fsync everything (LogSegment.flush). Blocks."""
        self.file.sync()
        self.offset_index.flush()
        self.time_index.flush()
        self.txn_index.flush()

    def release(self) -> None:
        """Close the file and `unload` the indexes without writing, as the disk may have failed."""
        self.hints.clear()
        self.file.close()
        for index in (self.offset_index, self.time_index, self.txn_index):
            index.unload()
