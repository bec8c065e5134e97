"""How long units of work held the event loop: histograms, and a warning about the long ones.

A unit is work during which nothing else runs, for example one request (named by its API, as is each
slice of a long one), the end of a round with the requests that it answers ("delayed Fetch"), the
sends of a turn, or a callback of a timer or a thread (named by its function).

State   per unit: a histogram of how long it held the loop, the sum, and the longest time.
In      `record`, called by the code that ran the unit, only for units of RECORDED_NS or more;
        `Laps` for units that follow each other: a short one costs a clock reading and a comparison.
Out     `by_unit`, for metrics reporters; one rate-limited WARNING line for units of WARN_NS or
        more.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Callable

MS = 1_000_000
RECORDED_NS = MS
WARN_NS = 50 * MS
LINE_EVERY_NS = 10_000 * MS
BOUNDS_MS = (2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000)

_BOUNDS_NS = tuple(bound * MS for bound in BOUNDS_MS)
_log = logging.getLogger("pykbroker.loop")


class HeldTimes:
    """The times of one unit: `counts[i]` of them were at most `BOUNDS_MS[i]`; the last count is for
    longer ones. Each time is counted once; times below RECORDED_NS are not counted.
    """

    __slots__ = ("counts", "longest_ns", "total_ns")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_MS) + 1)
        self.total_ns = 0
        self.longest_ns = 0


class LoopTime:
    """How long each unit of work held the event loop."""

    __slots__ = ("_left_out", "_next_line_ns", "by_unit")

    def __init__(self) -> None:
        self.by_unit: dict[str, HeldTimes] = {}
        self._next_line_ns = 0
        self._left_out = 0

    def record(self, unit: str, started_ns: int, ended_ns: int) -> None:
        """Count a unit that ran from `started_ns` to `ended_ns`, by the monotonic clock."""
        held_ns = ended_ns - started_ns
        times = self.by_unit.get(unit)
        if times is None:
            times = self.by_unit[unit] = HeldTimes()
        times.counts[bisect_left(_BOUNDS_NS, held_ns)] += 1
        times.total_ns += held_ns
        times.longest_ns = max(times.longest_ns, held_ns)
        if held_ns >= WARN_NS:
            self._warn(unit, held_ns, ended_ns)

    def _warn(self, unit: str, held_ns: int, now_ns: int) -> None:
        if now_ns < self._next_line_ns:
            self._left_out += 1
            return
        self._next_line_ns = now_ns + LINE_EVERY_NS
        left_out, self._left_out = self._left_out, 0
        more = f" ({left_out} similar lines omitted)" if left_out else ""
        _log.warning(
            "%s held the event loop for %d ms, during which no other client was served%s",
            unit,
            held_ns // MS,
            more,
        )


class Laps:
    """The times of units that follow each other: one begins where the one before ended."""

    __slots__ = ("_began_ns", "_monotonic_ns", "_record")

    def __init__(self, loop_time: LoopTime, monotonic_ns: Callable[[], int]) -> None:
        self._record = loop_time.record
        self._monotonic_ns = monotonic_ns
        self._began_ns = 0

    def start(self) -> int:
        """Begin the first unit; return the time in ns."""
        self._began_ns = now_ns = self._monotonic_ns()
        return now_ns

    def lap(self, unit: str) -> int:
        """End a unit, which is recorded if it was long, and begin the next; return the time."""
        began_ns = self._began_ns
        self._began_ns = now_ns = self._monotonic_ns()
        if now_ns - began_ns >= RECORDED_NS:
            self._record(unit, began_ns, now_ns)
        return now_ns
