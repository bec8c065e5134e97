"""Where two logs diverge according to the leader, and where the follower then truncates its log.

    leader     epoch 1: 0..4   epoch 3: 5..9
    follower   epoch 1: 0..6   epoch 2: 7..8    fetches 9 after epoch 2
    answer     the leader has no epoch 2; its largest one below is 1, which ends at 5
    cut        epoch 1 ends at 7 here and at 5 there: cut at 5

If the follower does not have the epoch of the answer, the largest common one is lower: it truncates
what it has above the answered epoch and fetches again; each such round drops at least one epoch of
the follower (KIP-101, 279, 595).

Source: `Partition.readRecords`, `AbstractFetcherThread.getOffsetTruncationState`.
"""

from __future__ import annotations

from typing import Protocol

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.values import NamedTuple

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class EpochedLog(Protocol):
    """The queries to either log."""

    @property
    def log_start_offset(self) -> int: ...

    @property
    def log_end_offset(self) -> int: ...

    def end_offset_for_epoch(self, leader_epoch: int) -> tuple[int, int]:
        """See `LeaderEpochs.end_offset_for`."""


class Truncation(NamedTuple):
    """Truncate the log at `offset`. If not final, the next fetch may name a lower epoch."""

    offset: int
    is_final: bool


def diverging_epoch(
    log: EpochedLog, last_fetched_epoch: int, fetch_offset: int
) -> tuple[int, int] | None:
    """Return (epoch, end offset) if the fetcher's log is not a prefix of `log` (KIP-595), or None.

    Raises KafkaError(OFFSET_OUT_OF_RANGE) if the log cannot tell, or starts after `fetch_offset`.
    """
    epoch, end_offset = log.end_offset_for_epoch(last_fetched_epoch)
    if epoch < 0 or end_offset < 0 or fetch_offset < log.log_start_offset:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if epoch < last_fetched_epoch or end_offset < fetch_offset:
        return epoch, end_offset
    return None


def truncation_for(
    leader_epoch: int, leader_end_offset: int, fetch_offset: int, log: EpochedLog
) -> Truncation:
    """Return where to truncate a log that fetched `fetch_offset` and received a diverging epoch."""
    if leader_end_offset == UNDEFINED_OFFSET:
        return Truncation(fetch_offset, True)
    end_offset = log.log_end_offset
    if leader_epoch == UNDEFINED_EPOCH:
        return Truncation(min(leader_end_offset, end_offset), True)
    own_epoch, own_end_offset = log.end_offset_for_epoch(leader_epoch)
    if own_end_offset == UNDEFINED_OFFSET:
        # This log knows no epoch, or only such below the leader's epoch.
        return Truncation(min(leader_end_offset, end_offset), True)
    if own_epoch != leader_epoch:
        return Truncation(min(own_end_offset, end_offset), False)
    return Truncation(min(own_end_offset, leader_end_offset, end_offset), True)
