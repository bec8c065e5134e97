"""Long work on the event loop's state, done in slices between which the loop serves others.

A job is a plain function. It runs as if it were on the event loop: nothing else runs while it does.
Wherever it has left everything in order it calls `breathe`; when its slice is used up by then, the
event loop has its turn, and the job goes on after that. So what a job holds in local variables
stays, and what it reads from the node may have changed after a `breathe`.

    between two calls of `breathe`     atomic, like any callback of the loop
    across a `breathe`                 other requests, timers and jobs may have run
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from pykbroker.deferred import Deferred

ElementT = TypeVar("ElementT")

Breathe = Callable[[], None]


def go_on() -> None:
    """Do not breathe."""


def paced(elements: Iterable[ElementT], breathe: Breathe) -> Iterator[ElementT]:
    """Yield the elements, and breathe before each."""
    for element in elements:
        breathe()
        yield element


def paced_if(elements: Iterable[ElementT], breathe: Breathe | None) -> Iterable[ElementT]:
    """The elements, paced if there is something to call: short requests do not pay for it."""
    return elements if breathe is None else paced(elements, breathe)


class Slices(Protocol):
    """The sliced jobs of one node."""

    def run(
        self,
        name: str,
        job: Callable[[], object],
        is_wanted: Callable[[], bool] = lambda: True,
        after_slice: Callable[[], None] = go_on,
    ) -> Deferred:
        """Run `job` in slices; the Deferred gets what it returns, or the exception it raises.

        The first slice runs in a turn of its own. Once `is_wanted` says no, the job is not resumed
        and the Deferred is never resolved. `name` is what its times are recorded under.
        `after_slice` is called after each slice but the last.
        """

    @property
    def is_running(self) -> bool:
        """Does a job run now, which `breathe` may interrupt?"""

    def hold(self, is_held: bool) -> None:
        """Whether the running job is to go on although it is not wanted any more, because what it
        has begun must not stay half done; outside of a job do nothing."""

    def breathe(self) -> None:
        """Let the event loop have a turn if this slice is used up; outside of a job do nothing."""

    def close(self) -> None:
        """End the jobs where they breathe; nothing is resolved any more."""


class InOneGo:
    """Jobs that run at once and as a whole: for a world in which computing takes no time."""

    is_running = False

    def run(
        self,
        name: str,
        job: Callable[[], object],
        is_wanted: Callable[[], bool] = lambda: True,
        after_slice: Callable[[], None] = go_on,
    ) -> Deferred:
        """See `Slices`."""
        deferred = Deferred()
        try:
            deferred.resolve(job())
        except Exception as failure:
            deferred.resolve(failure)
        return deferred

    def hold(self, is_held: bool) -> None:
        """See `Slices`."""

    def breathe(self) -> None:
        """See `Slices`."""

    def close(self) -> None:
        """See `Slices`."""
