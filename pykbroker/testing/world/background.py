"""Threads and worker processes of a simulated process: jobs that run in place, later.

A job runs at a virtual time after it was submitted, and its outcome arrives at a later one: what
happens in between looks as it would with a thread. Jobs of a group with one thread keep their
order. Only `run_parallel` runs its jobs immediately, in a random order.
Invariant: a job of a process that has ended never runs, and its outcome never arrives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from io import StringIO
from typing import Protocol, TextIO, cast

from pykbroker.deferred import Deferred, resolved
from pykbroker.environment.clock import WorkerClock
from pykbroker.environment.files import Files
from pykbroker.testing.world.randomness import Dice
from pykbroker.testing.world.virtual_time import EventQueue, Process

USUAL_US = (20, 2_000)
SLOW_US = (5_000, 400_000)
ONE_IN_SLOW = 12


class SimulatedThreads:
    """See `environment/background.py`."""

    __slots__ = ("_background", "_free", "_is_closed", "_waiting")

    def __init__(self, background: SimulatedBackground, count: int) -> None:
        self._background = background
        self._free = count
        self._waiting: deque[tuple[Callable[[], object], Deferred]] = deque()
        self._is_closed = False

    def run(self, job: Callable[[], object]) -> Deferred:
        """See `Threads`."""
        deferred = Deferred()
        self._waiting.append((job, deferred))
        self._start()
        return deferred

    def _start(self) -> None:
        while self._free and self._waiting:
            self._free -= 1
            job, deferred = self._waiting.popleft()
            self._background.later(self._run, job, deferred)

    def _run(self, job: Callable[[], object], deferred: Deferred) -> None:
        if self._is_closed:
            return
        outcome: object
        try:
            outcome = job()
        except Exception as failure:
            outcome = failure
        self._background.later(self._deliver, deferred, outcome)

    def _deliver(self, deferred: Deferred, outcome: object) -> None:
        if self._is_closed:
            return
        self._free += 1
        self._start()
        deferred.resolve(outcome)

    def close(self) -> None:
        """See `Threads`. A job that has not run yet is dropped."""
        self._is_closed = True
        self._waiting.clear()


class WorkerModule(Protocol):
    """The interface of a module that runs as a worker process."""

    def serve(self, files: Files, clock: WorkerClock, lines: Iterable[str], out: TextIO) -> None:
        """Process lines of input until they end; write lines of output."""


class SleeplessClock:
    """The time of a simulated worker process, from 0 for each line: only its sleep advances it."""

    __slots__ = ("_now_s",)

    def __init__(self) -> None:
        self._now_s = 0.0

    def monotonic_s(self) -> float:
        """See `WorkerClock`."""
        return self._now_s

    def sleep(self, seconds: float) -> None:
        """See `WorkerClock`."""
        self._now_s += seconds


class SimulatedProcess:
    """A worker process, run in place on the disk of its machine."""

    __slots__ = ("_arrived", "_background", "_lines", "_module", "_receivers")

    def __init__(self, background: SimulatedBackground, module: WorkerModule) -> None:
        self._background = background
        self._module: WorkerModule | None = module
        self._arrived = 0
        self._lines: deque[str] = deque()
        self._receivers: deque[Deferred] = deque()

    def send_line(self, line: str) -> Deferred:
        """See `WorkerProcess`."""
        if self._module is None:
            return resolved(BrokenPipeError("the process has ended"))
        self._background.later(self._work, line)
        return resolved(None)

    def _work(self, line: str) -> None:
        if self._module is None:
            return
        out = StringIO()
        self._module.serve(self._background.files, SleeplessClock(), [line + "\n"], out)
        for answer in out.getvalue().splitlines():
            self._lines.append(answer)
            self._background.later(self._arrive)

    def _arrive(self) -> None:
        self._arrived += 1
        self._deliver()

    def _deliver(self) -> None:
        """Deliver lines in their order, however long each one takes."""
        while self._arrived and self._receivers:
            self._arrived -= 1
            self._receivers.popleft().resolve(self._lines.popleft())

    def receive_line(self) -> Deferred:
        """See `WorkerProcess`; but without an order it waits, for a line or the end."""
        deferred = Deferred()
        if self._module is None and not self._arrived:
            deferred.resolve(None)
        else:
            self._receivers.append(deferred)
            self._deliver()
        return deferred

    def end(self) -> None:
        """See `WorkerProcess`; but a caller that waits for a line gets None."""
        self._module = None
        receivers, self._receivers = self._receivers, deque()
        for deferred in receivers:
            deferred.resolve(None)


class SimulatedBackground:
    """See `environment/background.py`."""

    __slots__ = ("_dice", "_process", "_queue", "files", "is_slow", "processors")

    def __init__(self, queue: EventQueue, process: Process, dice: Dice, files: Files) -> None:
        self._queue = queue
        self._process = process
        self._dice = dice
        self.files = files
        self.is_slow = False
        """A fault: every job takes long."""
        self.processors = 2

    def later(self, callback: Callable[..., object], *arguments: object) -> None:
        """Call after a delay, which is sometimes long."""
        is_slow = self.is_slow or self._dice.one_in(ONE_IN_SLOW)
        delay_us = self._dice.randrange(*(SLOW_US if is_slow else USUAL_US))
        self._queue.after(delay_us, self._process, callback, *arguments)

    def threads(self, name: str, count: int = 1) -> SimulatedThreads:
        """See `Background`."""
        return SimulatedThreads(self, count)

    def run_parallel(self, jobs: Sequence[Callable[[], object]], threads: int) -> None:
        """See `Background`. The jobs run in a random order, up to the first that fails."""
        order = list(jobs)
        self._dice.shuffle(order)
        for job in order:
            job()

    def process(self, module: str) -> SimulatedProcess:
        """See `Background`."""
        return SimulatedProcess(self, cast("WorkerModule", import_module(module)))
