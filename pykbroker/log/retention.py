"""Which old segments a log may give up, and giving them up.

In:  the log, the time, the high watermark. Out: how many segments went.
Invariants: only whole segments from the start go, and none with an offset at or above the high
     watermark; one segment always remains.
Source: UnifiedLog.deleteOldSegments.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.log.segment import CorruptSegment, Segment

if TYPE_CHECKING:
    from pykbroker.log.partition_log import PartitionLog

_log = logging.getLogger(__name__)

Condition = Callable[[Segment, "Segment | None"], bool]


def delete_old_segments(log: PartitionLog, now_ms: int, high_watermark: int) -> int:
    """By log start offset always; by size and time when cleanup.policy has "delete"."""
    deleted = delete_breached(log, now_ms, high_watermark, "log start offset", start_rule(log))
    if log.config.delete:
        if log.config.retention_bytes >= 0:
            rule = size_rule(log)
            deleted += delete_breached(log, now_ms, high_watermark, "retention size", rule)
        if log.config.retention_ms >= 0:
            rule = time_rule(log, now_ms)
            deleted += delete_breached(log, now_ms, high_watermark, "retention time", rule)
    return deleted


def start_rule(log: PartitionLog) -> Condition:
    def breached(_: Segment, following: Segment | None) -> bool:
        return following is not None and following.base_offset <= log.log_start_offset

    return breached


def size_rule(log: PartitionLog) -> Condition:
    excess = log.size_bytes - log.config.retention_bytes

    def breached(segment: Segment, _: Segment | None) -> bool:
        nonlocal excess
        if excess < segment.size:
            return False
        excess -= segment.size
        return True

    if excess < 0:
        return lambda segment, following: False
    return breached


def time_rule(log: PartitionLog, now_ms: int) -> Condition:
    retention_ms = log.config.retention_ms

    def breached(segment: Segment, _: Segment | None) -> bool:
        if 0 <= now_ms - segment.indexed_timestamp() <= retention_ms:
            return False  # without reading a batch
        return now_ms - largest_timestamp(segment) > retention_ms

    return breached


def largest_timestamp(segment: Segment) -> int:
    """Of its records, or when the file was last written where they carry none.

    A damaged segment gets old like any other: what its index says is believed then, as in Kafka.
    """
    try:
        largest = segment.largest_timestamp().timestamp
    except CorruptSegment as fault:
        _log.warning("%s; its age is taken from its time index", fault)
        largest = segment.indexed_timestamp()
    return largest if largest >= 0 else segment.files.modified_ms(segment.file.path)


def deletable_segments(
    log: PartitionLog, high_watermark: int, is_breached: Condition
) -> list[Segment]:
    deletable = []
    segments = list(log.segments)
    for index, segment in enumerate(segments):
        following = segments[index + 1] if index + 1 < len(segments) else None
        upper_bound = following.base_offset if following is not None else log.log_end_offset
        if high_watermark < upper_bound or not is_breached(segment, following):
            break
        if following is None and not segment.size:
            break
        deletable.append(segment)
    return deletable


def delete_breached(
    log: PartitionLog, now_ms: int, high_watermark: int, reason: str, is_breached: Condition
) -> int:
    deletable = deletable_segments(log, high_watermark, is_breached)
    if not deletable:
        return 0
    if len(deletable) == len(log.segments):
        log.roll(now_ms)  # there must always be a segment to append to
    following = log.segments.higher(deletable[-1].base_offset)
    assert following is not None
    log.advance_log_start_offset(following.base_offset)
    for segment in deletable:
        _log.info("%s: deleting %r: %s breached", log.topic_partition, segment, reason)
        log.remove_segment(segment)
    return len(deletable)
