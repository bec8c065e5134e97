"""Finding things across the segments of a log: records by time, aborted transactions."""

from __future__ import annotations

from pykbroker.log.partition.local_log import LocalLog
from pykbroker.log.partition.read_outcome import ReadOutcome
from pykbroker.log.partition.record_lookup import LookedUp, first_record
from pykbroker.log.segments.segment import FoundOffset, Segment
from pykbroker.protocol.record_batch import BatchHeader


def offset_for_timestamp(
    local: LocalLog, timestamp: int, looked_up: LookedUp
) -> FoundOffset | None:
    """Return the first record with a timestamp >= the requested one, from the log start offset on.

    As in UnifiedLog, only the first segment whose largest timestamp reaches it is searched; None if
    there is no such segment, or no such record in it.
    """
    for segment in local.segments:
        if segment.largest_timestamp().timestamp >= timestamp:
            return find_in_segment(local, segment, timestamp, local.log_start_offset, looked_up)
    return None


def find_in_segment(
    local: LocalLog, segment: Segment, timestamp: int, start_offset: int, looked_up: LookedUp
) -> FoundOffset | None:
    """Return the first record of a segment, from start_offset on, with a timestamp >= the requested
    one; None if there is none.
    """
    entry = segment.time_index.lookup(timestamp)
    position = max(segment.position_of_time_entry(*entry), segment.position_of_entry(start_offset))
    for place, header in segment.headers_from(position):
        if header.max_timestamp < timestamp or header.last_offset < start_offset:
            continue
        found = _first_record(local, segment, place, header, timestamp, start_offset, looked_up)
        if found is not None:
            return found
    return None


def _first_record(
    local: LocalLog,
    segment: Segment,
    place: int,
    header: BatchHeader,
    timestamp: int,
    start_offset: int,
    looked_up: LookedUp,
) -> FoundOffset | None:
    batch = segment.read_batch(place, header)
    may_wait = local.files.may_wait
    return first_record(batch, header, timestamp, start_offset, looked_up, may_wait=may_wait)


def offset_of_max_timestamp(local: LocalLog, looked_up: LookedUp) -> FoundOffset | None:
    """Return the first record with the largest timestamp of all, from the earliest segment that has
    it; None if no batch has a timestamp, or no record has that of its batch.

    As in Kafka, a record before the log start offset counts while its segment exists.
    """
    latest = local.segments.first
    for segment in local.segments:
        if segment.largest_timestamp().timestamp > latest.largest_timestamp().timestamp:
            latest = segment
    largest = latest.largest_timestamp()
    if largest.timestamp < 0:
        return None
    for place, header in latest.headers_from(latest.position_of_entry(largest.offset)):
        if header.max_timestamp == largest.timestamp:
            found = _first_record(local, latest, place, header, largest.timestamp, 0, looked_up)
            if found is not None:
                return found
    return None


def aborted_transactions(
    local: LocalLog, start_offset: int, end_offset: int
) -> list[tuple[int, int]]:
    """Return (producer id, first offset) of the aborted transactions that overlap [start_offset,
    end_offset), ordered by first offset. The first segment begins at or below `start_offset`.
    """
    found: list[tuple[int, int]] = []
    segment = local.segments.floor(start_offset)
    while segment is not None:
        aborted, is_complete = segment.txn_index.collect(start_offset, end_offset)
        found += [(entry.producer_id, entry.first_offset) for entry in aborted]
        if is_complete:
            break
        segment = local.segments.higher(segment.base_offset)
    found.sort(key=lambda entry: entry[1])
    return found


def aborted_in_slice(
    local: LocalLog, start_offset: int, outcome: ReadOutcome
) -> list[tuple[int, int]]:
    """Return (producer id, first offset) of the aborted transactions that overlap what was read,
    and perhaps of some after it (up to `upper_bound_offset`). If nothing was aborted, no batch is
    read: the one after the slice may not be in the page cache.
    """
    segment = local.segments.floor(start_offset)
    while segment is not None and segment.txn_index.is_empty:
        segment = local.segments.higher(segment.base_offset)
    if segment is None:
        return []
    return aborted_transactions(local, start_offset, upper_bound_offset(local, outcome))


def upper_bound_offset(local: LocalLog, outcome: ReadOutcome) -> int:
    """Return an offset above all of the slice, from the offset index or the end of the segment,
    without reading the slice (LocalLog.addAbortedTransactions).
    """
    segment = local.segments.floor(outcome.segment_base_offset)
    if segment is None or outcome.size == 0:
        return local.log_end_offset
    bound = segment.upper_bound(outcome.position, outcome.size)
    if bound is not None:
        return bound
    following = local.segments.higher(segment.base_offset)
    return following.base_offset if following is not None else local.log_end_offset
