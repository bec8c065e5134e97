"""Deadlines do not jump when the wall clock is set; timestamps are the wall's."""

from __future__ import annotations

import pytest

from pykbroker.environment.real.clock import RealClock

WALL_MS = 2_000_000_000_000


class Source:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        return self.seconds


class Times:
    """A clock whose sources are ours."""

    def __init__(self) -> None:
        self.clock = RealClock()
        self.wall, self.monotonic = Source(WALL_MS / 1000), Source(1000.0)
        self.clock._wall, self.clock._monotonic = self.wall, self.monotonic
        self.clock._checked_ms = 1_000_000
        self.clock._offset_ms = WALL_MS - 1_000_000
        self.clock._now_ms = WALL_MS

    def pass_time(self, seconds: float, every: float = 0.1) -> list[int]:
        """Ask every 100 ms; all that was said."""
        said = []
        for _ in range(round(seconds / every)):
            self.wall.seconds += every
            self.monotonic.seconds += every
            said.append(self.clock.now_ms())
        return said


@pytest.fixture
def times() -> Times:
    return Times()


def test_it_tells_wall_time(times: Times) -> None:
    assert abs(times.pass_time(0.3)[-1] - (WALL_MS + 300)) <= 1
    assert abs(times.clock.wall_ms() - (WALL_MS + 300)) <= 1


@pytest.mark.parametrize("step", [-365 * 86400, -3600, -5, 5, 3600, 12 * 3600])
def test_deadlines_pass_nearly_as_fast_while_the_wall_is_set(times: Times, step: int) -> None:
    times.wall.seconds += step
    said = times.pass_time(20)
    assert said == sorted(said)
    assert 0.78 * 20_000 <= said[-1] - WALL_MS <= 1.22 * 20_000
    assert abs(times.clock.wall_ms() - (WALL_MS + (step + 20) * 1000)) <= 1


@pytest.mark.parametrize("step", [-30, 30])
def test_it_is_drawn_to_the_wall(times: Times, step: int) -> None:
    times.wall.seconds += step
    times.pass_time(5 * 30 + 10)
    assert abs(times.clock.now_ms() - times.clock.wall_ms()) <= 1


def test_a_wall_that_is_days_ahead_is_followed_at_once(times: Times) -> None:
    times.wall.seconds += 30 * 86400
    times.pass_time(1.2)
    assert abs(times.clock.now_ms() - times.clock.wall_ms()) <= 1


def test_it_stands_still_rather_than_going_back(times: Times) -> None:
    times.wall.seconds -= 10
    said = times.pass_time(1.2, every=0.01)
    assert said == sorted(said)
    assert said[-1] - said[0] >= 900


def test_a_long_sleep_between_two_questions(times: Times) -> None:
    times.wall.seconds -= 3600
    (now,) = times.pass_time(60, every=60)
    assert abs(now - (WALL_MS + 48_000)) <= 1
