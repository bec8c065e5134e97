"""Callbacks of the event loop that record how long they held it; see `loop_time.py`.

Timers and the outcomes of threads and sliced jobs are called this way; `call_soon`, readers and
writers are not. The worker records its own units, and a reader does only a few reads.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from pykbroker.deferred import Deferred, Task
from pykbroker.environment.loop_time import RECORDED_NS, LoopTime


class TimedCalls:
    """Makes calls and resolves Deferreds, and records slow ones in `loop_time`."""

    __slots__ = ("_monotonic_ns", "loop_time")

    def __init__(
        self, loop_time: LoopTime, monotonic_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self.loop_time = loop_time
        self._monotonic_ns = monotonic_ns

    def call(self, callback: Callable[..., object], *arguments: object) -> None:
        """Call `callback(*arguments)`."""
        started_ns = self._monotonic_ns()
        try:
            callback(*arguments)
        finally:
            self._ended(callback, started_ns)

    def resolve(self, deferred: Deferred, value: object) -> None:
        """Resolve a Deferred; the time is attributed to its listener."""
        listener = deferred.listener
        started_ns = self._monotonic_ns()
        try:
            deferred.resolve(value)
        finally:
            if listener is not None:
                self._ended(listener, started_ns)

    def _ended(self, callback: Callable[..., object], started_ns: int) -> None:
        ended_ns = self._monotonic_ns()
        if ended_ns - started_ns >= RECORDED_NS:
            self.loop_time.record(name_of(callback), started_ns, ended_ns)


def name_of(callback: Callable[..., object]) -> str:
    """Return the name of the function that a callback calls, or of the coroutine
    that it resumes.
    """
    while isinstance(callback, partial):
        callback = callback.func
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, Task):
        return owner.name
    return getattr(callback, "__qualname__", type(callback).__qualname__)
