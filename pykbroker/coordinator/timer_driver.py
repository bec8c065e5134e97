"""The timers of a runtime: a timing wheel, and one call of the scheduler for its next deadline.

State: the wheel; the scheduled call, which is never later than the earliest deadline.
In:  `add`, `stop`, the scheduler. Out: `on_due(items, now_ms)`, in the order of their deadlines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from pykbroker.environment.scheduler import Scheduler, Timer
from pykbroker.timing_wheel import TimerTask, TimingWheel

Item = TypeVar("Item")


class TimerDriver(Generic[Item]):
    """The timers of one runtime."""

    def __init__(
        self,
        scheduler: Scheduler,
        now_ms: Callable[[], int],
        on_due: Callable[[list[Item], int], None],
    ) -> None:
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._on_due = on_due
        self._wheel: TimingWheel[Item] = TimingWheel(now_ms())
        self._armed_ms = 0
        self._armed: Timer | None = None

    def add(self, deadline_ms: int, item: Item) -> TimerTask[Item]:
        """Report `item` at its deadline, unless the task is cancelled before."""
        task = self._wheel.add(deadline_ms, item)
        self._arm()
        return task

    def stop(self) -> None:
        """Cancel the scheduled call: nothing is reported unless something is added again."""
        if self._armed is not None:
            self._armed.cancel()
            self._armed = None

    def _arm(self) -> None:
        deadline_ms = self._wheel.next_deadline_ms()
        if deadline_ms is None:
            return
        if self._armed is not None:
            if self._armed_ms <= deadline_ms:
                return
            self._armed.cancel()
        self._armed_ms = deadline_ms
        self._armed = self._scheduler.call_later(deadline_ms - self._now_ms(), self._due)

    def _due(self) -> None:
        self._armed = None
        now_ms = self._now_ms()
        self._on_due(self._wheel.advance(now_ms), now_ms)
        self._arm()
