"""Long work on the event loop's state, done in slices between which the loop serves other work.

A job is a plain function. It runs as if it were on the event loop, where nothing else runs then.
Wherever the state is consistent it calls `breathe`; if its slice is used up by then, the event loop
gets a turn, and the job resumes afterwards. Its local variables are kept, but what it reads from
the node may have changed after a `breathe`.

    between two calls of `breathe`     atomic, like any callback of the loop
    across a `breathe`                 other requests, timers and jobs may have run
    across an `apart`                  the same; what it is given runs beside them
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from pykbroker.deferred import Deferred

ElementT = TypeVar("ElementT")

Breathe = Callable[[], None]

FEW = 4


def go_on() -> None:
    """Do nothing; for code that must not be interrupted."""


def paced(elements: Iterable[ElementT], breathe: Breathe) -> Iterable[ElementT]:
    """Yield the elements, calling `breathe` before each; not for a list or a dict with at most
    FEW.
    """
    if (type(elements) is list or type(elements) is dict) and len(elements) <= FEW:
        return elements
    return _breathing(elements, breathe)


def _breathing(elements: Iterable[ElementT], breathe: Breathe) -> Iterator[ElementT]:
    for element in elements:
        breathe()
        yield element


def paced_if(elements: Iterable[ElementT], breathe: Breathe | None) -> Iterable[ElementT]:
    """Return the elements, paced only if `breathe` is given, so that short
    requests do not pay for it.
    """
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
        """Run `job` in slices; the Deferred is resolved with its return value or exception.

        The first slice runs in a turn of its own. Once `is_wanted` returns False, the job is not
        resumed (unless it is held) and the Deferred is never resolved. `name` is what its times are
        recorded under. `after_slice` is called after each slice but the last.
        """

    @property
    def is_running(self) -> bool:
        """Return whether a job is running, which `breathe` may interrupt."""

    def hold(self, is_held: bool) -> None:
        """Set whether the running job continues even if it is no longer wanted, because its work
        must not stay half done. Does nothing outside a job.
        """

    def breathe(self) -> None:
        """Give the event loop a turn if this slice is used up. Does nothing outside a job."""

    def apart(self, work: Callable[[], object]) -> None:
        """Let the event loop run while `work` runs beside it; return, or raise, when it has ended.

        `work` must not touch the state of the node: it may import modules, for example. Outside a
        job it runs in one go.
        """

    def close(self) -> None:
        """End the jobs at the `breathe` where they wait, or when their `apart` has ended; no
        Deferred is resolved any more.
        """


class InOneGo:
    """Runs each job immediately, in one go and to its end, for a world in which computing takes no
    time.
    """

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

    def apart(self, work: Callable[[], object]) -> None:
        """See `Slices`."""
        work()

    def close(self) -> None:
        """See `Slices`."""
