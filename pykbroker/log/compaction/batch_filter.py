"""What compaction keeps of one batch.

Rules (Kafka's, Cleaner.java and MemoryRecords.filterTo)
    Records of aborted transactions are removed. Of the others, those past the offsets that the map
    covers are kept, and of those that it covers, the latest of each key; but a tombstone among
    these only until the batch's delete horizon, which is set to now + delete.retention.ms when the
    batch is first cleaned with it (KIP-534). The same applies to markers of emptied transactions.
    Base offset, last offset and sequence of a batch do not change; offsets inside may have gaps.
    The base timestamp of a batch that lost some records is that of the first one kept, or the
    horizon. Of the last data batch of an active producer, and of the batch that ends at the high
    watermark, at least the header is kept: they carry the last sequence and the log's end.
"""

from __future__ import annotations

from bisect import bisect_left

from pykbroker.log.compaction.cleaned_transactions import CleanedTransactions
from pykbroker.log.compaction.key_map import KeyMap
from pykbroker.log.compaction.record_scan import scan_keys, scan_records
from pykbroker.protocol.crc32c import BytesLike
from pykbroker.protocol.record import encode_record, encode_varint, read_records, read_varint
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    LOG_APPEND_TIME_BIT,
    NO_TIMESTAMP,
    RECORDS_AT,
    BatchHeader,
    assemble_batch,
    records_payload,
)

#: A record to keep: its start and end, its timestamp delta, and where the part after the delta
#: begins.
Kept = tuple[int, int, int, int]


class Retention:
    """What one round of compaction keeps; the same for every batch of the round, but for the state
    of `transactions` and `keeps_old_tombstones`.

    last_records: producer id -> (offset of its last record of data or -1, its epoch).
    keeps_old_tombstones: whether tombstones older than magic 2 in the current segment are kept.
    """

    __slots__ = (
        "delete_retention_ms",
        "high_watermark",
        "keeps_old_tombstones",
        "keys",
        "last_records",
        "now_ms",
        "transactions",
    )

    def __init__(
        self,
        keys: KeyMap,
        transactions: CleanedTransactions,
        last_records: dict[int, tuple[int, int]],
        *,
        high_watermark: int,
        now_ms: int,
        delete_retention_ms: int,
    ) -> None:
        self.keys = keys
        self.transactions = transactions
        self.last_records = last_records
        self.high_watermark = high_watermark
        self.now_ms = now_ms
        self.delete_retention_ms = delete_retention_ms
        self.keeps_old_tombstones = True


def filter_batch(batch: BytesLike, header: BatchHeader, retention: Retention) -> BytesLike | None:
    """Return what is kept of a batch: None, the batch, or a new one (then `header` is changed).
    Raises CorruptBatch.
    """
    horizon = header.delete_horizon_ms
    empties_marker = False
    if header.attributes & CONTROL_BIT:
        empties_marker = retention.transactions.on_control_batch(header, batch)
        discard = empties_marker and horizon is not None and horizon <= retention.now_ms
        keep_empty = _is_kept_empty(header, retention)
        if discard or header.record_count == 0:
            return build_empty(header) if keep_empty else None
        if not empties_marker or horizon is not None:
            return batch
        return _with_horizon([records_payload(batch, header)], header, retention)
    if retention.transactions.on_batch(header):
        return build_empty(header) if _is_kept_empty(header, retention) else None
    payload = records_payload(batch, header)
    kept, max_timestamp, has_tombstone = _select(payload, header, retention)
    if not kept:
        return build_empty(header) if _is_kept_empty(header, retention) else None
    count = len(kept)
    if has_tombstone and horizon is None:
        return _with_horizon(_slices(kept, payload), header, retention)
    if count == header.record_count:
        return batch
    header.record_count = count
    if not header.attributes & LOG_APPEND_TIME_BIT:
        header.max_timestamp = max_timestamp
    encoded = _slices(kept, payload) if horizon is not None else _rebased(kept, payload, header)
    return assemble_batch(b"".join(encoded), header)


def _slices(kept: list[Kept], payload: bytes) -> list[bytes]:
    return [payload[start:end] for start, end, _, _ in kept]


def _rebased(kept: list[Kept], payload: bytes, header: BatchHeader) -> list[bytes]:
    """Return the records `kept`, with timestamp deltas from the first of them
    (MemoryRecordsBuilder), to which the header's base timestamp is set.
    """
    base = header.base_timestamp
    if header.attributes & LOG_APPEND_TIME_BIT:
        header.base_timestamp = header.max_timestamp
        if not any(time_delta for _, _, time_delta, _ in kept):
            return _slices(kept, payload)
        kept = [(start, end, 0, rest) for start, end, _, rest in kept]
        shift = 0
    else:
        shift = kept[0][2]
        header.base_timestamp = base + shift
        if not shift:
            return _slices(kept, payload)
    encoded: list[bytes] = []
    for _, end, time_delta, rest in kept:
        time = encode_varint(time_delta - shift)
        encoded += (encode_varint(1 + len(time) + end - rest), b"\0", time, payload[rest:end])
    return encoded


def _is_kept_empty(header: BatchHeader, retention: Retention) -> bool:
    if header.next_offset == retention.high_watermark:
        return True
    last = retention.last_records.get(header.producer_id) if header.producer_id >= 0 else None
    if last is None:
        return False
    offset, epoch = last
    if offset >= 0:
        return header.last_offset == offset
    return bool(header.attributes & CONTROL_BIT) and header.producer_epoch == epoch


def _select(
    payload: bytes, header: BatchHeader, retention: Retention
) -> tuple[list[Kept], int, bool]:
    """Return the records to keep, their largest timestamp, and whether one is a tombstone. Raises
    CorruptRecord.
    """
    offset_of = retention.keys.offsets.get
    covered = retention.keys.latest_offset
    horizon = header.delete_horizon_ms
    keeps_tombstones = horizon is None or retention.now_ms < horizon
    base_offset = header.base_offset
    kept: list[Kept] = []
    largest: int | None = None
    has_tombstone = False
    for start, end, time_at, delta, key, value_at in scan_records(payload, header.record_count):
        offset = base_offset + delta
        if offset <= covered and (key is None or offset < offset_of(key, -1)):
            continue
        is_tombstone = payload[value_at] & 1
        if is_tombstone:
            if offset <= covered and not keeps_tombstones:
                continue
            has_tombstone = True
        time_delta, rest = read_varint(payload, time_at)
        kept.append((start, end, time_delta, rest))
        if largest is None or time_delta > largest:
            largest = time_delta
    return kept, header.base_timestamp + (largest or 0), has_tombstone


def _with_horizon(kept: list[bytes], header: BatchHeader, retention: Retention) -> bytearray:
    """Return a batch of the records `kept`, with a delete horizon as its base timestamp."""
    horizon = retention.now_ms + retention.delete_retention_ms
    append_time = header.max_timestamp if header.attributes & LOG_APPEND_TIME_BIT else None
    encoded: list[bytes] = []
    max_timestamp = NO_TIMESTAMP
    records = read_records(b"".join(kept), len(kept))
    for time_delta, delta, key, value, headers, _ in records:
        timestamp = header.base_timestamp + time_delta if append_time is None else append_time
        max_timestamp = max(max_timestamp, timestamp)
        encoded.append(encode_record(delta, timestamp - horizon, key, value, headers))
    header.attributes |= DELETE_HORIZON_BIT
    header.base_timestamp = horizon
    header.max_timestamp = max_timestamp
    header.record_count = len(encoded)
    return assemble_batch(b"".join(encoded), header)


def build_empty(header: BatchHeader) -> bytearray:
    """Return the batch without records, uncompressed (DefaultRecordBatch.writeEmptyHeader)."""
    header.attributes &= ~(CODEC_MASK | DELETE_HORIZON_BIT)
    header.base_timestamp = NO_TIMESTAMP
    header.record_count = 0
    batch = assemble_batch(b"", header)
    assert len(batch) == RECORDS_AT
    return batch


def collect_keys(
    batch: BytesLike, header: BatchHeader, start_offset: int
) -> tuple[list[bytes], list[int]]:
    """Return the keys and offsets of the records from `start_offset` on that have a key."""
    keys, deltas = scan_keys(records_payload(batch, header), header.record_count)
    base_offset = header.base_offset
    offsets = [base_offset + delta for delta in deltas]
    if base_offset < start_offset:
        first = bisect_left(offsets, start_offset)
        return keys[first:], offsets[first:]
    return keys, offsets
