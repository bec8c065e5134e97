"""The clock never goes backwards and follows the wall."""

from __future__ import annotations

from pykbroker.broker.clock import CHECK_EVERY_MS, MAX_STANDSTILL_MS, Clock


class Source:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def _clock() -> tuple[Clock, Source, Source]:
    clock = Clock()
    wall, monotonic = Source(), Source()
    wall.seconds = 2_000_000.0
    clock._wall, clock._monotonic = wall, monotonic
    clock._checked_ms = monotonic.seconds * 1000
    clock._offset_ms = (wall.seconds - monotonic.seconds) * 1000
    clock._now_ms = int(wall.seconds * 1000)
    return clock, wall, monotonic


def test_it_tells_wall_time() -> None:
    clock, wall, monotonic = _clock()
    wall.seconds += 0.25
    monotonic.seconds += 0.25
    assert clock.now_ms() == 2_000_000_250


def test_a_wall_clock_set_forward_is_followed_at_the_next_check() -> None:
    clock, wall, monotonic = _clock()
    wall.seconds += 3600
    monotonic.seconds += 0.001
    assert clock.now_ms() == 2_000_000_001
    monotonic.seconds += CHECK_EVERY_MS / 1000
    wall.seconds += 1
    assert clock.now_ms() == 2_003_601_000


def test_a_wall_clock_set_back_a_little_makes_it_stand_still() -> None:
    clock, wall, monotonic = _clock()
    monotonic.seconds += 1.1
    wall.seconds += 0.8
    assert clock.now_ms() == 2_000_000_800
    wall.seconds -= 0.2
    monotonic.seconds += 1.1
    wall.seconds += 1.1
    seen = [clock.now_ms()]
    for _ in range(5):
        monotonic.seconds += 0.1
        wall.seconds += 0.1
        seen.append(clock.now_ms())
    assert seen == sorted(seen)
    assert abs(seen[-1] - int(wall.seconds * 1000)) <= 1


def test_a_wall_clock_set_back_a_year_does_not_freeze_deadlines() -> None:
    clock, wall, monotonic = _clock()
    before = clock.now_ms()
    wall.seconds -= 365 * 86400
    monotonic.seconds += CHECK_EVERY_MS / 1000 + 0.001
    clock.now_ms()
    monotonic.seconds += MAX_STANDSTILL_MS / 1000 + 0.1
    assert before < clock.now_ms() <= before + 200
