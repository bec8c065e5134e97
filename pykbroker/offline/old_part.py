"""The part of a segment with messages of magic 0 and 1, which precede batches of magic 2.

Kafka before 0.11 wrote them, and logs from that time may still contain them. Both decoders read
them one by one, and verify their checksums whatever the options say. The headers that these
functions return are made up: their base offset and record count come from the records, if those
were decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from pykbroker.log.recovery.damage import MAYBE_BATCH
from pykbroker.offline.batch_headers import HEADER_DTYPE, HeaderTable, framing_fault
from pykbroker.offline.segment_index import batch_at
from pykbroker.offline.storage import SegmentFile
from pykbroker.protocol.old_messages import (
    HEAD_BYTES,
    check_old_crc,
    is_old_frame,
    old_header,
    old_records,
)
from pykbroker.protocol.record import CorruptRecord, Record
from pykbroker.protocol.record_batch import (
    BATCH_LENGTH_AT,
    MAGIC_AT,
    MAGIC_V2,
    MAX_DECOMPRESSED_BYTES,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
)
from pykbroker.values import NamedTuple

_WINDOW_BYTES: Final = 1 << 20


class OldStep(NamedTuple):
    """One message, or the `fault` of bytes that cannot be read; `records` only if requested."""

    position: int
    size_bytes: int
    header: BatchHeader | None
    raw: bytes
    records: list[Record]
    fault: str | None


def begins_old(opened: SegmentFile, position: int) -> bool:
    """Return whether messages of magic 0 or 1 begin at a position, even if the first is damaged
    (but not if its magic became 2, or its header zeros).
    """
    head = opened.read(RECORD_BATCH_OVERHEAD, position)
    if not any(head):
        return False
    if _says_old(head):
        return True
    if head[MAGIC_AT : MAGIC_AT + 1] == bytes([MAGIC_V2]):
        return False
    following = _next_sound(opened, position, opened.size)
    return _says_old(opened.read(HEAD_BYTES, following))


def _says_old(head: bytes) -> bool:
    if len(head) < HEAD_BYTES:
        return False
    length = int.from_bytes(head[BATCH_LENGTH_AT : BATCH_LENGTH_AT + 4], "big", signed=True)
    return is_old_frame(head[MAGIC_AT], length)


def old_steps(
    opened: SegmentFile,
    start: int,
    end: int,
    *,
    with_records: bool = True,
    max_decompressed: int = MAX_DECOMPRESSED_BYTES,
) -> Iterator[OldStep]:
    """Yield the messages, and the faults between them, from `start` to the first batch of magic 2,
    or to `end`.
    """
    if not begins_old(opened, start):
        return
    window, window_at, position = b"", start, start
    while position < end:
        inside = position - window_at
        if inside + RECORD_BATCH_OVERHEAD > len(window):
            window = opened.read(min(_WINDOW_BYTES, end - position), position)
            window_at, inside = position, 0
        header = old_header(window, inside, end - position)
        if header is None:
            head = window[inside : inside + RECORD_BATCH_OVERHEAD]
            if head[MAGIC_AT : MAGIC_AT + 1] == bytes([MAGIC_V2]):
                return
            following = _next_sound(opened, position, end)
            fault = framing_fault(head, end - position)[1] or "no message"
            yield OldStep(position, following - position, None, head, [], fault)
            position = following
            continue
        if inside + header.size_bytes > len(window):
            wanted = min(max(_WINDOW_BYTES, header.size_bytes), end - position)
            window = opened.read(wanted, position)
            window_at, inside = position, 0
        raw = window[inside : inside + header.size_bytes]
        step = _step(position, header, raw, with_records, max_decompressed)
        if step.header is None:
            following = position + header.size_bytes
            if following < end and not _may_begin(opened, following, end):
                following = _next_sound(opened, position, end)
            step = step._replace(size_bytes=following - position)
        yield step
        position += step.size_bytes


def _step(
    position: int, header: BatchHeader, raw: bytes, with_records: bool, max_decompressed: int
) -> OldStep:
    """Read one message; `header` is None if the checksum is wrong, because the length may be wrong
    as well.
    """
    size = header.size_bytes
    if len(raw) < size or not check_old_crc(raw, header):
        fault = f"message of magic {header.magic} with a wrong checksum"
        return OldStep(position, size, None, raw, [], fault)
    if not with_records:
        return OldStep(position, size, header, raw, [], None)
    try:
        records = old_records(raw, header, max_decompressed)
    except CorruptRecord as broken:
        return OldStep(position, size, header, raw, [], str(broken))
    last_offset = header.last_offset
    header.base_offset = records[0].offset
    header.last_offset_delta = last_offset - header.base_offset
    header.base_timestamp = records[0].timestamp
    header.record_count = len(records)
    return OldStep(position, size, header, raw, records, None)


def end_of_old(opened: SegmentFile, start: int, end: int, next_offset: int) -> tuple[int, int]:
    """Return (end of the messages from `start`, the offset after the intact ones). Damaged bytes
    at the very `end` do not count.
    """
    position = start
    for step in old_steps(opened, start, end, with_records=False):
        if step.header is not None:
            position = step.position + step.size_bytes
            next_offset = max(next_offset, step.header.next_offset)
        elif step.position + step.size_bytes < end:
            position = step.position + step.size_bytes
    return position, next_offset


def table_of_old(steps: list[OldStep]) -> HeaderTable:
    """Return the headers of messages as rows like those of batches."""
    rows = [
        tuple(getattr(step.header, name) for name in _FIELDS)
        for step in steps
        if step.header is not None
    ]
    return np.array(rows, HEADER_DTYPE)


_FIELDS: Final = (
    "base_offset",
    "batch_length",
    "partition_leader_epoch",
    "magic",
    "crc",
    "attributes",
    "last_offset_delta",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "record_count",
)


def _is_sound(opened: SegmentFile, position: int, end: int) -> bool:
    if batch_at(opened, position, end) is not None:
        return True
    header = old_header(opened.read(HEAD_BYTES, position), 0, end - position)
    if header is None:
        return False
    raw = opened.read(header.size_bytes, position)
    return len(raw) == header.size_bytes and check_old_crc(raw, header)


def _may_begin(opened: SegmentFile, position: int, end: int) -> bool:
    """Return whether a message or batch can begin there."""
    head = opened.read(RECORD_BATCH_OVERHEAD, position)
    if old_header(head, 0, end - position) is not None:
        return True
    magic = head[MAGIC_AT : MAGIC_AT + 1]
    return magic == bytes([MAGIC_V2]) and framing_fault(head, end - position)[1] is None


def _next_sound(opened: SegmentFile, position: int, end: int) -> int:
    """Return where the next intact message or batch after a bad position begins, or `end`."""
    start = position + 1
    while start < end:
        size = min(_WINDOW_BYTES + RECORD_BATCH_OVERHEAD, end - start)
        piece = opened.read(size, start)
        if not piece:
            return end  # the file was truncated meanwhile
        zeros = max(len(piece) - len(piece.lstrip(b"\0")) - RECORD_BATCH_OVERHEAD, 0)
        for match in MAYBE_BATCH.finditer(piece, zeros):
            if _is_sound(opened, start + match.start(), end):
                return start + match.start()
        start += _WINDOW_BYTES
    return end
