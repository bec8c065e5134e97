"""Selects the old segments that a log may delete; PartitionLog deletes them.

In:  the log, the time, the high watermark. Out: rules, and the segments that breach one.
Invariants: only whole segments from the start go, and none with an offset at or above the high
     watermark.
Source: UnifiedLog.deleteOldSegments.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from pykbroker.log.partition.local_log import LocalLog
from pykbroker.log.segments.segment import CorruptSegment, Segment

_log = logging.getLogger(__name__)

Condition = Callable[[Segment, Segment | None], bool]
"""Whether a segment breaches the rule; it is told the one after it, too."""


def retention_rules(local: LocalLog, now_ms: int) -> Iterator[tuple[str, Condition]]:
    """Yield the name of each rule, and the rule; each is created only after
    the previous ones were applied.

    The log start offset always counts, size and time if cleanup.policy has "delete".
    """
    yield "log start offset", start_rule(local)
    if local.config.delete:
        if local.config.retention_bytes >= 0:
            yield "retention size", size_rule(local)
        if local.config.retention_ms >= 0:
            yield "retention time", time_rule(local, now_ms)


def start_rule(local: LocalLog) -> Condition:
    def breached(_: Segment, following: Segment | None) -> bool:
        return following is not None and following.base_offset <= local.log_start_offset

    return breached


def size_rule(local: LocalLog) -> Condition:
    excess = local.segments.size_bytes - local.config.retention_bytes

    def breached(segment: Segment, _: Segment | None) -> bool:
        nonlocal excess
        if excess < segment.size:
            return False
        excess -= segment.size
        return True

    if excess < 0:
        return lambda segment, following: False
    return breached


def time_rule(local: LocalLog, now_ms: int) -> Condition:
    retention_ms = local.config.retention_ms

    def breached(segment: Segment, _: Segment | None) -> bool:
        if 0 <= now_ms - segment.indexed_timestamp() <= retention_ms:
            return False  # without reading a batch
        return now_ms - largest_timestamp(segment) > retention_ms

    return breached


def largest_timestamp(segment: Segment) -> int:
    """Return the largest timestamp of its records, or the file's modification
    time if they have none.

    A damaged segment ages like any other: its time is then taken from its index, as in Kafka.
    """
    try:
        largest = segment.largest_timestamp().timestamp
    except CorruptSegment as fault:
        _log.warning("%s; its age is taken from its time index", fault)
        largest = segment.indexed_timestamp()
    return largest if largest >= 0 else segment.files.modified_ms(segment.file.path)


def deletable_segments(
    local: LocalLog, high_watermark: int, is_breached: Condition
) -> list[Segment]:
    """Return the oldest segments, as long as they breach the rule and end at or below the high
    watermark; an empty last segment is not among them.
    """
    deletable = []
    segments = list(local.segments)
    for index, segment in enumerate(segments):
        following = segments[index + 1] if index + 1 < len(segments) else None
        upper_bound = following.base_offset if following is not None else local.log_end_offset
        if high_watermark < upper_bound or not is_breached(segment, following):
            break
        if following is None and not segment.size:
            break
        deletable.append(segment)
    return deletable
