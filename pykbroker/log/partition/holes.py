"""Holes left by a power failure: the end of a closed segment is lost, but the next one is not.

A log is opened with such a hole (`recovery/log_loader.py` reports it), because the records after it
may be the only copies of acknowledged records. A replica with a leader does not need them: it
truncates its log at the hole, and fetches the lost records and those after them. The copy of a log
that is being moved to another log directory is truncated likewise, where the log has records.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykbroker.log.partition.partition_log import PartitionLog

BEHIND_EVERYTHING = 1 << 63


def first_hole(log: PartitionLog) -> int | None:
    """Return where the first gap begins, from the segment on that may not have been synced before
    the start; None if there is none. Raises LogDirFailure, KafkaError.

    Only a log that was recovered when it was opened is checked, until it leads or was compared with
    a leader: later its gaps are its leader's, or compaction's, and the replica may be in sync.
    """
    if log.local.unsynced_from is None:
        return None
    found = gaps(log, log.local.unsynced_from)
    return found[0][0] if found else None


def gaps(log: PartitionLog, start: int) -> list[tuple[int, int]]:
    """Return the ranges of offsets between a segment's last batch and the next segment, from the
    segment with `start` on. Raises LogDirFailure, and KafkaError for a damaged segment.
    """
    return log.local.guarded("looking for holes", _gaps, log, start)


def _gaps(log: PartitionLog, start: int) -> list[tuple[int, int]]:
    pairs = pairwise(log.segments.within(start, BEHIND_EVERYTHING))
    ends = ((segment.next_offset(), following.base_offset) for segment, following in pairs)
    return [(end, base_offset) for end, base_offset in ends if end != base_offset]
