"""The timing wheel against a plain list of deadlines."""

from __future__ import annotations

import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykbroker import timing_wheel
from pykbroker.timing_wheel import SWEEP_AT, TimingWheel


def test_fires_at_the_deadline_and_not_before() -> None:
    wheel: TimingWheel[str] = TimingWheel(1_000)
    wheel.add(1_500, "later")
    assert wheel.advance(1_499) == []
    assert wheel.advance(1_500) == ["later"]
    assert wheel.advance(9_000) == []
    assert len(wheel) == 0


def test_a_past_deadline_is_due_at_once() -> None:
    wheel: TimingWheel[str] = TimingWheel(1_000)
    wheel.add(10, "past")
    assert wheel.next_deadline_ms() == 1_000
    assert wheel.advance(1_000) == ["past"]


def test_a_cancelled_task_never_fires_and_cancelling_twice_is_harmless() -> None:
    wheel: TimingWheel[str] = TimingWheel(0)
    task = wheel.add(100, "x")
    task.cancel()
    task.cancel()
    assert not task.pending
    assert wheel.advance(1_000) == []
    assert wheel.next_deadline_ms() is None


def test_what_waits_can_be_looked_at() -> None:
    wheel: TimingWheel[str] = TimingWheel(0)
    wheel.add(10, "soon")
    wheel.add(1_000_000, "late")
    wheel.add(20, "cancelled").cancel()
    assert sorted(wheel.items()) == ["late", "soon"]
    wheel.advance(10)
    assert list(wheel.items()) == ["late"]


def test_a_coarse_tick_rounds_up() -> None:
    wheel: TimingWheel[str] = TimingWheel(0, tick_ms=10)
    wheel.add(11, "x")
    assert wheel.advance(19) == []
    assert wheel.advance(20) == ["x"]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 200_000)),
        st.tuples(st.just("advance"), st.integers(0, 30_000)),
        st.tuples(st.just("cancel"), st.integers(0, 50)),
    ),
    max_size=80,
)


class Held:
    """Something whose end can be seen."""


def test_what_is_cancelled_is_not_held_until_its_deadline() -> None:
    wheel: TimingWheel[Held] = TimingWheel(0)
    held = Held()
    end = weakref.ref(held)
    task = wheel.add(1 << 40, held)
    del held
    task.cancel()
    assert end() is None


def test_cancelled_tasks_do_not_pile_up() -> None:
    wheel: TimingWheel[int] = TimingWheel(0)
    last = wheel.add((1 << 31) + 5, -1)
    for number in range(20 * SWEEP_AT):
        wheel.add((1 << 31) + number, number).cancel()
    assert sum(map(len, wheel._buckets.values())) <= SWEEP_AT + 1
    assert len(wheel) == 1
    assert wheel.next_deadline_ms() is not None
    assert wheel.advance((1 << 31) + 4) == []
    assert last.pending
    assert wheel.advance((1 << 31) + 5) == [-1]
    assert wheel._dead == 0


@pytest.mark.parametrize("sweep_at", [1, 3, SWEEP_AT])
@given(steps)
def test_agrees_with_a_plain_list(sweep_at: int, script: list[tuple[str, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing_wheel, "SWEEP_AT", sweep_at)
        check_against_a_plain_list(script)


def check_against_a_plain_list(script: list[tuple[str, int]]) -> None:
    now = 5_000
    wheel: TimingWheel[int] = TimingWheel(now)
    pending: dict[int, int] = {}
    tasks = {}
    for number, (verb, amount) in enumerate(script):
        if verb == "add":
            tasks[number] = wheel.add(now + amount, number)
            pending[number] = now + amount
        elif verb == "cancel" and pending:
            victim = sorted(pending)[amount % len(pending)]
            tasks[victim].cancel()
            del pending[victim]
        elif verb == "advance":
            now += amount
            due = {item for item, deadline in pending.items() if deadline <= now}
            fired = wheel.advance(now)
            assert set(fired) == due
            assert [pending[item] for item in fired] == sorted(pending[item] for item in fired)
            for item in due:
                del pending[item]
        assert len(wheel) == len(pending)
        earliest = wheel.next_deadline_ms()
        if pending:
            assert earliest is not None
            assert earliest <= max(now, min(pending.values()))
        else:
            assert earliest is None
