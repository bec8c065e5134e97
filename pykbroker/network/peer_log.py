"""Rate-limited log lines about connections that this node closed.

Anyone who can reach the port can cause log lines. So each connection causes at most one line, and
all together at most `LINES_PER_WINDOW` lines per window; the next line that is written contains the
number of omitted ones.
"""

from __future__ import annotations

import logging

LINES_PER_WINDOW = 20
WINDOW_MS = 10_000

_log = logging.getLogger("pykbroker.network")


class PeerLog:
    """Rate-limited log of connections closed because of what their peer did, or of a local failure
    while they were served.
    """

    __slots__ = ("_lines", "_suppressed", "_window_start_ms")

    def __init__(self) -> None:
        self._window_start_ms = 0
        self._lines = 0
        self._suppressed = 0

    def closed(self, peer: str, listener_name: str, reason: str, now_ms: int) -> None:
        """Log that the connection of `peer` was closed, unless the limit is reached."""
        if now_ms - self._window_start_ms >= WINDOW_MS:
            self._window_start_ms = now_ms
            self._lines = 0
        if self._lines >= LINES_PER_WINDOW:
            self._suppressed += 1
            return
        self._lines += 1
        left_out = ""
        if self._suppressed:
            left_out = f" ({self._suppressed} similar lines omitted)"
            self._suppressed = 0
        _log.warning(
            "closed the connection of %s on listener %s: %s%s",
            peer,
            listener_name,
            reason,
            left_out,
        )
