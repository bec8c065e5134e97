"""What compaction keeps of a message before magic 2: a record batch of magic 2.

Rules (Kafka's, MemoryRecords.buildRetainedRecordsInto and Cleaner.shouldRetainRecord)
    Offsets do not change. Everything kept is rewritten, even if it is the whole message, with its
    codec and timestamp type: the batch begins with the first record kept and ends with the last.
    Magic 0 has no timestamps; its records get -1. Tombstones that the map covers are kept while
    their segment is younger than delete.retention.ms before the last one of the clean part. A batch
    with a tombstone gets a delete horizon. Of the last message below the high watermark, at least
    an empty batch is kept.
"""

from __future__ import annotations

from bisect import bisect_left

from pykbroker.log.compaction.batch_filter import Retention, build_empty
from pykbroker.protocol.crc32c import BytesLike
from pykbroker.protocol.old_messages import old_records
from pykbroker.protocol.record import Record, encode_record
from pykbroker.protocol.record_batch import (
    DELETE_HORIZON_BIT,
    LOG_APPEND_TIME_BIT,
    MAGIC_V2,
    NO_TIMESTAMP,
    BatchHeader,
    assemble_batch,
)


def filter_old_message(
    message: BytesLike, header: BatchHeader, retention: Retention
) -> bytearray | None:
    """Return what is kept of a message: None or a new batch, to whose header `header` is changed.
    Raises CorruptBatch.
    """
    kept = [record for record in old_records(message, header) if _stays(record, retention)]
    header.magic = MAGIC_V2
    if not kept:
        is_kept_empty = header.next_offset == retention.high_watermark
        return build_empty(header) if is_kept_empty else None
    header.base_offset = kept[0].offset
    header.last_offset_delta = kept[-1].offset - kept[0].offset
    header.record_count = len(kept)
    header.base_timestamp = kept[0].timestamp
    if not header.attributes & LOG_APPEND_TIME_BIT:
        header.max_timestamp = max(NO_TIMESTAMP, *(record.timestamp for record in kept))
    if any(record.value is None for record in kept):
        header.attributes |= DELETE_HORIZON_BIT
        header.base_timestamp = retention.now_ms + retention.delete_retention_ms
    encoded = [
        encode_record(
            record.offset - header.base_offset,
            record.timestamp - header.base_timestamp,
            record.key,
            record.value,
        )
        for record in kept
    ]
    return assemble_batch(b"".join(encoded), header)


def _stays(record: Record, retention: Retention) -> bool:
    if record.offset > retention.keys.latest_offset:
        return True
    if record.key is None or record.offset < retention.keys.offset_of(record.key):
        return False
    return record.value is not None or retention.keeps_old_tombstones


def collect_old_keys(
    message: BytesLike, header: BatchHeader, start_offset: int
) -> tuple[list[bytes], list[int]]:
    """Return the keys and offsets of the records from `start_offset` on that have a key."""
    keyed = [(r.key, r.offset) for r in old_records(message, header) if r.key is not None]
    offsets = [offset for _, offset in keyed]
    first = bisect_left(offsets, start_offset)
    return [key for key, _ in keyed[first:]], offsets[first:]
