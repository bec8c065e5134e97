"""Finding things across the segments of a log: records by time, aborted transactions."""

from __future__ import annotations

from pykbroker.log.partition.log_state import LogState
from pykbroker.log.partition.read_outcome import ReadOutcome
from pykbroker.log.partition.record_lookup import first_record
from pykbroker.log.segments.segment import FoundOffset, Segment
from pykbroker.protocol.record_batch import BatchHeader


def offset_for_timestamp(log: LogState, timestamp: int) -> FoundOffset | None:
    """In the first segment whose largest timestamp reaches the wanted one (UnifiedLog)."""
    for segment in log.segments:
        if segment.largest_timestamp().timestamp >= timestamp:
            return find_in_segment(log, segment, timestamp, log.log_start_offset)
    return None


def find_in_segment(
    log: LogState, segment: Segment, timestamp: int, start_offset: int
) -> FoundOffset | None:
    """The first record from start_offset on with a timestamp >= the wanted one."""
    entry = segment.time_index.lookup(timestamp)
    position = max(segment.position_of_time_entry(*entry), segment.position_of_entry(start_offset))
    for place, header in segment.headers_from(position):
        if header.max_timestamp < timestamp or header.last_offset < start_offset:
            continue
        found = _first_record(log, segment, place, header, timestamp, start_offset)
        if found is not None:
            return found
    return None


def _first_record(
    log: LogState,
    segment: Segment,
    place: int,
    header: BatchHeader,
    timestamp: int,
    start_offset: int,
) -> FoundOffset | None:
    batch = segment.read_batch(place, header)
    may_wait = log.files.may_wait
    return first_record(batch, header, timestamp, start_offset, log.looked_up, may_wait=may_wait)


def offset_of_max_timestamp(log: LogState) -> FoundOffset | None:
    """The earliest segment with the largest timestamp of all."""
    latest = log.segments.first
    for segment in log.segments:
        if segment.largest_timestamp().timestamp > latest.largest_timestamp().timestamp:
            latest = segment
    largest = latest.largest_timestamp()
    if largest.timestamp < 0:
        return None
    for place, header in latest.headers_from(latest.position_of_entry(largest.offset)):
        if header.max_timestamp == largest.timestamp:
            found = _first_record(log, latest, place, header, largest.timestamp, 0)
            if found is not None:
                return found
    return None


def aborted_transactions(
    log: LogState, start_offset: int, end_offset: int
) -> list[tuple[int, int]]:
    """(producer id, first offset) in the order of first offsets, of [start_offset, end_offset)."""
    found: list[tuple[int, int]] = []
    segment = log.segments.floor(start_offset)
    while segment is not None:
        aborted, is_complete = segment.txn_index.collect(start_offset, end_offset)
        found += [(entry.producer_id, entry.first_offset) for entry in aborted]
        if is_complete:
            break
        segment = log.segments.higher(segment.base_offset)
    found.sort(key=lambda entry: entry[1])
    return found


def aborted_in_slice(
    log: LogState, start_offset: int, outcome: ReadOutcome
) -> list[tuple[int, int]]:
    """Those that touch what was read. Where nothing was aborted, no batch is looked at for it:
    the one behind the slice may not be in the page cache."""
    segment = log.segments.floor(start_offset)
    while segment is not None and segment.txn_index.is_empty:
        segment = log.segments.higher(segment.base_offset)
    if segment is None:
        return []
    return aborted_transactions(log, start_offset, upper_bound_offset(log, outcome))


def upper_bound_offset(log: LogState, outcome: ReadOutcome) -> int:
    """From the offset index, without reading the slice (LocalLog.addAbortedTransactions)."""
    segment = log.segments.floor(outcome.segment_base_offset)
    if segment is None or outcome.size == 0:
        return log.log_end_offset
    bound = segment.upper_bound(outcome.position, outcome.size)
    if bound is not None:
        return bound
    following = log.segments.higher(segment.base_offset)
    return following.base_offset if following is not None else log.log_end_offset
