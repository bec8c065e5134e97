"""Holes that a power failure leaves: the end of a closed segment is lost, the next one is not.

A log is opened with such a hole as it is (`recovery/log_loader.py` tells of it): what stands behind
it may be all that is left of acknowledged records. A replica that has a leader has no such need: it
cuts its log at the hole, and fetches what was lost as well as what comes behind.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykbroker.log.partition.partition_log import PartitionLog

BEHIND_EVERYTHING = 1 << 63


def first_hole(log: PartitionLog) -> int | None:
    """Where the first hole behind the recovery point begins; None when there is none.

    Not of compacted logs, which have gaps. What was flushed has no holes: it is not looked at.
    """
    if log.config.compact:
        return None
    unflushed = log.segments.within(log.recovery_point, BEHIND_EVERYTHING)
    for segment, following in pairwise(unflushed):
        end = segment.next_offset()
        if end != following.base_offset:
            return end
    return None
