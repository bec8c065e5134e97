"""When to call something: the event loop's turns and timers, or those of a simulated world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pykbroker.deferred import Deferred


class Timer(Protocol):
    """A call that is still to come."""

    def cancel(self) -> None:
        """Do not make the call; harmless when it has been made."""


class Scheduler(Protocol):
    """Calls in a later turn of the event loop. An exception that a callback raises is logged by the
    loop and lost: callbacks report their failures themselves."""

    def call_soon(self, callback: Callable[..., object], *arguments: object) -> Timer:
        """Call in the next turn, in the order of the requests."""

    def call_later(
        self, delay_ms: float, callback: Callable[..., object], *arguments: object
    ) -> Timer:
        """Call in `delay_ms` milliseconds; at once in the next turn when that is 0 or less."""

    def sleep(self, delay_ms: float) -> Deferred:
        """A Deferred that is resolved with None in `delay_ms` milliseconds."""


async def within(scheduler: Scheduler, deferred: Deferred, timeout_ms: int) -> Any:
    """The value of `deferred`, which must come in time. Raises TimeoutError when it does not."""
    outcome = Deferred()
    timer = scheduler.call_later(timeout_ms, outcome.resolve, TimeoutError("no answer in time"))

    def arrived(value: object) -> None:
        if not outcome.done:
            timer.cancel()
            outcome.resolve(value)

    deferred.on_resolved(arrived)
    return await outcome
