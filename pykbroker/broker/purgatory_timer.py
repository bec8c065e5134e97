"""The timer that expires operations in the purgatory.

State   one timer, for the first deadline at the time it was set; a call for the rest of a turn's
        work.
In      `arm`, at the end of every turn. Out: `Purgatory.advance` and `Purgatory.do_rest`, then a
        turn for their answers.
No operation expires early. If more are due at once than one turn has effort for, the others expire
in the next turns. A purgatory without deadlines needs no timer.
"""

from __future__ import annotations

from collections.abc import Callable

from pykbroker.environment.scheduler import Scheduler, Timer
from pykbroker.purgatory import Purgatory


class PurgatoryTimer:
    """Expires operations in the purgatory. `halt` is called with the exception if one is raised."""

    __slots__ = (
        "_due_ms",
        "_halt",
        "_now_ms",
        "_purgatory",
        "_rest",
        "_scheduler",
        "_timer",
        "_wake",
    )

    def __init__(
        self,
        scheduler: Scheduler,
        purgatory: Purgatory,
        *,
        now_ms: Callable[[], int],
        wake: Callable[[], None],
        halt: Callable[[BaseException], None],
    ) -> None:
        self._scheduler = scheduler
        self._purgatory = purgatory
        self._now_ms = now_ms
        self._wake = wake
        self._halt = halt
        self._timer: Timer | None = None
        self._rest: Timer | None = None
        self._due_ms = 0

    def arm(self) -> None:
        """Set the timer if the first deadline is earlier; schedule the rest of the turn's work."""
        if self._purgatory.begin_turn() and self._rest is None:
            self._rest = self._scheduler.call_soon(self._do_rest)
        deadline_ms = self._purgatory.next_deadline_ms()
        if deadline_ms is None:
            return
        if self._timer is not None:
            if self._due_ms <= deadline_ms:
                return
            self._timer.cancel()
        self._due_ms = deadline_ms
        delay_ms = max(deadline_ms - self._now_ms(), 1)
        self._timer = self._scheduler.call_later(delay_ms, self._expire)

    def _expire(self) -> None:
        self._timer = None
        self._run(lambda: self._purgatory.advance(self._now_ms()))

    def _do_rest(self) -> None:
        self._rest = None
        self._run(self._purgatory.do_rest)

    def _run(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as failure:
            self._halt(failure)
            return
        self._wake()  # the turn arms the timer again

    def cancel(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
