"""Real slices whose jobs end them by breathing, on any scheduler: no time decides."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.environment.loop_time import LoopTime
from pykbroker.environment.real.slices import SLICE_NS, RealSlices
from pykbroker.environment.real.timed_calls import TimedCalls


def breathing_slices(scheduler: Any, breaths: int = 1) -> RealSlices:
    """Slices that are used up after so many breaths."""
    now_ns = 0

    def monotonic_ns() -> int:
        nonlocal now_ns
        now_ns += SLICE_NS // breaths
        return now_ns

    loop: Any = SimpleNamespace(call_soon=scheduler.call_soon)
    return RealSlices(loop, TimedCalls(LoopTime(), monotonic_ns), monotonic_ns)
