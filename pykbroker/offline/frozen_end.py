"""Determines where a partition's log ends now: nothing is read beyond that,
whatever is appended later.

The last segment may be in the middle of a write, or its writer may have been killed during one. The
last batch is therefore beyond the end if it is incomplete or its checksum is wrong, and so are
zeros (of a preallocated file, or one that grew before a crash). Elsewhere the same bytes are
corruption, which the reader handles; also below the checkpointed high watermark, because those
records were acknowledged.
"""

from __future__ import annotations

import struct
import zlib
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pykbroker.offline.batch_headers import framing_fault, header_at, old_magic
from pykbroker.offline.old_part import begins_old, end_of_old
from pykbroker.offline.partition_files import PartitionFiles, SegmentFiles
from pykbroker.offline.segment_index import (
    is_entry_true,
    next_batch,
    offset_entries,
    sound_batch,
    written_from,
)
from pykbroker.offline.segment_walk import HeaderRun, header_tables
from pykbroker.offline.split import MAX_SEGMENT_OFFSETS
from pykbroker.offline.storage import SegmentFile, open_file
from pykbroker.protocol.old_messages import is_old_frame
from pykbroker.protocol.record_batch import (
    LOG_OVERHEAD,
    MAGIC_AT,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
)
from pykbroker.values import NamedTuple

_ZEROS: Final = bytes(65536)
#: So many batches at the end are kept before their checksums are looked at.
_KEPT_HEADERS: Final = 4096
#: The last batch, and two that tell whether its offset can be.
_NEIGHBOURS: Final = 3
_CRC: Final = struct.Struct(">12xI").unpack_from
_FRAME: Final = struct.Struct(">8xi4xb").unpack_from


class FrozenEnd(NamedTuple):
    """The end of the last segment: position, and the offset of the next record."""

    position: int
    next_offset: int


def freeze(files: PartitionFiles) -> FrozenEnd:
    """Return the end of a partition's last segment; (0, log start offset) if it has none.

    Where it ends below the checkpointed high watermark, bytes behind that count as corruption: the
    end is that of the file, and the high watermark.
    """
    if not files.segments:
        return FrozenEnd(0, files.log_start_offset)
    with open_file(files.segments[-1].path) as opened:
        acknowledged = files.high_watermark or 0
        found = _freeze_segment(opened, files.segments[-1], acknowledged)
        if found.next_offset < acknowledged and found.position < opened.size:
            return FrozenEnd(opened.size, acknowledged)
        return found


def frozen_segments(files: PartitionFiles, frozen: FrozenEnd) -> Iterator[tuple[SegmentFiles, int]]:
    """Yield (segment, end of the bytes written to it) for each segment."""
    for segment in files.segments:
        is_last = segment is files.segments[-1]
        yield segment, frozen.position if is_last else segment.size_bytes


def open_listed(segment: SegmentFiles, end: int) -> SegmentFile:
    """Open a listed file; raises FileNotFoundError if it is gone, or shorter than `end`."""
    opened = open_file(segment.path)
    if opened.size < end:
        opened.close()
        raise FileNotFoundError(segment.path)
    return opened


def _freeze_segment(opened: SegmentFile, segment: SegmentFiles, acknowledged: int) -> FrozenEnd:
    """Find the end of one segment, by a walk that starts where its index allows."""
    end = opened.size
    position = _start(opened, segment, end)
    next_offset = segment.base_offset
    if begins_old(opened, position):
        position, next_offset = end_of_old(opened, position, end, next_offset)
        if position < end and not _is_new(opened, position):
            if _is_end(opened, position, end):
                return FrozenEnd(position, next_offset)
            return FrozenEnd(end, max(next_offset + 1, acknowledged))
    while True:
        walked = _walk_to_end(opened, segment.base_offset, position, next_offset, end)
        position, sound_end, next_offset = walked
        if position >= end:
            return FrozenEnd(position, next_offset)
        can_follow = range(next_offset, next_offset + MAX_SEGMENT_OFFSETS)
        following = next_batch(opened, sound_end, end, can_follow)
        if following is None:
            if _is_end(opened, position, end):
                return FrozenEnd(position, next_offset)
            # Neither complete nor half written: corruption, which the reader will report.
            return FrozenEnd(end, max(next_offset + 1, acknowledged))
        position = following  # corruption in the middle, which the reader will report


def _is_new(opened: SegmentFile, position: int) -> bool:
    """Return whether a batch of magic 2 begins after the old messages."""
    return opened.read(1, position + MAGIC_AT) == bytes([MAGIC_V2])


class _Walked(NamedTuple):
    """The result of a walk over consecutive batches.

    position      the start of the last batch if it is broken, else its end
    sound_end     the end of the last intact batch; where the walk began if there is none
    next_offset   the offset after that batch; the one given to the walk if there is none
    """

    position: int
    sound_end: int
    next_offset: int


class _Tail:
    """The last batches of a walk, and which of them are intact.

    Headers are kept up to a limit; of the earlier ones the last intact ones are remembered, in case
    all that are kept are broken.
    """

    def __init__(self, opened: SegmentFile) -> None:
        self._opened = opened
        self._runs: deque[HeaderRun] = deque()
        self._count = 0
        self._sound_before: list[tuple[int, BatchHeader]] = []

    def add(self, run: HeaderRun) -> None:
        self._runs.append(run)
        self._count += run.positions.size
        while self._count - self._runs[0].positions.size >= _KEPT_HEADERS:
            oldest = self._runs.popleft()
            self._count -= oldest.positions.size
            found = [*islice(self._sound_of(oldest), _NEIGHBOURS), *self._sound_before]
            self._sound_before = found[:_NEIGHBOURS]

    def last(self) -> tuple[int, BatchHeader] | None:
        if not self._runs:
            return None
        positions, table, _ = self._runs[-1]
        return int(positions[-1]), header_at(table, -1)

    def sound(self) -> Iterator[tuple[int, BatchHeader]]:
        """Yield (position, header) of the batches with a valid checksum, the last one first."""
        for run in reversed(self._runs):
            yield from self._sound_of(run)
        yield from self._sound_before

    def _sound_of(self, run: HeaderRun) -> Iterator[tuple[int, BatchHeader]]:
        for index in range(run.positions.size - 1, -1, -1):
            position, header = int(run.positions[index]), header_at(run.table, index)
            if sound_batch(self._opened, position, header.size_bytes) is not None:
                yield position, header


def _walk_to_end(
    opened: SegmentFile, base_offset: int, position: int, next_offset: int, end: int
) -> _Walked:
    tail = _Tail(opened)
    for run in header_tables(opened, None, base_offset, position, end):
        tail.add(run)
    last = tail.last()
    if last is None:
        return _Walked(position, position, next_offset)
    start, header = last
    if header.magic in (0, 1) and _is_old_message(opened, start, header.size_bytes):
        # not read, but no end
        behind = start + header.size_bytes
        return _Walked(behind, behind, max(next_offset, header.base_offset + 1))
    sound = tail.sound()
    found = next(sound, None)
    if found is None:
        return _Walked(start, position, next_offset)
    sound_end = found[0] + found[1].size_bytes
    following = _behind(found[1], (header for _, header in sound), next_offset)
    return _Walked(sound_end if found[0] == start else start, sound_end, following)


def _behind(last: BatchHeader, before: Iterator[BatchHeader], low: int) -> int:
    """Return the offset after the last batch.

    `before`: the batches before it, in descending order; `low`: no offset is smaller. No checksum
    covers base offsets, and a base offset that is too small must hide neither its batch nor earlier
    ones. Where two disagree, the one that continues from the batch before both is trusted.
    """
    base = max(last.base_offset, low)
    previous = next(before, None)
    if previous is not None and base < previous.next_offset:
        first = next(before, None)
        start = low if first is None else first.next_offset
        if previous.base_offset == start or last.base_offset < start:
            base = previous.next_offset
    return base + last.last_offset_delta + 1


def _start(opened: SegmentFile, segment: SegmentFiles, end: int) -> int:
    """Return the position to walk from: that of the third correct index entry from the end, or 0.

    Two batches then precede the last one, and show whether its offset is possible.
    """
    entries = reversed(offset_entries(segment.index_path, segment.base_offset, end))
    true = (entry[1] for entry in entries if is_entry_true(opened, entry, end))
    return next(islice(true, _NEIGHBOURS - 1, None), 0)


def _is_old_message(opened: SegmentFile, position: int, size: int) -> bool:
    """Return whether a message of magic 0 or 1 has a valid checksum: a torn
    header looks like one.
    """
    message = opened.read(size, position)
    return len(message) == size and zlib.crc32(message[MAGIC_AT:]) == _CRC(message)[0]


def _is_end(opened: SegmentFile, position: int, end: int) -> bool:
    """Return whether what follows is the end of the log: an incomplete batch, zeros, or both, or a
    batch with a wrong checksum. The caller knows that nothing intact is behind it.
    """
    if _is_zeros(opened, position + MAGIC_AT, end):
        return True  # half a header at most
    head = opened.read(RECORD_BATCH_OVERHEAD, position)
    if old_magic(head, end - position) is not None:
        return False
    _size, fault = framing_fault(head, end - position)
    if fault is None or len(head) < RECORD_BATCH_OVERHEAD:
        return True  # whole with a wrong checksum, or a few bytes
    length, magic = _FRAME(head)
    # Longer than the file.
    return bool(length >= RECORD_BATCH_OVERHEAD - LOG_OVERHEAD) or is_old_frame(magic, length)


def _is_zeros(opened: SegmentFile, position: int, end: int) -> bool:
    while position < end:
        piece = opened.read(min(len(_ZEROS), end - position), position)
        if not piece or piece != _ZEROS[: len(piece)]:
            return False
        position = max(position + len(piece), written_from(opened, position, end))
    return True
