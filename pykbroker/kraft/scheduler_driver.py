"""Time and threads for the drivers of the quorum: the event loop's, or a test's own.

Machines are told the time; drivers need to be woken at a deadline and to have an fsync done without
holding the loop up. `Scheduler` is all they use of the world for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

# Told what a job raised, or None when it went well.
Done = Callable[[BaseException | None], None]


class Timer(Protocol):
    """A call that is still to come."""

    def cancel(self) -> None:
        """Do not make the call."""


class Scheduler(Protocol):
    """When to do something, and who waits for the disk."""

    def call_later(self, delay_ms: int, callback: Callable[[], None], /) -> Timer:
        """Call `callback` in `delay_ms`."""

    def run_blocking(self, job: Callable[[], object], done: Done, /) -> None:
        """Run `job` where it may block, then call `done` on the loop. Jobs run one at a time."""

    def close(self) -> None:
        """Let the job that runs end; no more jobs."""


class LoopScheduler:
    """On an asyncio event loop, with one thread for what blocks."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._pool: ThreadPoolExecutor | None = None

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """See `Scheduler`."""
        return self._loop.call_later(max(delay_ms, 0) / 1000, callback)

    def run_blocking(self, job: Callable[[], object], done: Done) -> None:
        """See `Scheduler`."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "metadata-log")

        def run() -> None:
            failure: BaseException | None = None
            try:
                job()
            except BaseException as raised:
                failure = raised
            self._loop.call_soon_threadsafe(done, failure)

        self._pool.submit(run)

    def close(self) -> None:
        """See `Scheduler`."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None
