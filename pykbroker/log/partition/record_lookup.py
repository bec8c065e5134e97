"""Finds the first record of a batch at or after a time, for look-ups that must not take long.

A few kilobytes may hold a hundred megabytes once decompressed, or ten million records. If a look-up
must not wait (`Files.may_wait` is False: it runs on the event loop), a thread searches such a
batch: ColdRead names it, as for bytes that are not in the page cache, and the repeated look-up
finds the thread's result in `looked_up`.

State   recent results of threads, in the log's `looked_up`: by the header of the batch (which
        includes its checksum) and the query.
"""

from __future__ import annotations

from functools import partial

from pykbroker.environment.files import ColdRead
from pykbroker.log.segments.segment import FoundOffset
from pykbroker.log.validation.validation_rules import LIGHT_DECOMPRESSED_BYTES
from pykbroker.protocol import compression
from pykbroker.protocol.crc32c import BytesLike
from pykbroker.protocol.record import CorruptBatch, CorruptRecord, read_records
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    LOG_APPEND_TIME_BIT,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
    records_payload,
)
from pykbroker.protocol.stored_batch import stored_records

MOST_KEPT = 64

Asked = tuple[bytes, int, int]
LookedUp = dict[Asked, FoundOffset | CorruptBatch | None]


def first_record(
    batch: BytesLike,
    header: BatchHeader,
    timestamp: int,
    start_offset: int,
    looked_up: LookedUp,
    *,
    may_wait: bool,
) -> FoundOffset | None:
    """Return the first record from start_offset on with a timestamp >= the requested one; None if
    there is none. Raises CorruptBatch; ColdRead, unless `may_wait`, for a batch that is not light
    and that no thread has searched yet.
    """
    if may_wait or is_light(batch, header):
        for record in stored_records(batch, header):
            if record.timestamp >= timestamp and record.offset >= start_offset:
                return FoundOffset(record.offset, record.timestamp, header.partition_leader_epoch)
        return None
    asked = (bytes(memoryview(batch)[:RECORD_BATCH_OVERHEAD]), timestamp, start_offset)
    if asked not in looked_up:
        raise ColdRead(partial(_look_through, batch, header, asked, looked_up))
    found = looked_up[asked]
    if isinstance(found, CorruptBatch):
        raise found
    return found


def is_light(batch: BytesLike, header: BatchHeader) -> bool:
    """Return whether the batch may be searched on the event loop: if it has at most
    LIGHT_DECOMPRESSED_BYTES, also once decompressed. A compressed one before magic 2 may not.
    """
    if len(batch) > LIGHT_DECOMPRESSED_BYTES:
        return False
    codec = header.attributes & CODEC_MASK
    if codec == compression.NONE:
        return True
    if header.magic != MAGIC_V2:
        return False
    try:
        records = memoryview(batch)[RECORD_BATCH_OVERHEAD:]
        compression.decompress(codec, records, LIGHT_DECOMPRESSED_BYTES)
    except compression.DecompressedTooLarge:
        return False
    except compression.CorruptCompression:
        return True  # and nobody gets far with it
    return True


def _look_through(batch: BytesLike, header: BatchHeader, asked: Asked, looked_up: LookedUp) -> None:
    """Find the record, in a thread, and store it in `looked_up`."""
    found: FoundOffset | CorruptBatch | None
    try:
        found = _first_of_many(batch, header, *asked[1:])
    except CorruptBatch as fault:
        found = fault
    if len(looked_up) >= MOST_KEPT:
        looked_up.pop(next(iter(looked_up)), None)
    looked_up[asked] = found


def _first_of_many(
    batch: BytesLike, header: BatchHeader, timestamp: int, start_offset: int
) -> FoundOffset | None:
    """Like `first_record`; of magic 2, only records up to the one it finds are decoded."""
    epoch = header.partition_leader_epoch
    if header.magic != MAGIC_V2:
        for record in stored_records(batch, header):
            if record.timestamp >= timestamp and record.offset >= start_offset:
                return FoundOffset(record.offset, record.timestamp, epoch)
        return None
    has_append_time = bool(header.attributes & LOG_APPEND_TIME_BIT)
    payload = records_payload(batch, header)
    try:
        for time_delta, offset_delta, *_ in read_records(payload, header.record_count):
            offset = header.base_offset + offset_delta
            time = header.max_timestamp if has_append_time else header.base_timestamp + time_delta
            if time >= timestamp and offset >= start_offset:
                return FoundOffset(offset, time, epoch)
    except IndexError:
        raise CorruptRecord("the records end early") from None
    return None
