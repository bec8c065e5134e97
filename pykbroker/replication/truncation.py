"""Where a follower cuts its log after the leader named an epoch in which the two diverge.

    leader     epoch 1: 0..4   epoch 3: 5..9
    follower   epoch 1: 0..6   epoch 2: 7..8    fetches 9 after epoch 2
    answer     the leader has no epoch 2; its largest one below is 1, which ends at 5
    cut        epoch 1 ends at 7 here and at 5 there: cut at 5

The largest epoch that both know may be lower still: the follower then cuts what it has above that
epoch and fetches again; each round drops one epoch of the follower (KIP-101, KIP-279, KIP-595).

In:  the leader's epoch and end offset, the follower's log. Out: the offset to cut at.
Source: `AbstractFetcherThread.getOffsetTruncationState`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class EpochedLog(Protocol):
    """What is asked of the follower's log."""

    @property
    def log_end_offset(self) -> int: ...

    def end_offset_for_epoch(self, leader_epoch: int) -> tuple[int, int]:
        """(the largest epoch not above, where it ends); (-1, -1) when unknown."""


class Truncation(NamedTuple):
    """Cut the log at `offset`. Not final: the next fetch may name a lower epoch."""

    offset: int
    is_final: bool


def truncation_for(
    leader_epoch: int, leader_end_offset: int, fetch_offset: int, log: EpochedLog
) -> Truncation:
    """Return where to cut a log that fetched `fetch_offset` and got a diverging epoch."""
    if leader_end_offset == UNDEFINED_OFFSET:
        return Truncation(fetch_offset, True)
    end_offset = log.log_end_offset
    if leader_epoch == UNDEFINED_EPOCH:
        return Truncation(min(leader_end_offset, end_offset), True)
    own_epoch, own_end_offset = log.end_offset_for_epoch(leader_epoch)
    if own_end_offset == UNDEFINED_OFFSET:
        # All that this log knows is above the leader's epoch.
        return Truncation(min(leader_end_offset, end_offset), True)
    if own_epoch != leader_epoch:
        return Truncation(min(own_end_offset, end_offset), False)
    return Truncation(min(own_end_offset, leader_end_offset, end_offset), True)
