"""Batches as they lie in a log, whatever their magic: of Kafka 0.11 and later, or of before.

In      bytes of a log. Out: BatchHeader and Record values, as of record_batch.py.
Invariants
    A message of magic 0 or 1 (old_messages.py) is a batch whose base offset is its last offset.
    Malformed bytes raise CorruptBatch or CorruptRecord, nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from pykbroker.protocol.crc32c import BytesLike
from pykbroker.protocol.old_messages import check_old_crc, old_header, old_records
from pykbroker.protocol.record import CorruptBatch, CorruptRecord, Record
from pykbroker.protocol.record_batch import (
    BATCH_LENGTH_AT,
    LOG_OVERHEAD,
    MAGIC_V2,
    BatchHeader,
    check_crc,
    iter_records,
    read_header,
)

_I32 = struct.Struct(">i")


def read_stored_header(buf: BytesLike, pos: int = 0) -> BatchHeader:
    """The header of the batch that begins at `pos`; CorruptBatch unless all of it is there."""
    try:
        return read_header(buf, pos)
    except CorruptBatch:
        header = old_header(buf, pos, len(buf) - pos)
        if header is None:
            raise
        return header


def iter_stored(
    buf: BytesLike, *, partial_tail: bool = False
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """(header, the bytes of the batch) of each batch; a cut-off last one ends it if `partial_tail`.

    The checksums are not looked at.
    """
    view = memoryview(buf)
    pos, end = 0, len(view)
    while pos < end:
        if partial_tail:
            if end - pos < LOG_OVERHEAD:
                return
            (length,) = _I32.unpack_from(view, pos + BATCH_LENGTH_AT)
            if LOG_OVERHEAD + length > end - pos:
                return
        header = read_stored_header(view, pos)
        following = pos + LOG_OVERHEAD + header.batch_length
        yield header, view[pos:following]
        pos = following


def has_right_crc(batch: BytesLike, header: BatchHeader) -> bool:
    """Whether its checksum is right; `batch` is exactly one batch, `header` its own."""
    return check_crc(batch) if header.magic == MAGIC_V2 else check_old_crc(batch, header)


def stored_records(batch: BytesLike, header: BatchHeader) -> Iterator[Record]:
    """The records of one whole batch; CorruptBatch and CorruptRecord."""
    if header.magic == MAGIC_V2:
        return iter_records(batch, header)
    return iter(old_records(batch, header))


def first_offset(batch: BytesLike, header: BatchHeader) -> int:
    """The offset of its first record, which has to be looked up inside old compressed messages;
    there the base offset if they cannot be decoded.
    """
    if header.magic == MAGIC_V2 or header.record_count >= 0:
        return header.base_offset
    try:
        return old_records(batch, header)[0].offset
    except CorruptRecord:  # nobody can read it: its one known offset has to do
        return header.base_offset
