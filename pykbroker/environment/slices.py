"""Long work on the event loop's state, done in slices between which the loop serves others.

A job is a plain function. It runs as if it were on the event loop: nothing else runs while it does.
Wherever it has left everything in order it calls `breathe`; when its slice is used up by then, the
event loop has its turn, and the job goes on after that. So what a job holds in local variables
stays, and what it reads from the node may have changed after a `breathe`.

    between two calls of `breathe`     atomic, like any callback of the loop
    across a `breathe`                 other requests, timers and jobs may have run
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pykbroker.deferred import Deferred


class Slices(Protocol):
    """The sliced jobs of one node."""

    def run(
        self, name: str, job: Callable[[], object], is_wanted: Callable[[], bool] = lambda: True
    ) -> Deferred:
        """Run `job` in slices; the Deferred gets what it returns, or the exception it raises.

        The first slice runs in a turn of its own. Once `is_wanted` says no, the job is not resumed
        and the Deferred is never resolved. `name` is what its times are recorded under.
        """

    def breathe(self) -> None:
        """Let the event loop have a turn if this slice is used up; outside of a job do nothing."""

    def close(self) -> None:
        """End the jobs where they breathe; nothing is resolved any more."""


class InOneGo:
    """Jobs that run at once and as a whole: for a world in which computing takes no time."""

    def run(
        self, name: str, job: Callable[[], object], is_wanted: Callable[[], bool] = lambda: True
    ) -> Deferred:
        """See `Slices`."""
        deferred = Deferred()
        try:
            deferred.resolve(job())
        except Exception as failure:
            deferred.resolve(failure)
        return deferred

    def breathe(self) -> None:
        """See `Slices`."""

    def close(self) -> None:
        """See `Slices`."""
