"""Threads in which big batches are decompressed, checked and compressed again.

One batch of a megabyte may take tens of milliseconds: on the event loop all others would wait for
it. The codecs do their work without the interpreter's lock, so a few threads are enough.

Order is kept because a connection has one request in flight: whatever follows from the same
producer is read only after the reply. Producers on other connections have no order among them.

State: the threads, made when the first heavy batch comes.
In:  `check(work, done)`. Out: `done(outcomes)` on the event loop; nothing after `stop`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykbroker.log.batch_validation import ValidationOutcome

Check = Callable[[], "ValidationOutcome"]
Done = Callable[[list["ValidationOutcome"]], None]

MOST_THREADS = 4


class ValidationPool:
    """See the module."""

    __slots__ = ("_halt", "_loop", "_pool", "is_stopped")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, halt: Callable[[BaseException], None]
    ) -> None:
        self._loop = loop
        self._halt = halt
        self._pool: ThreadPoolExecutor | None = None
        self.is_stopped = False

    def check(self, work: list[Check], done: Done) -> None:
        """Run all of `work` in one thread, then `done` with what each answered, on the loop."""
        if self._pool is None:
            threads = max(1, min((os.cpu_count() or 1) - 1, MOST_THREADS))  # one for the loop
            self._pool = ThreadPoolExecutor(threads, "validation")
        future = self._pool.submit(lambda: [each() for each in work])
        future.add_done_callback(lambda ran: self._ran(ran, done))

    def _ran(self, future: Future[list[ValidationOutcome]], done: Done) -> None:
        """In the thread, or in `stop` when it was cancelled."""
        if not self.is_stopped:
            self._loop.call_soon_threadsafe(self._finish, future, done)

    def _finish(self, future: Future[list[ValidationOutcome]], done: Done) -> None:
        if self.is_stopped:
            return
        try:
            done(future.result())
        except Exception as failure:  # a bug of ours: what the logs hold is uncertain now
            self._halt(failure)

    def stop(self) -> None:
        """Wait for the threads; what they had in hand is appended nowhere."""
        self.is_stopped = True
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
