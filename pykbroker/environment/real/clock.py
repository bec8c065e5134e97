"""The real clocks: one for deadlines, and the wall clock for record timestamps.

    now_ms     milliseconds since the epoch, from the monotonic clock: never goes backwards. It
               approaches the wall clock by at most a fifth of the time that passes, so it runs at
               0.8 to 1.2 times the speed of real time when the wall clock is adjusted. Machines
               receive this time.
    wall_ms    the wall clock, for what is compared with or becomes the timestamp of a record

If the wall clock is ahead by more than a day (a board without a battery has received its time, a
laptop has slept for long), it is followed at the next check. Deadlines may then be due at once, but
periods that machines count in days, such as offsets.retention.minutes, must not begin in 1970.

Source  Kafka's Time.java: hiResClockMs for timers, milliseconds for timestamps.
"""

from __future__ import annotations

import time

CHECK_EVERY_MS = 1000
DRAWN_SHARE = 0.2
FAR_AHEAD_MS = 24 * 3600 * 1000


class RealClock:
    """The clocks of this process."""

    __slots__ = ("_checked_ms", "_monotonic", "_now_ms", "_offset_ms", "_wall", "monotonic_ns")

    def __init__(self) -> None:
        self.monotonic_ns = time.monotonic_ns  # for every chunk that is received: no call between
        self._wall = time.time
        self._monotonic = time.monotonic
        monotonic_ms = self._monotonic() * 1000
        self._offset_ms = self._wall() * 1000 - monotonic_ms
        self._checked_ms = monotonic_ms
        self._now_ms = int(monotonic_ms + self._offset_ms)

    def wall_ms(self) -> int:
        """See `Clock`."""
        return int(self._wall() * 1000)

    def now_ms(self) -> int:
        """See `Clock`."""
        monotonic_ms = self._monotonic() * 1000
        if monotonic_ms - self._checked_ms > CHECK_EVERY_MS:
            self._follow_wall(monotonic_ms)
        now_ms = int(monotonic_ms + self._offset_ms)
        if now_ms > self._now_ms:
            self._now_ms = now_ms
        return self._now_ms

    def _follow_wall(self, monotonic_ms: float) -> None:
        ahead_ms = self._wall() * 1000 - (monotonic_ms + self._offset_ms)
        if ahead_ms <= FAR_AHEAD_MS:
            most_ms = (monotonic_ms - self._checked_ms) * DRAWN_SHARE
            ahead_ms = max(-most_ms, min(ahead_ms, most_ms))
        self._offset_ms += ahead_ms
        self._checked_ms = monotonic_ms
