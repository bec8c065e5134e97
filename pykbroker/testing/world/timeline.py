"""The events of a world, in order: a hash for comparing two runs, and the latest as lines.

In: `note` (a line, which is hashed), `log` (a line of a node's log, which is not: it may hold
addresses of objects), `bytes_arrived`.
Out: `digest`, `lines`.
"""

from __future__ import annotations

import logging
from collections import deque
from hashlib import blake2b
from zlib import crc32

from pykbroker.testing.world.virtual_time import EventQueue

LINES_KEPT = 400
LOG_FORMATTER = logging.Formatter("%(name)s: %(message)s")


class Timeline:
    """The events of a world, in order."""

    def __init__(self, queue: EventQueue, lines_kept: int = LINES_KEPT) -> None:
        self._queue = queue
        self._hash = blake2b(digest_size=16)
        self._lines: deque[str] = deque(maxlen=lines_kept)
        self.notes = 0

    def note(self, who: str, text: str) -> None:
        """Record an event, in words that are the same in every run of a seed."""
        self.notes += 1
        line = f"{self._queue.now_us} {who} {text}"
        self._hash.update(line.encode())
        self._lines.append(self._shown(who, text))

    def log(self, who: str, text: str) -> None:
        """Record a line of a node's log: shown, not compared."""
        self._lines.append(self._shown(who, text))

    def bytes_arrived(self, sender: str, receiver: str, payload: bytes) -> None:
        """Record the arrival of a segment: compared, not shown."""
        line = f"{self._queue.now_us} {sender} {receiver} {crc32(payload)} {len(payload)}"
        self._hash.update(line.encode())

    def _shown(self, who: str, text: str) -> str:
        return f"{self._queue.now_us / 1e6:12.6f} s  {who:<12} {text}"

    @property
    def digest(self) -> str:
        """Return the hash of all notes and segments so far."""
        return self._hash.hexdigest()

    def lines(self, most: int = LINES_KEPT) -> list[str]:
        """Return the latest lines, at most `most` (> 0), oldest first."""
        return list(self._lines)[-most:]


class TimelineHandler(logging.Handler):
    """Adds log records to the timeline, with the name of the running process."""

    def __init__(self, timeline: Timeline, queue: EventQueue, level: int) -> None:
        super().__init__(level)
        self._timeline = timeline
        self._queue = queue

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        process = self._queue.current
        who = "world" if process is None else process.name
        self._timeline.log(who, f"[{record.levelname}] {LOG_FORMATTER.format(record)}")
