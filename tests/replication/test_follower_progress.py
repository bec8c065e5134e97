"""When a follower counts as caught up."""

from __future__ import annotations

from collections.abc import Hashable

from pykbroker.replication.follower_progress import FollowerProgress

LAG_MS = 30_000


def test_caught_up_now_when_it_asks_for_the_leaders_end() -> None:
    follower = FollowerProgress(2)
    follower.on_fetch(10, 0, 10, broker_epoch=5, now_ms=1_000)
    assert (follower.log_end_offset, follower.last_caught_up_ms) == (10, 1_000)
    assert follower.is_caught_up(10, 100_000, LAG_MS)
    assert follower.is_caught_up(11, 31_000, LAG_MS)
    assert not follower.is_caught_up(11, 31_001, LAG_MS)


def test_caught_up_as_of_its_last_fetch_when_it_asks_for_the_end_of_then() -> None:
    follower = FollowerProgress(2)
    follower.on_fetch(0, 0, 10, broker_epoch=5, now_ms=1_000)
    assert follower.last_caught_up_ms == 0
    follower.on_fetch(10, 0, 20, broker_epoch=5, now_ms=2_000)
    assert follower.last_caught_up_ms == 1_000
    follower.on_fetch(15, 0, 30, broker_epoch=5, now_ms=3_000)
    assert follower.last_caught_up_ms == 1_000


def test_a_new_epoch_forgets_offsets_but_a_member_of_the_isr_starts_caught_up() -> None:
    member, other = FollowerProgress(2), FollowerProgress(3)
    for follower in (member, other):
        follower.on_fetch(10, 3, 10, broker_epoch=5, now_ms=1_000)
    member.reset(5_000, 10, is_new_leader=True, is_in_isr=True)
    other.reset(5_000, 10, is_new_leader=True, is_in_isr=False)
    assert (member.log_end_offset, member.log_start_offset, member.last_caught_up_ms) == (
        -1,
        -1,
        5_000,
    )
    assert (other.log_end_offset, other.last_caught_up_ms) == (-1, 0)


def test_a_leader_that_is_elected_again_keeps_the_offsets() -> None:
    member, other = FollowerProgress(2), FollowerProgress(3)
    for follower in (member, other):
        follower.on_fetch(10, 3, 10, broker_epoch=5, now_ms=1_000)
    member.reset(5_000, 12, is_new_leader=False, is_in_isr=True)
    other.reset(5_000, 12, is_new_leader=False, is_in_isr=False)
    for follower, caught_up_ms in ((member, 5_000), (other, 0)):
        assert (follower.log_end_offset, follower.log_start_offset) == (10, 3)
        assert (follower.broker_epoch, follower.last_fetch_leader_end_offset) == (5, 12)
        assert (follower.last_caught_up_ms, follower.last_fetch_ms) == (caught_up_ms, caught_up_ms)


def test_the_leaders_end_of_its_last_fetch_does_not_go_back() -> None:
    follower = FollowerProgress(2)
    follower.on_fetch(10, 0, 10, broker_epoch=5, now_ms=1_000)
    follower.on_fetch(8, 0, 9, broker_epoch=5, now_ms=2_000)
    assert follower.last_fetch_leader_end_offset == 10


# ---- in a session


class Session:
    """Notes what it must look at."""

    def __init__(self) -> None:
        self.last_fetch_ms = 0
        self.touched: list[Hashable] = []

    def touch(self, asked: Hashable) -> None:
        self.touched.append(asked)

    def wake(self, asked: Hashable) -> None:
        raise AssertionError("nobody waits")


def idle_in(session: Session) -> FollowerProgress:
    """Caught up at 1,000; the session fetched at 7,000 again."""
    follower = FollowerProgress(2)
    follower.on_fetch(10, 0, 10, broker_epoch=5, now_ms=1_000)
    follower.join(session, "t-0")
    follower.rest()
    session.last_fetch_ms = 7_000
    return follower


def test_an_idle_follower_was_caught_up_when_its_session_fetched() -> None:
    session = Session()
    follower = idle_in(session)
    assert (follower.caught_up_ms, follower.last_caught_up_ms) == (7_000, 1_000)
    follower.changed()
    session.last_fetch_ms = 9_000
    assert follower.caught_up_ms == 7_000
    assert session.touched == ["t-0"]


def test_another_session_takes_over_and_the_first_one_looks_again() -> None:
    first, second = Session(), Session()
    follower = idle_in(first)
    follower.join(second, "t-0")
    follower.changed()
    assert (first.touched, second.touched) == (["t-0"], ["t-0"])
    assert follower.caught_up_ms == 7_000


def test_a_fetch_beside_the_session_ends_its_rest() -> None:
    session = Session()
    follower = idle_in(session)
    follower.on_fetch(8, 0, 10, broker_epoch=5, now_ms=8_000)
    assert session.touched == ["t-0"]
    session.last_fetch_ms = 9_000
    assert follower.caught_up_ms == 7_000
