"""Where the high watermark goes, given the replicas' log ends."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.kraft.registration import BrokerRegistration
from pykbroker.replication.brokers import ClusterBrokers
from pykbroker.replication.follower_progress import FollowerProgress
from pykbroker.replication.high_watermark import leader_high_watermark
from pykbroker.replication.isr import IsrState

NOW_MS = 1_000_000


def follower(replica_id: int, log_end_offset: int, caught_up_ms: int = 0) -> FollowerProgress:
    progress = FollowerProgress(replica_id)
    progress.log_end_offset = log_end_offset
    progress.last_caught_up_ms = caught_up_ms
    progress.broker_epoch = 10
    return progress


def high_watermark(
    current: int,
    isr: IsrState,
    followers: list[FollowerProgress],
    min_isr: int = 1,
    brokers: ClusterBrokers | None = None,
) -> int:
    brokers = brokers or cluster(2, 3)
    return leader_high_watermark(current, 10, isr, followers, min_isr, NOW_MS, 30_000, brokers)


def cluster(*broker_ids: int, **fields: Any) -> ClusterBrokers:
    brokers = ClusterBrokers()
    brokers.registrations = {
        broker_id: BrokerRegistration(
            broker_id, 10, bytes(16), {}, {}, **({"fenced": False} | fields)
        )
        for broker_id in broker_ids
    }
    return brokers


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


@pytest.mark.parametrize(
    "brokers",
    [
        cluster(),  # never registered, or unregistered
        cluster(2, fenced=True),
        cluster(2, in_controlled_shutdown=True),
        ClusterBrokers(),
    ],
)
def test_a_follower_whose_broker_may_not_join_does_not_hold_it(brokers: ClusterBrokers) -> None:
    caught_up = follower(2, 6, caught_up_ms=NOW_MS - 10)
    assert high_watermark(0, IsrState(frozenset((1,))), [caught_up]) == 6
    assert high_watermark(0, IsrState(frozenset((1,))), [caught_up], brokers=brokers) == 10
    # In the ISR it holds it whatever its broker does: the controller has to take it out.
    assert high_watermark(0, IsrState(frozenset((1, 2))), [caught_up], brokers=brokers) == 6


@pytest.mark.parametrize("broker_epoch, expected", [(10, 6), (-1, 6), (9, 10), (-2, 10)])
def test_a_follower_of_another_broker_epoch_does_not_hold_it(
    broker_epoch: int, expected: int
) -> None:
    caught_up = follower(2, 6, caught_up_ms=NOW_MS - 10)
    caught_up.broker_epoch = broker_epoch
    assert high_watermark(0, IsrState(frozenset((1,))), [caught_up]) == expected
