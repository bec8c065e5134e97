"""Checks the metadata log before its recovery for damage that is followed by valid records.

Recovery cuts a log at the first invalid batch. After a crash that is normally the torn end of
unsynced data. In the middle of the log it would lose committed metadata: topics would be forgotten
and their partitions set aside. So startup fails in this case:

    valid ... | bad bytes | a valid batch whose offset and epoch may follow
                           (and the newest snapshot does not hold that batch)

A hole of bytes that were never written (zeros) is not damage: a power failure leaves one if the
disk wrote later data first. None of that data was acknowledged, and recovery cuts it.

In:  the directory, the end offset of the newest snapshot, whether the shutdown was clean (then
     recovery does not read below that offset, and the check begins at an index entry before it).
Out: CorruptMetadataLog.
"""

from __future__ import annotations

import re
import struct
from typing import Final

from pykbroker.environment.files import Files, OpenFile
from pykbroker.protocol.record_batch import (
    LOG_OVERHEAD,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
    check_crc,
    unpack_header,
)
from pykbroker.values import NamedTuple

_NAME = re.compile(r"(\d{20})\.log\Z").match
_CHUNK_BYTES: Final = 1 << 20
_SECTOR_BYTES: Final = 512
_MAGIC: Final = 2
_INDEX_ENTRY: Final = struct.Struct(">ii")  # offset relative to the base, position

# Possible starts of a batch: an offset below 2^48, a length below 2^24, any epoch, magic 2.
_MAYBE_BATCH = re.compile(rb"(?=\0\0.{6}\0.{3}.{4}\x02)", re.DOTALL)


class CorruptMetadataLog(Exception):
    """Committed metadata cannot be read any more; the text is one line for the user."""


class _Place(NamedTuple):
    """A place in the log: the next offset (-1: any), and the epochs of the two previous batches.

    The epoch of a batch is not covered by its checksum, so the last epoch may be damaged.
    """

    path: str
    position: int
    next_offset: int
    epoch: int
    epoch_before: int


def check_metadata_log(
    files: Files, directory: str, snapshot_offset: int, *, is_clean: bool
) -> None:
    """Raise CorruptMetadataLog if recovery would cut committed records out of the log.

    Records below `snapshot_offset` are in a snapshot, so losing them from the log loses nothing.
    Nor does a hole of bytes that were never written: nothing that follows it was acknowledged.
    """
    if not files.is_dir(directory):
        return
    bases = sorted(int(match[1]) for name in files.listdir(directory) if (match := _NAME(name)))
    first = max((base for base in bases if base <= snapshot_offset), default=0)
    damage: _Place | None = None
    is_hole = False
    place = _Place("", 0, first, 0, 0)
    for base in bases:
        if base < first:
            continue
        path = f"{directory}/{base:020d}.log"
        file = files.open(path)
        try:
            search_from = 0
            if damage is None:
                start = _indexed_position(files, path, snapshot_offset) if is_clean else 0
                next_offset = -1 if start else max(place.next_offset, base)
                place = _walk(file, place._replace(position=start, next_offset=next_offset))
                if place.position == file.size:
                    continue
                damage, search_from = place, place.position
            found = _next_valid(file, search_from, damage, snapshot_offset)
            if path == damage.path:
                end = file.size if found is None else found[0]
                is_hole = _is_unwritten(file, damage.position, end)
        finally:
            file.close()
        if found is None:
            continue
        if is_hole:
            return
        at, header = found
        raise CorruptMetadataLog(
            f"{damage.path}: the batch at position {damage.position} (offset "
            f"{damage.next_offset}) is damaged, but committed records follow from offset "
            f"{header.base_offset} on (position {at} of {path}): restore the file from a copy; "
            f"truncating it at position {damage.position} discards those records"
        )


def _indexed_position(files: Files, path: str, offset: int) -> int:
    """Return the indexed position of a batch at or before `offset`; 0 if there is none.

    A wrong position would look like damage, so it is used only if a batch with that offset is
    there.
    """
    base = int(path[-24:-4])
    index = f"{path.removesuffix('.log')}.index"
    if not files.exists(index):
        return 0
    content = files.read_file(index)
    found = (0, 0)
    for entry in _INDEX_ENTRY.iter_unpack(content[: len(content) // 8 * 8]):
        if not found[0] < entry[0] <= offset - base:
            break
        found = entry
    file = files.open(path)
    try:
        header = _batch_at(file, found[1])
    finally:
        file.close()
    return found[1] if header is not None and header.last_offset == base + found[0] else 0


def _walk(file: OpenFile, place: _Place) -> _Place:
    """Return the first place from `place` on that does not continue the log, or its end."""
    position, next_offset, epoch, epoch_before = place[1:]
    chunk, start = memoryview(b""), position
    while position < file.size:
        header = _batch_in(chunk[position - start :])
        if header is None:  # the chunk ends within the batch, or the batch is damaged
            header = _batch_at(file, position)
            if header is None:
                break
            chunk = memoryview(file.pread(max(_CHUNK_BYTES, header.size_bytes), position))
            start = position
        if header.partition_leader_epoch < epoch or next_offset not in (-1, header.base_offset):
            break
        position += header.size_bytes
        next_offset = header.next_offset
        epoch_before, epoch = epoch, header.partition_leader_epoch
    return _Place(file.path, position, next_offset, epoch, epoch_before)


def _batch_in(content: memoryview) -> BatchHeader | None:
    """Return the header of the intact batch at the start of `content`, None if there is none."""
    if len(content) < RECORD_BATCH_OVERHEAD:
        return None
    header = unpack_header(content)
    size = LOG_OVERHEAD + header.batch_length
    if header.magic != _MAGIC or not RECORD_BATCH_OVERHEAD <= size <= len(content):
        return None
    if header.last_offset_delta < 0 or not check_crc(content[:size]):
        return None
    return header


def _batch_at(file: OpenFile, position: int) -> BatchHeader | None:
    """Return the header of the intact batch at `position`, None if there is none."""
    start = file.pread(RECORD_BATCH_OVERHEAD, position)
    if len(start) < RECORD_BATCH_OVERHEAD:
        return None
    size = LOG_OVERHEAD + unpack_header(start).batch_length
    if not RECORD_BATCH_OVERHEAD <= size <= file.size - position:
        return None
    return _batch_in(memoryview(file.pread(size, position)))


def _next_valid(
    file: OpenFile, position: int, damage: _Place, snapshot_offset: int
) -> tuple[int, BatchHeader] | None:
    """Find the first valid batch from `position` on that is in no snapshot and may follow `damage`;
    return its position and its header.
    """
    while position < file.size:
        # Chunks overlap by the length of the pattern.
        chunk = file.pread(_CHUNK_BYTES + RECORD_BATCH_OVERHEAD, position)
        for match in _MAYBE_BATCH.finditer(chunk):
            if match.start() >= _CHUNK_BYTES:
                break
            at = position + match.start()
            header = _batch_at(file, at)
            if (
                header is not None
                and header.base_offset >= damage.next_offset
                and header.last_offset >= snapshot_offset
                and header.partition_leader_epoch >= damage.epoch_before
            ):
                return at, header
        position += _CHUNK_BYTES
    return None


def _is_unwritten(file: OpenFile, start: int, end: int) -> bool:
    """Return whether bytes between were never written: zeros where the header would be (as much of
    it as is there), or in a whole aligned sector.
    """
    if start == end:
        return False
    head = file.pread(min(RECORD_BATCH_OVERHEAD, end - start), start)
    if not any(head):
        return True
    sector = -(-start // _SECTOR_BYTES) * _SECTOR_BYTES
    while sector + _SECTOR_BYTES <= end:
        if not any(file.pread(_SECTOR_BYTES, sector)):
            return True
        sector += _SECTOR_BYTES
    return False
