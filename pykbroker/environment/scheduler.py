"""Scheduled calls: the turns and timers of the event loop, or of a simulated world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pykbroker.deferred import Deferred


class Timer(Protocol):
    """A pending call."""

    def cancel(self) -> None:
        """Cancel the call; does nothing if it has been made."""


class Scheduler(Protocol):
    """Schedules calls for a later turn of the event loop. If a callback raises an exception, a real
    loop only logs it, so callbacks must report failures themselves.
    """

    def call_soon(self, callback: Callable[..., object], *arguments: object) -> Timer:
        """Call `callback` in the next turn, in the order of the requests."""

    def call_later(
        self, delay_ms: float, callback: Callable[..., object], *arguments: object
    ) -> Timer:
        """Call `callback` in `delay_ms` milliseconds, or in the next turn if that is 0 or less."""

    def sleep(self, delay_ms: float) -> Deferred:
        """Return a Deferred that is resolved with None in `delay_ms` milliseconds."""


async def within(scheduler: Scheduler, deferred: Deferred, timeout_ms: int) -> Any:
    """Wait for `deferred` and return its value, or raise it if it is an exception. Raises
    TimeoutError if it is not resolved in time.
    """
    outcome = Deferred()
    timer = scheduler.call_later(timeout_ms, outcome.resolve, TimeoutError("no answer in time"))

    def arrived(value: object) -> None:
        if not outcome.done:
            timer.cancel()
            outcome.resolve(value)

    deferred.on_resolved(arrived)
    return await outcome
