"""Long operations on a coordinator's machine: done in slices, with nothing else on it meanwhile.

An operation that runs in a job (`environment/slices.py`) may breathe. Its machine is BUSY until it
has finished: requests, timers and markers that arrive meanwhile wait in `HostedShard.later`, in
order, and are handled after it.

If the machine is discarded, `HostedShard.refuse_later` rejects waiting work that has a caller.
Invariant: only the running operation, or work that waited for it, changes a BUSY machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pykbroker.coordinator.hosted_shard import HostedShard, HostState, Later
from pykbroker.deferred import Deferred, pass_on
from pykbroker.environment.clock import Clock
from pykbroker.environment.scheduler import Scheduler
from pykbroker.environment.slices import Breathe, Slices

TURN_MS = 5
LOADED = "loaded coordinator"


class ThrownAway(Exception):
    """The machine was discarded while an operation breathed."""


def check(hosted: HostedShard, shard: object) -> None:
    """Raise ThrownAway if `shard` is no longer the machine."""
    if hosted.shard is not shard:
        raise ThrownAway


class LongTurns:
    """Long operations on machines. `wake`: called when something was appended
    or answered outside a turn.
    """

    def __init__(
        self, slices: Slices, scheduler: Scheduler, clock: Clock, wake: Callable[[], None]
    ) -> None:
        self._slices = slices
        self._scheduler = scheduler
        self._clock = clock
        self._wake = wake

    # ---- operations

    def begin(self, hosted: HostedShard) -> None:
        """Begin an operation on an active machine; if it runs in a job, it may breathe."""
        if self._slices.is_running:
            self._slices.hold(True)  # runs to its end even if the caller has gone
            hosted.state = HostState.BUSY
            hosted.is_operating = True

    def end(self, hosted: HostedShard, shard: object) -> None:
        """End the operation on this machine, whatever the outcome, even if
        the machine was discarded.
        """
        self._slices.hold(False)
        if hosted.shard is not shard:
            return  # the current operation is another one
        hosted.is_operating = False
        if hosted.state is HostState.BUSY:
            if hosted.later:
                self._scheduler.call_soon(self._do_what_waited, hosted)
            else:
                hosted.state = HostState.ACTIVE

    def breath(self, hosted: HostedShard) -> Breathe | None:
        """Return the `breathe` of an operation on the machine, None if it does not run in a job.

        It raises ThrownAway if the machine was discarded.
        """
        if not self._slices.is_running:
            return None
        return partial(self._breathe, hosted, hosted.shard)

    def _breathe(self, hosted: HostedShard, shard: object) -> None:
        self._slices.breathe()
        check(hosted, shard)

    def first(
        self,
        hosted: HostedShard,
        run: Callable[[], None],
        then: Callable[[int], None] | None,
        *,
        is_long: bool,
    ) -> None:
        """Run the first operation on a loaded machine, in a job if it is long, before everything
        that waits or arrives; then call `then(partition)`, even if the machine was discarded.
        """
        shard = hosted.shard

        def job() -> None:
            if hosted.shard is shard:
                hosted.state = HostState.ACTIVE
                hosted.is_operating = False
                run()

        def ended(_: object) -> None:
            self.do_what_waited(hosted)
            if then is not None:
                then(hosted.partition)

        if is_long:
            hosted.state = HostState.BUSY
            hosted.is_operating = True
            self._slices.run(LOADED, job).on_resolved(ended)
        else:
            run()
            ended(None)

    def in_slices(self, name: str, hosted: HostedShard, run: Callable[[], None]) -> None:
        """Run an operation in a job of that name, once the machine is loaded and free."""
        self._slices.run(name, partial(self._in_slices, name, hosted, run))

    def _in_slices(self, name: str, hosted: HostedShard, run: Callable[[], None]) -> None:
        if hosted.state is HostState.ACTIVE:
            run()
        else:
            again = partial(self._in_slices, name, hosted, run)
            hosted.later.append(Later(again, long_name=name))

    # ---- what waits

    def wait(
        self, hosted: HostedShard, again: Callable[[], Any], refuse: Callable[[int], Any]
    ) -> Deferred:
        """Return a Deferred of the outcome of `again` (or its exception), which is called when the
        machine is no longer busy; or of that of `refuse`.
        """
        deferred = Deferred()

        def run() -> None:
            try:
                outcome = again()
            except Exception as fault:
                deferred.resolve(fault)
            else:
                pass_on(outcome, deferred)

        name = "waiting request" if self._slices.is_running else ""
        hosted.later.append(Later(run, lambda code: deferred.resolve(refuse(code)), name))
        return deferred

    def when_free(self, hosted: HostedShard, run: Callable[[], None]) -> None:
        """Run an operation now, or when the machine is loaded and free."""
        if hosted.state is HostState.ACTIVE:
            run()
        else:
            hosted.later.append(Later(partial(self.when_free, hosted, run)))

    def do_what_waited(self, hosted: HostedShard) -> None:
        """Run the waiting work. The machine is loaded, unless its first operation failed."""
        if hosted.later and hosted.state is HostState.ACTIVE:
            hosted.state = HostState.BUSY
            self._do_what_waited(hosted)

    def _do_what_waited(self, hosted: HostedShard) -> None:
        """Run waiting work for a few milliseconds; the rest in a later turn."""
        end_ns = self._clock.monotonic_ns() + TURN_MS * 1_000_000
        while hosted.state is HostState.BUSY and not hosted.is_operating:
            if not hosted.later:
                hosted.state = HostState.ACTIVE
            elif self._clock.monotonic_ns() > end_ns:
                self._scheduler.call_soon(self._do_what_waited, hosted)
                break
            else:
                later = hosted.later.popleft()
                if later.long_name:
                    hosted.is_operating = True
                    self._slices.run(later.long_name, partial(self._do, hosted, later))
                else:
                    self._do(hosted, later)
        self._wake()

    def _do(self, hosted: HostedShard, later: Later) -> None:
        if hosted.state is HostState.BUSY:
            hosted.is_operating = False
            hosted.state = HostState.ACTIVE
        try:
            later.run()
        finally:
            if hosted.state is HostState.ACTIVE and hosted.later:
                hosted.state = HostState.BUSY
                if later.long_name:
                    self._scheduler.call_soon(self._do_what_waited, hosted)
