"""The scheduler of a real node: turns and timers of an asyncio event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from pykbroker.deferred import Deferred, Task
from pykbroker.environment.loop_time import LoopTime
from pykbroker.environment.real.timed_calls import TimedCalls


class LoopScheduler:
    """Turns and timers of an asyncio event loop; see `environment/scheduler.py`."""

    __slots__ = ("_call_later", "_timed", "call_soon")

    def __init__(self, loop: asyncio.AbstractEventLoop, timed: TimedCalls | None = None) -> None:
        self.call_soon = loop.call_soon
        self._call_later = loop.call_later
        self._timed = timed or TimedCalls(LoopTime())

    def call_later(
        self, delay_ms: float, callback: Callable[..., object], *arguments: object
    ) -> asyncio.TimerHandle:
        """See `Scheduler`."""
        return self._call_later(max(delay_ms, 0) / 1000, self._timed.call, callback, *arguments)

    def sleep(self, delay_ms: float) -> Deferred:
        """See `Scheduler`."""
        deferred = Deferred()
        if delay_ms > 0:
            self._call_later(delay_ms / 1000, self._timed.resolve, deferred, None)
        else:
            self.call_soon(self._timed.resolve, deferred, None)
        return deferred


async def in_asyncio(awaited: Deferred | Coroutine[Deferred, Any, Any]) -> Any:
    """Await a Deferred, or run a coroutine that awaits Deferreds, from an asyncio coroutine.

    If the value is an exception, raises it. Cancelling the caller cancels the coroutine and waits
    until it has ended; a Deferred is simply abandoned.
    """
    arrived = asyncio.Event()
    deferred = awaited if isinstance(awaited, Deferred) else Task(awaited)
    deferred.on_resolved(lambda _: arrived.set())
    own = deferred if isinstance(deferred, Task) and deferred is not awaited else None
    if own is not None:
        own.start()
    try:
        await arrived.wait()
    except asyncio.CancelledError:
        if own is not None:
            own.cancel()
            await arrived.wait()
        raise
    if isinstance(deferred.value, BaseException):
        raise deferred.value
    return deferred.value
