"""Real slices whose jobs end them by breathing, on any scheduler: no time decides."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from pykbroker.environment.loop_time import LoopTime
from pykbroker.environment.real.slices import SLICE_NS, RealSlices
from pykbroker.environment.real.timed_calls import TimedCalls


class OneAtATime(RealSlices):
    """Slices on a scheduler that no thread may call: nothing runs beside it."""

    __slots__ = ()

    def apart(self, work: Callable[[], object]) -> None:
        work()


def breathing_slices(scheduler: Any, breaths: int = 1) -> RealSlices:
    """Slices that are used up after so many breaths."""
    now_ns = 0

    def monotonic_ns() -> int:
        nonlocal now_ns
        now_ns += SLICE_NS // breaths
        return now_ns

    loop: Any = SimpleNamespace(call_soon=scheduler.call_soon)
    return OneAtATime(loop, TimedCalls(LoopTime(), monotonic_ns), monotonic_ns)
