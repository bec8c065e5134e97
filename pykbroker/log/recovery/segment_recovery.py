"""Repairs a segment from its batches: checks them, and rebuilds the indexes and producer state.

Only bytes that are no batch or have a wrong checksum, and what follows them, are cut. Without
`cuts` they are kept, and indexed as far as each batch leads to the next.

Source: LogSegment.recover, UnifiedLog.rebuildProducerState.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from pykbroker.environment.files import Buffer
from pykbroker.errors import KafkaError
from pykbroker.log.directories.epoch_checkpoint import EpochCheckpoint
from pykbroker.log.producers.producer_snapshots import ProducerSnapshots
from pykbroker.log.producers.producer_state import CompletedTxn, ProducerStateManager
from pykbroker.log.recovery.damage import OffsetsOutOfPlace, OffsetsOverflow, report_cut
from pykbroker.log.segments.index_files import CorruptIndex
from pykbroker.log.segments.segment import CorruptSegment, Segment, TimestampOffset, placed
from pykbroker.log.segments.segment_list import SegmentList
from pykbroker.log.validation.validation_rules import REPLICATION
from pykbroker.protocol.crc32c import crc32c
from pykbroker.protocol.old_messages import check_old_crc, old_header
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.record_batch import (
    ATTRIBUTES_AT,
    CONTROL_BIT,
    LOG_OVERHEAD,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
    unpack_header,
)

_log = logging.getLogger(__name__)

CHUNK_BYTES = 1 << 20
END_OF_TIME = 0x7FFF_FFFF_FFFF_FFFF


def valid_batches(
    segment: Segment, limit: int = END_OF_TIME
) -> Iterator[tuple[int, BatchHeader, memoryview]]:
    """Yield (position, header, bytes) of the batches up to the first that is incomplete or damaged.

    Gaps between their offsets are allowed: compaction leaves them, here or on the leader. The next
    segment begins at `limit`. Raises OffsetsOutOfPlace and OffsetsOverflow (damage.py).
    """
    position = 0
    end = segment.size
    previous_offset = segment.base_offset - 1
    chunk = memoryview(b"")
    start = 0
    while position < end:
        at = position - start
        if at + RECORD_BATCH_OVERHEAD > len(chunk):
            chunk = memoryview(segment.file.pread(min(CHUNK_BYTES, end - position), position))
            start, at = position, 0
            if len(chunk) < RECORD_BATCH_OVERHEAD:  # messages before magic 2 may be as short
                chunk = memoryview(bytes(chunk).ljust(RECORD_BATCH_OVERHEAD, b"\0"))
        header = unpack_header(chunk, at)
        size = LOG_OVERHEAD + header.batch_length
        if header.magic != MAGIC_V2 or size < RECORD_BATCH_OVERHEAD or position + size > end:
            old = old_header(chunk, at, end - position)
            if old is None:
                return
            header = old
            size = LOG_OVERHEAD + header.batch_length
        if at + size > len(chunk):
            wanted = min(max(CHUNK_BYTES, size), end - position)
            chunk = memoryview(segment.file.pread(wanted, position))
            start, at = position, 0
            if len(chunk) < size:
                return
        batch = chunk[at : at + size]
        if header.magic == MAGIC_V2:
            if crc32c(batch[ATTRIBUTES_AT:]) != header.crc:
                return
        elif not check_old_crc(batch, header):
            return
        if header.base_offset <= previous_offset or header.last_offset_delta < 0:
            raise _out_of_place(segment, position, header, f"do not follow {previous_offset}")
        if header.last_offset >= limit:
            raise _out_of_place(segment, position, header, f"overlap the next segment, {limit}")
        if not segment.can_hold(header.last_offset):
            raise OffsetsOverflow(segment, header.last_offset)
        yield position, header, batch
        previous_offset = header.last_offset
        position += size


def _out_of_place(
    segment: Segment, position: int, header: BatchHeader, reason: str
) -> OffsetsOutOfPlace:
    return OffsetsOutOfPlace(segment.file.path, position, header, reason)


def recover_segment(
    segment: Segment,
    snapshots: ProducerSnapshots,
    epochs: EpochCheckpoint,
    limit: int = END_OF_TIME,
    *,
    cuts: bool = True,
) -> int:
    """Check, cut and rebuild; return the number of bytes cut from the log file.

    Without `cuts`, damage is only reported: a segment that was synced lacks only its indexes. On
    OffsetsOutOfPlace and OffsetsOverflow the log file is not changed.
    """
    reset_indexes(segment)
    aborted: list[CompletedTxn] = []
    producers = snapshots.manager
    valid_bytes = 0
    end_offset = segment.base_offset
    for position, header, batch in valid_batches(segment, limit):
        segment.index_batches((placed(header),), position)
        valid_bytes = position + len(batch)
        latest = epochs.latest_epoch
        if header.partition_leader_epoch > (-1 if latest is None else latest):
            epochs.assign(header.partition_leader_epoch, header.base_offset)
        completed = apply_producer(producers, header, batch)
        if completed is not None and completed.is_aborted:
            aborted.append(completed)
        producers.map_end_offset = end_offset = header.next_offset
    cut = segment.size - valid_bytes
    if cut and not cuts:
        _log.error("%s is damaged at position %d: it is kept", segment.file.path, valid_bytes)
        index_what_follows(segment, valid_bytes, end_offset)
        cut = 0
    elif cut:
        report = report_cut(segment, valid_bytes, end_offset)
        level = logging.ERROR if report.sound_batches else logging.WARNING
        _log.log(level, "Found bad bytes in log segment %s: %s", segment.file.path, report)
        segment.file.truncate(valid_bytes)
        # Sync now: the segment may be below the recovery point before anything syncs it again, and
        # after a power failure the bad bytes would not be looked for once more.
        segment.file.sync()
        segment.size = valid_bytes
    segment.txn_index.rewrite(aborted)
    finish_indexes(segment)
    return cut


def apply_producer(
    producers: ProducerStateManager, header: BatchHeader, batch: Buffer
) -> CompletedTxn | None:
    """Apply a batch without the checks of a client's, because it was written before (origin
    REPLICATION). Return the transaction that it ends, if any. One that is refused is ignored.
    """
    if header.producer_id < 0:
        return None
    try:
        update = producers.prepare(header, batch, header.base_offset, REPLICATION)
    except KafkaError as fault:
        _log.warning("%s: ignored in its producer's state: %s", header, fault.message)
        return None
    except CorruptBatch as fault:  # its checksum is valid: it was written like this
        _log.warning("%s: ignored in its producer's state: %s", header, fault)
        return None
    return producers.apply(update) if update is not None else None


def rebuild_indexes(segment: Segment) -> None:
    """Rebuild only the offset and time index, from the headers. Raises CorruptSegment where they
    lead to what is no batch or is out of order; what is before it is indexed.
    """
    was_writable = segment.is_writable
    reset_indexes(segment)
    try:
        index_batches_from(segment, 0, segment.base_offset)
    finally:
        finish_indexes(segment)
    if was_writable:
        segment.make_writable()


def index_batches_from(segment: Segment, position: int, least_offset: int) -> None:
    """Index the batches from `position` on, by their headers. Raises CorruptSegment at what is no
    batch, or is out of order: offsets below `least_offset` are.
    """
    previous = least_offset - 1
    for place, header in segment.headers_from(position):
        if header.base_offset <= previous or not segment.can_hold(header.last_offset):
            raise CorruptSegment(segment.file.path, place, "offsets are out of order")
        previous = header.last_offset
        segment.index_batches((placed(header),), place)


def index_what_follows(segment: Segment, position: int, least_offset: int) -> None:
    """Index the batches from damage at `position` on, as far as each leads to the next, regardless
    of checksums.
    """
    with contextlib.suppress(CorruptSegment):
        index_batches_from(segment, position, least_offset)


def rebuild_transaction_index(
    segment: Segment, snapshots: ProducerSnapshots, segments: SegmentList, log_start_offset: int
) -> None:
    """Rebuild the aborted transactions of a segment from producer state as of its start."""
    before = snapshots.fresh_copy()
    before.offsets = [offset for offset in snapshots.offsets if offset <= segment.base_offset]
    rebuild_producer_state(before, segments, log_start_offset, segment.base_offset)
    aborted: list[CompletedTxn] = []
    for place, header in segment.headers_from(0):
        if header.producer_id >= 0:
            is_control = header.attributes & CONTROL_BIT
            batch = segment.read_batch(place, header) if is_control else b""
            completed = apply_producer(before.manager, header, batch)
            if completed is not None and completed.is_aborted:
                aborted.append(completed)
    segment.txn_index.rewrite(aborted)


def reset_indexes(segment: Segment) -> None:
    segment.hints.clear()
    segment.offset_index.reset()
    segment.time_index.reset()
    segment.largest = TimestampOffset(-1, segment.base_offset)
    segment.first_timestamp = None
    segment.bytes_since_index = 0


def finish_indexes(segment: Segment) -> None:
    """Finish the indexes like a roll does: the largest timestamp last, written, cut to size."""
    largest = segment.largest_timestamp()
    segment.offset_index.trim()
    segment.time_index.append(largest.timestamp, largest.offset, force=True)
    segment.time_index.trim()
    segment.is_writable = False
    segment.bytes_since_index = 0


def rebuild_producer_state(
    snapshots: ProducerSnapshots,
    segments: SegmentList,
    log_start_offset: int,
    end_offset: int,
    is_clean: bool = False,
) -> None:
    """Load the newest usable snapshot at or below end_offset, unless the state covers the log up to
    there, and replay the batches after it; take a snapshot at end_offset and, where the replay gets
    there, at the last two segments, unless there is one.
    """
    producers = snapshots.manager
    to_snapshot = {end_offset}
    if len(segments):
        to_snapshot.add(segments.last.base_offset)
        before = segments.lower(segments.last.base_offset)
        if before is not None:
            to_snapshot.add(before.base_offset)
    if is_clean and snapshots.latest_offset is None and end_offset > log_start_offset:
        # Kafka then assumes that there never were producers, and serves open transactions.
        _log.warning(
            "%s: a clean shutdown leaves a producer snapshot, but there is none: reading the log "
            "for its producers",
            snapshots.directory,
        )
    was_empty = producers.is_empty and producers.map_end_offset >= end_offset
    snapshots.truncate_and_reload(log_start_offset, end_offset)
    if end_offset > producers.map_end_offset and not was_empty:
        for segment in segments.within(producers.map_end_offset, end_offset):
            start = max(segment.base_offset, producers.map_end_offset, log_start_offset)
            producers.map_end_offset = start
            if segment.base_offset in to_snapshot:
                snapshots.take()
            replay_producers(segment, producers, start, end_offset)
    producers.map_end_offset = end_offset
    snapshots.take()


def replay_producers(
    segment: Segment, producers: ProducerStateManager, start: int, end: int
) -> None:
    """Apply the producers' batches of [start, end); the transaction index exists already.

    Batches hidden by a damaged segment are unknown, which is no reason to cut synced data.
    """
    try:
        position = _translate(segment, start)
        if position is None:
            return
        for place, header in segment.headers_from(position):
            if header.base_offset >= end:
                return
            if header.producer_id >= 0 and header.last_offset >= start:
                is_control = header.attributes & CONTROL_BIT
                batch = segment.read_batch(place, header) if is_control else b""
                apply_producer(producers, header, batch)
    except CorruptSegment as fault:
        _log.error("%s; the producers of the batches after it are not known", fault)


def _translate(segment: Segment, offset: int) -> int | None:
    try:
        return segment.translate(offset)
    except CorruptIndex as fault:
        _log.warning("%s; rebuilding the indexes", fault)
        rebuild_indexes(segment)
        return segment.translate(offset)
