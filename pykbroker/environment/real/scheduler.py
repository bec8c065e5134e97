"""The scheduler of a real node: turns and timers of an asyncio event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pykbroker.deferred import Deferred


class LoopScheduler:
    """See `environment/scheduler.py`."""

    __slots__ = ("_call_later", "call_soon")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.call_soon = loop.call_soon
        self._call_later = loop.call_later

    def call_later(
        self, delay_ms: float, callback: Callable[..., object], *arguments: object
    ) -> asyncio.TimerHandle:
        """See `Scheduler`."""
        return self._call_later(max(delay_ms, 0) / 1000, callback, *arguments)

    def sleep(self, delay_ms: float) -> Deferred:
        """See `Scheduler`."""
        deferred = Deferred()
        if delay_ms > 0:
            self._call_later(delay_ms / 1000, deferred.resolve, None)
        else:
            self.call_soon(deferred.resolve, None)
        return deferred


async def in_asyncio(deferred: Deferred) -> object:
    """Await a Deferred in a coroutine of asyncio; raises its value when that is an exception."""
    future: asyncio.Future[object] = asyncio.get_running_loop().create_future()

    def arrived(value: object) -> None:
        if future.done():
            return
        if isinstance(value, BaseException):
            future.set_exception(value)
        else:
            future.set_result(value)

    deferred.on_resolved(arrived)
    return await future
