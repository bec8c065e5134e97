"""The kinds of damage that recovery finds in a log, and their descriptions.

    bytes that are no batch, or whose checksum is wrong     cut, with all that follow: `CutReport`;
                                                            kept if only the indexes of a
                                                            synced segment are rebuilt
    intact batches whose offsets are impossible there       `OffsetsOutOfPlace`: nothing is cut
    intact batches whose offsets exceed 31 bits             `OffsetsOverflow`: it is split
    a synced segment that ends within a batch               `ends_torn`: reading resumes after it

The functions only read the segment; recovery (segment_recovery.py, log_loader.py) changes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pykbroker.protocol.old_messages import old_header
from pykbroker.protocol.record_batch import (
    LOG_OVERHEAD,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
    unpack_header,
)
from pykbroker.protocol.stored_batch import has_right_crc
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.log.segments.segment import Segment

#: How far to search for an intact batch after a bad place whose length leads to none.
SEARCHED_BYTES: Final = 64 << 20
#: The most that is left of a batch that was cut off by the end of its file (`ends_torn`).
TORN_BYTES: Final = 4 << 20
_CHUNK_BYTES: Final = 1 << 20
#: Possible starts of a batch: an offset below 2^48, a length of 14 to 2^24, magic 0 to 2.
MAYBE_BATCH = re.compile(rb"(?=\0\0.{6}(?!\0\0\0[\0-\x0d])\0.{3}.{4}[\0-\2])", re.DOTALL)


class OffsetsOutOfPlace(Exception):
    """An intact batch with impossible offsets for its position; an operator has
    to inspect the log.
    """

    def __init__(self, path: str, position: int, header: BatchHeader, reason: str) -> None:
        super().__init__(
            f"{path}: the batch at position {position} is intact, but its offsets "
            f"{header.base_offset} to {header.last_offset} {reason}"
        )
        self.path = path
        self.position = position


class OffsetsOverflow(Exception):
    """The offsets of a segment are more than 31 bits apart, as old cleaners of Kafka left them
    (KAFKA-6264).
    """

    def __init__(self, segment: Segment, offset: int) -> None:
        super().__init__(f"{segment.file.path} holds offset {offset}, too far from its base offset")
        self.segment = segment


class CutReport(NamedTuple):
    """What recovery removes from a segment; the last three fields describe the intact batches that
    follow the bad place, up to the next bad one: their number, and the first and last offset.
    """

    position: int
    size_bytes: int
    from_offset: int
    sound_batches: int
    sound_first: int
    sound_last: int

    def __str__(self) -> str:
        removed = (
            f"removing {self.size_bytes} bytes from position {self.position} on, "
            f"offset {self.from_offset} and up"
        )
        if not self.sound_batches:
            return removed
        return (
            f"{removed}; among them are {self.sound_batches} intact batches after the bad one, "
            f"offsets {self.sound_first} to {self.sound_last}"
        )


def report_cut(segment: Segment, position: int, from_offset: int) -> CutReport:
    """Inspect the bytes after the bad place at `position`, before they are cut off."""
    sound, first, last = 0, -1, -1
    for header in _sound_behind(segment, position, from_offset):
        first = header.base_offset if not sound else first
        last = header.last_offset
        sound += 1
    return CutReport(position, segment.size - position, from_offset, sound, first, last)


def sound_header_at(segment: Segment, position: int) -> BatchHeader | None:
    """Return the header of the complete batch with a valid checksum at
    `position`; None if there is none.
    """
    remaining = segment.size - position
    head = segment.file.pread(min(RECORD_BATCH_OVERHEAD, remaining), position)
    head += bytes(RECORD_BATCH_OVERHEAD - len(head))
    header = unpack_header(head)
    size = LOG_OVERHEAD + header.batch_length
    if header.magic != MAGIC_V2 or not RECORD_BATCH_OVERHEAD <= size <= remaining:
        old = old_header(head, 0, remaining)
        if old is None:
            return None
        header = old
    batch = segment.file.pread(LOG_OVERHEAD + header.batch_length, position)
    if len(batch) != header.size_bytes or not has_right_crc(batch, header):
        return None
    return header


def ends_torn(segment: Segment, position: int) -> bool:
    """Return whether the segment ends with the bad batch at `position`: at most TORN_BYTES are
    left, and no intact batch is among them.
    """
    return segment.size - position <= TORN_BYTES and _next_sound(segment, position, 0) is None


def end_before(segment: Segment, position: int) -> int:
    """Return the offset after the batch that ends at `position`; the segment's base offset for 0.
    Raises CorruptSegment if the batches do not lead to `position`.
    """
    end = segment.base_offset
    for _, header in segment.headers_from(0, position):
        end = header.next_offset
    return end


def _sound_behind(segment: Segment, bad: int, from_offset: int) -> Iterator[BatchHeader]:
    """Yield the intact batches after the bad place, up to the next bad one."""
    position = _next_sound(segment, bad, from_offset)
    while position is not None and position < segment.size:
        header = sound_header_at(segment, position)
        if header is None:
            return
        yield header
        position += header.size_bytes


def _next_sound(segment: Segment, bad: int, from_offset: int) -> int | None:
    """Return the position of the next intact batch: where the bad one says that it ends, else the
    first MAYBE_BATCH within SEARCHED_BYTES whose offsets are not below `from_offset`; None if there
    is none.
    """
    size = LOG_OVERHEAD + int.from_bytes(segment.file.pread(LOG_OVERHEAD, bad)[8:12], "big")
    if size >= LOG_OVERHEAD and bad + size < segment.size:
        header = sound_header_at(segment, bad + size)
        if header is not None:
            return bad + size
    start, end = bad + 1, min(segment.size, bad + SEARCHED_BYTES)
    while start < end:
        chunk = segment.file.pread(_CHUNK_BYTES + RECORD_BATCH_OVERHEAD, start)
        zeros = max(len(chunk) - len(chunk.lstrip(b"\0")) - RECORD_BATCH_OVERHEAD, 0)
        for match in MAYBE_BATCH.finditer(chunk, zeros):
            at = start + match.start()
            header = sound_header_at(segment, at)
            if header is not None and header.base_offset >= from_offset:
                return at
        start += _CHUNK_BYTES
    return None
