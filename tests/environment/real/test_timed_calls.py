"""Callbacks of the loop are recorded under the name of what they call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pykbroker.deferred import Deferred, spawn
from pykbroker.environment.loop_time import MS, LoopTime
from pykbroker.environment.real.timed_calls import TimedCalls, name_of


class Clock:
    """A clock that only stands or is moved."""

    def __init__(self) -> None:
        self.now_ns = 0

    def monotonic_ns(self) -> int:
        return self.now_ns

    def work(self, ms: int) -> None:
        self.now_ns += ms * MS


def timed(clock: Clock) -> TimedCalls:
    return TimedCalls(LoopTime(), clock.monotonic_ns)


def longest_ms(calls: TimedCalls) -> dict[str, int]:
    return {unit: times.longest_ns // MS for unit, times in calls.loop_time.by_unit.items()}


def test_long_callbacks_are_recorded_and_short_ones_are_not() -> None:
    clock = Clock()
    calls = timed(clock)
    calls.call(clock.work, 0)
    assert longest_ms(calls) == {}
    calls.call(partial(clock.work, 7))
    assert longest_ms(calls) == {"Clock.work": 7}


def test_a_callback_that_raises_is_recorded_too() -> None:
    clock = Clock()
    calls = timed(clock)

    def failing() -> None:
        clock.work(3)
        raise ValueError

    with pytest.raises(ValueError):
        calls.call(failing)
    (name,) = longest_ms(calls)
    assert name.endswith("failing")


def test_a_deferred_is_recorded_under_its_listener() -> None:
    clock = Clock()
    calls = timed(clock)
    deferred = Deferred()
    deferred.on_resolved(clock.work)
    calls.resolve(deferred, 9)
    assert deferred.value == 9
    calls.resolve(Deferred(), None)  # nobody listens: nothing runs
    assert longest_ms(calls) == {"Clock.work": 9}


def test_a_coroutine_is_recorded_under_its_function() -> None:
    clock = Clock()
    calls = timed(clock)
    deferred = Deferred()

    async def chore() -> None:
        clock.work(await deferred)

    spawn(chore())
    calls.resolve(deferred, 4)
    (name,) = longest_ms(calls)
    assert name.endswith("chore")


@pytest.mark.parametrize(
    ("callback", "name"),
    [(Clock().work, "Clock.work"), (partial(partial(len)), "len"), (Clock, "Clock")],
)
def test_names(callback: Callable[..., Any], name: str) -> None:
    assert name_of(callback) == name
