"""Splits a segment whose offsets are more than 31 bits apart, which its indexes cannot represent.

Cleaners without the fix of KAFKA-5413 merged segments into such ones. Every byte of the log file
is kept: it is copied in parts, and the parts replace it much as compacted segments do. They have no
indexes, so the loader builds them.

    .cleaned -> .swap     in reverse order: a restart deletes the copies while a .cleaned file is
                          left, and finishes the swap later on
    the old files         unlinked
    .swap -> the name     and the directory is synced

In      a segment that is not in use. Out: the base offsets of the parts.
Source: Kafka's LocalLog.splitOverflowedSegment.
"""

from __future__ import annotations

import logging

from pykbroker.environment.files import Files
from pykbroker.log.recovery.damage import OffsetsOutOfPlace
from pykbroker.log.segments.entry_index import MAX_RELATIVE_OFFSET
from pykbroker.log.segments.segment import (
    CLEANED_SUFFIX,
    SWAP_SUFFIX,
    CorruptSegment,
    Segment,
    segment_path,
)
from pykbroker.protocol.stored_batch import first_offset

_log = logging.getLogger(__name__)

_COPY_BYTES = 1 << 20


def overflows(segment: Segment, end_offset: int) -> bool:
    """Return whether a segment whose batches end at `end_offset` has to be split."""
    return end_offset - 1 - segment.base_offset > MAX_RELATIVE_OFFSET


def split_segment(files: Files, segment: Segment) -> list[int]:
    """Replace the segment's files by those of its parts. Raises OffsetsOutOfPlace, OSError."""
    parts = plan_parts(segment)
    bases = [base for base, _ in parts]
    _log.warning("Splitting %s: its offsets are too far apart: %s", segment.file.path, bases)
    ends = [start for _, start in parts[1:]] + [segment.size]
    modified_ms = files.modified_ms(segment.file.path)
    for (base, start), end in zip(parts, ends, strict=True):
        path = segment_path(segment.directory, base) + CLEANED_SUFFIX
        _copy(files, segment, path, start, end)
        files.set_modified_ms(path, modified_ms)
    for base in reversed(bases):
        path = segment_path(segment.directory, base)
        files.rename(path + CLEANED_SUFFIX, path + SWAP_SUFFIX)
    segment.release()
    for path in segment.paths():
        files.unlink(path)
    for base in bases:
        path = segment_path(segment.directory, base)
        files.rename(path + SWAP_SUFFIX, path)
    files.sync_dir(segment.directory)
    return bases


def plan_parts(segment: Segment) -> list[tuple[int, int]]:
    """Return (base offset, position) of each part; trailing bytes that are no
    batch stay with the last.
    """
    parts = [(segment.base_offset, 0)]
    previous = segment.base_offset - 1
    try:
        for position, header in segment.headers_from(0):
            if header.base_offset <= previous:
                reason = f"do not follow {previous}"
                raise OffsetsOutOfPlace(segment.file.path, position, header, reason)
            if header.last_offset - parts[-1][0] > MAX_RELATIVE_OFFSET:
                first = first_offset(segment.read_batch(position, header), header)
                base = max(first, previous + 1, header.last_offset - MAX_RELATIVE_OFFSET)
                if segment.files.exists(segment_path(segment.directory, base)):
                    reason = f"overlap the segment {base}"
                    raise OffsetsOutOfPlace(segment.file.path, position, header, reason)
                if not position:
                    parts.clear()
                parts.append((base, position))
            previous = header.last_offset
    except CorruptSegment as fault:
        _log.info("%s: the bytes from there on are kept unchanged", fault)
    return parts


def _copy(files: Files, segment: Segment, path: str, start: int, end: int) -> None:
    files.unlink(path)
    target = files.open(path, create=True)
    try:
        while start < end:
            content = segment.file.pread(min(_COPY_BYTES, end - start), start)
            if not content:
                raise OSError(f"{segment.file.path} became shorter while it was split")
            target.pwritev([content], target.size)
            start += len(content)
        target.sync()
    finally:
        target.close()
