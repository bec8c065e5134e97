"""Deferred work of a node's logs: files and directories to delete after a delay, segments to fsync.

State: deletions with their delay and, once known, their due time; the flushers of logs that rolled
and have closed segments to sync; whether a log was truncated.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any

from pykbroker.values import NamedTuple


class Deletion(NamedTuple):
    """Files, or one directory with its contents, to be deleted."""

    paths: tuple[str, ...]
    is_directory: bool


class Chores:
    """Deferred work, added by the logs and taken by the housekeeping driver."""

    __slots__ = (
        "_dated",
        "_has_truncated",
        "_number",
        "_on_log_start",
        "_on_truncated",
        "_rolled",
        "_undated",
    )

    def __init__(self) -> None:
        self._undated: list[tuple[int, Deletion]] = []
        self._dated: list[tuple[int, int, Deletion]] = []
        self._rolled: dict[object, None] = {}
        self._has_truncated = False
        self._number = 0
        self._on_log_start: Callable[[Any], None] | None = None
        self._on_truncated: list[Callable[[Any], None]] = []

    def delete_later(
        self, paths: Sequence[str], delay_ms: int, *, is_directory: bool = False
    ) -> None:
        self._undated.append((delay_ms, Deletion(tuple(paths), is_directory)))

    def due_deletions(self, now_ms: int) -> list[Deletion]:
        """Return the deletions whose delay has passed, counted from the first
        call after the request.
        """
        for delay_ms, deletion in self._undated:
            self._number += 1
            heapq.heappush(self._dated, (now_ms + delay_ms, self._number, deletion))
        self._undated.clear()
        due = []
        while self._dated and self._dated[0][0] <= now_ms:
            due.append(heapq.heappop(self._dated)[2])
        return due

    @property
    def pending_deletions(self) -> int:
        return len(self._undated) + len(self._dated)

    def rolled(self, log: object) -> None:
        self._rolled[log] = None

    def follow_log_starts(self, moved: Callable[[Any], None]) -> None:
        """Call `moved` with each log whose start offset has grown, but not by a truncation."""
        self._on_log_start = moved

    def log_start_moved(self, log: object) -> None:
        """Tell the listener that the start offset of `log` has grown."""
        if self._on_log_start is not None:
            self._on_log_start(log)

    def follow_truncations(self, cut: Callable[[Any], None]) -> None:
        """Also call `cut` with each log whose end, or all of it, was cut off."""
        self._on_truncated.append(cut)

    def truncated(self, log: object) -> None:
        """Record that the end of `log`, or all of it, was cut off, and call the listeners. Raises
        LogDirFailure if a checkpoint cannot be written.
        """
        self._has_truncated = True
        for cut in self._on_truncated:
            cut(log)

    def take_truncated(self) -> bool:
        """Return whether a log was truncated since the last call."""
        taken, self._has_truncated = self._has_truncated, False
        return taken

    def take_rolled(self) -> list[object]:
        logs = list(self._rolled)
        self._rolled.clear()
        return logs

    def forget(self, log: object) -> None:
        """Forget the flusher of a log that is taken out of use: it must not flush any more."""
        self._rolled.pop(log, None)
