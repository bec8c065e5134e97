"""Holes left by a power failure: the end of a closed segment is lost, but the next one is not.

A log is opened with such a hole (`recovery/log_loader.py` reports it), because the records after it
may be the only copies of acknowledged records. A replica with a leader does not need them: it
truncates its log at the hole, and fetches the lost records and those after them. The copy of a log
that is being moved to another log directory is truncated likewise.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykbroker.log.partition.partition_log import PartitionLog

BEHIND_EVERYTHING = 1 << 63


def first_hole(log: PartitionLog) -> int | None:
    """Return where the first hole begins after what was synced before the start; None if there is
    none.

    Only a log that was opened after an unclean stop is checked, and only once: later its gaps are
    its leader's, or compaction's, and the replica may be in sync.
    """
    if log.local.unsynced_from is None:
        return None
    unflushed = log.segments.within(log.local.unsynced_from, BEHIND_EVERYTHING)
    for segment, following in pairwise(unflushed):
        end = segment.next_offset()
        if end != following.base_offset:
            return end
    return None
