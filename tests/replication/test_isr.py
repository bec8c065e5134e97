"""ISR arithmetic: what counts while a change is in flight."""

from __future__ import annotations

import pytest

from pykbroker.replication.follower_progress import FollowerProgress
from pykbroker.replication.isr import IsrState, effective_min_isr, out_of_sync


def test_a_replica_that_is_being_added_counts_before_it_is_confirmed() -> None:
    isr = IsrState(frozenset((1, 2))).propose_adding(3)
    assert isr.members == {1, 2}
    assert isr.maximal == {1, 2, 3}
    assert isr.change_in_flight


def test_a_replica_that_is_being_removed_counts_until_it_is_confirmed_out() -> None:
    isr = IsrState(frozenset((1, 2))).propose_removing(frozenset((2, 9)))
    assert isr.maximal == {1, 2}
    assert isr.removing == {2}


@pytest.mark.parametrize("first", ["adding", "removing"])
def test_one_change_at_a_time(first: str) -> None:
    isr = IsrState(frozenset((1, 2)))
    isr = isr.propose_adding(3) if first == "adding" else isr.propose_removing(frozenset((2,)))
    with pytest.raises(ValueError, match="in flight"):
        isr.propose_adding(4)
    with pytest.raises(ValueError, match="in flight"):
        isr.propose_removing(frozenset((1,)))


@pytest.mark.parametrize("configured, replicas, expected", [(1, 1, 1), (2, 1, 1), (2, 3, 2)])
def test_min_isr_is_never_more_than_the_replicas(
    configured: int, replicas: int, expected: int
) -> None:
    assert effective_min_isr(configured, replicas) == expected


def test_what_is_proposed_and_withdrawn() -> None:
    isr = IsrState(frozenset((1, 2)))
    assert isr.propose_adding(3).proposed == {1, 2, 3}
    assert isr.propose_removing(frozenset((2,))).proposed == {1}
    assert isr.propose_adding(3).withdrawn() == isr


def test_members_that_were_not_at_the_end_for_too_long_are_out_of_sync() -> None:
    isr = IsrState(frozenset((1, 2, 3, 4)))
    followers = [FollowerProgress(replica) for replica in (2, 3, 4, 5)]
    for follower, end, caught_up_ms in zip(
        followers, (10, 4, 4, 4), (0, 69_999, 70_000, 0), strict=True
    ):
        follower.log_end_offset = end
        follower.last_caught_up_ms = caught_up_ms
    assert out_of_sync(isr, followers, 10, now_ms=100_000, lag_max_ms=30_000) == {3}
