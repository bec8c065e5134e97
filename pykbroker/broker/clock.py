"""The clock of a node: wall time in milliseconds that never goes backwards.

Timestamps need wall time, deadlines need a clock that does not jump. Machines are told one `now_ms`
for both, so this clock runs on the monotonic one and follows the wall: forwards at once, backwards
by standing still until the wall has caught up, but for no longer than `MAX_STANDSTILL_MS` at a time
(a wall clock set back by a year must not freeze every deadline).
"""

from __future__ import annotations

import time

CHECK_EVERY_MS = 1000
MAX_STANDSTILL_MS = 500


class Clock:
    """Milliseconds since the epoch."""

    __slots__ = ("_checked_ms", "_monotonic", "_now_ms", "_offset_ms", "_wall")

    def __init__(self) -> None:
        self._wall = time.time
        self._monotonic = time.monotonic
        monotonic_ms = self._monotonic() * 1000
        self._offset_ms = self._wall() * 1000 - monotonic_ms
        self._checked_ms = monotonic_ms
        self._now_ms = int(monotonic_ms + self._offset_ms)

    def now_ms(self) -> int:
        """The time now."""
        monotonic_ms = self._monotonic() * 1000
        if monotonic_ms - self._checked_ms > CHECK_EVERY_MS:
            self._checked_ms = monotonic_ms
            self._follow_wall(monotonic_ms)
        now_ms = int(monotonic_ms + self._offset_ms)
        if now_ms > self._now_ms:
            self._now_ms = now_ms
        return self._now_ms

    def _follow_wall(self, monotonic_ms: float) -> None:
        offset_ms = self._wall() * 1000 - monotonic_ms
        behind_ms = self._now_ms - (monotonic_ms + offset_ms)
        if behind_ms > MAX_STANDSTILL_MS:
            offset_ms += behind_ms - MAX_STANDSTILL_MS
        self._offset_ms = offset_ms
