"""The timers of a runtime."""

from __future__ import annotations

from pykbroker.coordinator.timer_driver import TimerDriver
from tests.coordinator.memory_log import VirtualLoop


class World:
    def __init__(self) -> None:
        self.loop = VirtualLoop(0)
        self.due: list[tuple[str, int]] = []
        self.timers: TimerDriver[str] = TimerDriver(self.loop, self.loop.now_ms, self.on_due)

    def on_due(self, items: list[str], now_ms: int) -> None:
        self.due += [(item, now_ms) for item in items]

    @property
    def planned(self) -> list[float]:
        return [call.at_ms for call in self.loop._calls if not call.cancelled]


def test_items_come_at_their_deadlines() -> None:
    world = World()
    for at_ms in (300, 20, 5000):
        world.timers.add(at_ms, str(at_ms))
    world.loop.advance(1000)
    assert world.due == [("20", 20), ("300", 300)]
    world.loop.advance(4000)
    assert world.due[2:] == [("5000", 5000)]


def test_one_call_is_planned_for_the_earliest() -> None:
    world = World()
    world.timers.add(50, "later")
    world.timers.add(10, "first")
    world.timers.add(70, "last")
    assert world.planned == [10]


def test_a_cancelled_item_never_comes() -> None:
    world = World()
    world.timers.add(10, "gone").cancel()
    world.timers.add(20, "there")
    world.loop.advance(100)
    assert world.due == [("there", 20)]


def test_an_item_may_add_the_next() -> None:
    world = World()
    again: TimerDriver[str]

    def on_due(items: list[str], now_ms: int) -> None:
        world.on_due(items, now_ms)
        if now_ms < 30:
            again.add(now_ms + 10, "again")

    again = TimerDriver(world.loop, world.loop.now_ms, on_due)
    again.add(10, "first")
    world.loop.advance(100)
    assert world.due == [("first", 10), ("again", 20), ("again", 30)]


def test_nothing_comes_after_the_stop() -> None:
    world = World()
    world.timers.add(10, "never")
    world.timers.stop()
    world.loop.advance(100)
    assert world.due == []
