"""The order of events, and the clocks that processes see."""

from __future__ import annotations

import pytest

from pykbroker.testing.world import virtual_time
from pykbroker.testing.world.virtual_time import (
    EPOCH_MS,
    EventQueue,
    Livelock,
    MachineClock,
    Process,
    VirtualClock,
    VirtualScheduler,
)


def test_events_come_in_the_order_of_their_times() -> None:
    queue = EventQueue()
    seen: list[tuple[str, int]] = []
    for name, due_us in (("c", 30), ("a", 10), ("b", 10), ("past", -5)):
        queue.at(due_us, None, lambda name=name: seen.append((name, queue.now_us)))
    cancelled = queue.at(20, None, lambda: seen.append(("never", 0)))
    cancelled.cancel()
    assert queue.next_due_us() == 0
    while queue.step():
        continue
    assert seen == [("past", 0), ("a", 10), ("b", 10), ("c", 30)]
    assert (queue.events, queue.next_due_us()) == (4, None)


def test_a_process_that_has_ended_is_not_called() -> None:
    queue = EventQueue()
    process = Process("p")
    seen: list[Process | None] = []
    queue.at(1, process, lambda: seen.append(queue.current))
    queue.at(2, process, lambda: seen.append(queue.current))
    assert queue.step()
    process.is_alive = False
    assert not queue.step()
    assert seen == [process]


def test_a_paused_process_is_called_later_and_in_the_same_order() -> None:
    queue = EventQueue()
    process = Process("p")
    seen: list[tuple[str, int]] = []
    for name, due_us in (("second", 20), ("first", 10), ("third", 20), ("last", 200)):
        queue.at(due_us, process, lambda name=name: seen.append((name, queue.now_us)))
    queue.at(30, None, lambda: seen.append(("world", queue.now_us)))
    process.paused_until_us = 100
    while queue.step():
        continue
    assert seen == [("world", 30), ("first", 100), ("second", 100), ("third", 100), ("last", 200)]


def test_time_that_does_not_pass_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtual_time, "MOST_EVENTS_AT_ONE_TIME", 50)
    queue = EventQueue()

    def again() -> None:
        queue.at(queue.now_us, None, again)

    again()
    for _ in range(50):
        queue.step()
    with pytest.raises(Livelock):
        queue.step()


def test_the_wall_clock_jumps_and_the_clock_for_deadlines_does_not() -> None:
    queue = EventQueue()
    machine = MachineClock(queue, offset_us=5_000_000)
    clock = VirtualClock(machine)
    assert clock.now_ms() == clock.wall_ms() == EPOCH_MS + 5_000
    queue.now_us = 1_000_000
    machine.jump(-3_000_000)
    assert (clock.now_ms(), clock.wall_ms()) == (EPOCH_MS + 6_000, EPOCH_MS + 3_000)
    assert machine.latest_ms() == EPOCH_MS + 6_000
    machine.jump(9_000_000)
    assert machine.latest_ms() == EPOCH_MS + 12_000
    assert VirtualClock(machine).now_ms() == EPOCH_MS + 12_000


@pytest.mark.parametrize("rate_ppm", [-90_000, 0, 90_000])
def test_a_timer_comes_when_the_clock_of_its_process_says_so(rate_ppm: int) -> None:
    queue = EventQueue()
    clock = VirtualClock(MachineClock(queue, rate_ppm=rate_ppm))
    scheduler = VirtualScheduler(queue, Process("p"), clock)
    queue.now_us = 777
    began_ms = clock.now_ms()
    came: list[int] = []
    scheduler.call_later(10_000, lambda: came.append(clock.now_ms() - began_ms))
    queue.step()
    assert came in ([10_000], [10_001])
