"""Where the high watermark goes, given the replicas' log ends."""

from __future__ import annotations

import pytest

from pykbroker.replication.follower_progress import FollowerProgress
from pykbroker.replication.high_watermark import leader_high_watermark
from pykbroker.replication.isr import IsrState

NOW_MS = 1_000_000


def follower(replica_id: int, log_end_offset: int, caught_up_ms: int = 0) -> FollowerProgress:
    progress = FollowerProgress(replica_id)
    progress.log_end_offset = log_end_offset
    progress.last_caught_up_ms = caught_up_ms
    return progress


def high_watermark(
    current: int, isr: IsrState, followers: list[FollowerProgress], min_isr: int = 1
) -> int:
    return leader_high_watermark(current, 10, isr, followers, min_isr, NOW_MS, 30_000)


@pytest.mark.parametrize(
    "isr, followers, expected",
    [
        ((1,), [], 10),
        ((1, 2), [follower(2, 7)], 7),
        ((1, 2, 3), [follower(2, 7), follower(3, 9)], 7),
        ((1, 3), [follower(2, 4), follower(3, 9)], 9),  # 2 lags and is out
        ((1,), [follower(2, 4, caught_up_ms=NOW_MS - 10)], 5),  # about to come in: 4 < current
    ],
)
def test_the_lowest_log_end_that_counts(
    isr: tuple[int, ...], followers: list[FollowerProgress], expected: int
) -> None:
    assert high_watermark(5, IsrState(frozenset(isr)), followers) == expected


def test_it_never_goes_back() -> None:
    assert high_watermark(8, IsrState(frozenset((1, 2))), [follower(2, 3)]) == 8


def test_a_replica_being_added_holds_it() -> None:
    isr = IsrState(frozenset((1,))).propose_adding(2)
    assert high_watermark(0, isr, [follower(2, 6)]) == 6


def test_it_stands_still_below_min_isr() -> None:
    assert high_watermark(5, IsrState(frozenset((1,))), [], min_isr=2) == 5
