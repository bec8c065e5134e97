"""Time and threads for the drivers of the quorum: the event loop's, or a test's own.

Machines are told the time; drivers need to be woken at a deadline and to have an fsync done without
holding the loop up. `Scheduler` is all they use of the world for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from pykbroker.environment import scheduler
from pykbroker.environment.real import scheduler as real_scheduler
from pykbroker.environment.scheduler import Timer

# Told what a job raised, or None when it went well.
Done = Callable[[BaseException | None], None]


class Scheduler(scheduler.Scheduler, Protocol):
    """When to do something, and who waits for the disk."""

    def run_blocking(self, job: Callable[[], object], done: Done, /) -> None:
        """Run `job` where it may block, then call `done` on the loop. Jobs run one at a time."""

    def close(self) -> None:
        """Let the job that runs end; no more jobs."""


class LoopScheduler(real_scheduler.LoopScheduler):
    """On an asyncio event loop, with one thread for what blocks."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._loop = loop
        self._pool: ThreadPoolExecutor | None = None

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


__all__ = ["Done", "LoopScheduler", "Scheduler", "Timer"]
