"""The clocks of a node: one for deadlines, and the wall clock for record timestamps."""

from __future__ import annotations

from typing import Protocol


class WorkerClock(Protocol):
    """The time of a worker process, which may wait."""

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start; it never goes backwards."""

    def sleep(self, seconds: float) -> None:
        """Do nothing for so long."""


class Clock(Protocol):
    """The clocks of one node."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch for deadlines: it never goes backwards, and jumps only if
        the wall clock is ahead by more than a day.
        """

    def wall_ms(self) -> int:
        """Milliseconds since the epoch by the wall clock, which may be adjusted at any moment."""

    def monotonic_ns(self) -> int:
        """Nanoseconds from an arbitrary start, for measuring how long something took."""
