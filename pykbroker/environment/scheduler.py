"""When to call something: the event loop's turns and timers, or those of a simulated world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

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
