"""What a job is doing, on standard error: tasks done of the running stages, seconds.

On a terminal one line that is drawn over; elsewhere (a log, spark-submit) a line at the start of
each step, and one every ten seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any, Final

_DRAWN_EVERY_SECONDS: Final = 0.2
_TOLD_EVERY_SECONDS: Final = 10.0
_WIDTH: Final = 24


class Progress:
    """A context manager around a job; `step` names its current step."""

    def __init__(self, spark: Any, name: str, *, is_quiet: bool = False) -> None:
        self._tracker = spark.sparkContext.statusTracker()
        self._name = name
        self._is_quiet = is_quiet
        self._draws_over = sys.stderr.isatty() and not is_quiet
        self._began = time.monotonic()
        self._text = "planning"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="progress", daemon=True)

    def __enter__(self) -> Progress:
        _running.append(self)
        if not self._is_quiet:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _running.remove(self)
        self._ended.set()
        if not self._is_quiet:
            self._thread.join()
        word = "done" if error is None else "no result"
        self._write(f"{self._name}: {word} after {self._seconds():.1f} s", is_last=True)

    def step(self, text: str) -> None:
        """Name the current step of the job."""
        self._text = text
        if not self._draws_over:
            self._write(f"{self._name}: {text} ({self._seconds():.1f} s)", is_last=True)

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _write(self, line: str, *, is_last: bool) -> None:
        if self._is_quiet:
            return
        start = "\r\x1b[K" if self._draws_over else ""
        print(start + line, end="\n" if is_last else "", file=sys.stderr, flush=True)

    def _follow(self) -> None:
        every = _DRAWN_EVERY_SECONDS if self._draws_over else _TOLD_EVERY_SECONDS
        while not self._ended.wait(every):
            self._write(self._line(), is_last=not self._draws_over)

    def _line(self) -> str:
        done = running = total = 0
        for stage in self._tracker.getActiveStageIds():
            found = self._tracker.getStageInfo(stage)
            if found is not None:
                done += found.numCompletedTasks
                running += found.numActiveTasks
                total += found.numTasks
        line = f"{self._name}: {self._text} {self._seconds():.0f} s"
        if not total:
            return line
        filled = done * _WIDTH // total
        bar = "#" * filled + "-" * (_WIDTH - filled)
        return f"{line} [{bar}] {done}/{total} tasks, {running} running"


_running: Final[list[Progress]] = []


def step(text: str) -> None:
    """Name the current step of the running job; does nothing without a display (a test)."""
    for progress in _running:
        progress.step(text)
