"""A world: machines, a network, nodes, clients and faults under one seed, one event at a time.

A scenario adds nodes, clients and rules, and calls `run_for` and `run_until`. These raise
`Violation` when a rule does not hold or a client saw an invalid result, and any other exception
that reaches the event loop as it is (a `SimulatedCrash` of a process ends its node instead). What
happens depends only on the seed and the scenario: two runs have the same `timeline.digest`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from pykbroker.testing.world.machine import Machine
from pykbroker.testing.world.memory_files import SimulatedCrash
from pykbroker.testing.world.network import Network
from pykbroker.testing.world.randomness import Dice
from pykbroker.testing.world.timeline import Timeline, TimelineHandler
from pykbroker.testing.world.virtual_time import EventQueue, Process


class Violation(AssertionError):
    """Something happened that must never happen; the text describes it."""


class Invariant(Protocol):
    """A rule that holds after every event."""

    def check(self, world: World) -> None:
        """Raise Violation if it does not hold now."""


class Runner(Protocol):
    """Something that runs as a process, and has rules of its own."""

    def check_rules(self) -> None:
        """Raise Violation if one of its rules does not hold after an event of its process."""


class World:
    """A simulated world under one seed.

    The rules of nodes are checked after the events of a node's own process only
    (`Node.check_rules`), `invariants` after every event.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.queue = EventQueue()
        self.timeline = Timeline(self.queue)
        self.network = Network(self.queue, Dice(seed, "network"))
        self.network.on_segment = self.timeline.bytes_arrived
        self.machines: dict[str, Machine] = {}
        self.invariants: list[Invariant] = []
        self.on_crash_point: Callable[[Process], None] | None = None
        """Called when a process has met the crash that a fault put into its disk."""
        self.calm_since_us: int | None = None
        """When the last fault was over, or will be; None: not known yet."""
        self.serving: set[str] = set()
        """The hosts of the nodes that serve."""
        self.running: dict[Process | None, Runner] = {}
        """The nodes that run, by their processes."""
        self._failure: BaseException | None = None

    def dice(self, purpose: str) -> Dice:
        """Return a stream of random numbers for one purpose."""
        return Dice(self.seed, purpose)

    def add_machine(self, address: str) -> Machine:
        """Add a machine to the network."""
        machine = Machine(self.seed, self.queue, self.network, address)
        self.machines[address] = machine
        return machine

    def fail(self, failure: BaseException) -> None:
        """Stop the world after this event, with `failure` or the first one that was reported."""
        if self._failure is None:
            self._failure = failure

    def is_calm(self, for_us: int = 0) -> bool:
        """Return whether the faults have been over for this long."""
        return self.calm_since_us is not None and self.now_us - self.calm_since_us >= for_us

    # ---------------------------------------------------------------- running

    @property
    def now_us(self) -> int:
        """The time of the world."""
        return self.queue.now_us

    def after(self, delay_us: int, callback: Callable[..., object], *arguments: object) -> None:
        """Schedule a call of the world itself."""
        self.queue.after(delay_us, None, callback, *arguments)

    def step(self) -> bool:
        """Run one event, and check the invariants after it; return False if no event is left."""
        try:
            if not self.queue.step():
                return False
        except SimulatedCrash:
            process = self.queue.current
            if process is None or self.on_crash_point is None:
                raise
            self.on_crash_point(process)
        if self._failure is not None:
            raise self._failure
        for invariant in self.invariants:
            invariant.check(self)
        runner = self.running.get(self.queue.current)
        if runner is not None:
            runner.check_rules()
        return True

    def run_for(self, duration_us: int) -> None:
        """Run for `duration_us`."""
        end_us = self.queue.now_us + duration_us
        self.run_until(lambda: False, end_us)

    def run_until(self, condition: Callable[[], bool], end_us: int) -> bool:
        """Run until `condition` holds, or no event is due by `end_us`; return whether it holds."""
        while True:
            if condition():
                return True
            due_us = self.queue.next_due_us()
            if due_us is None or due_us > end_us:
                self.queue.now_us = max(self.queue.now_us, end_us)
                return condition()
            if not self.step():
                return condition()

    # ---------------------------------------------------------------- logs

    @contextmanager
    def logs_captured(self, level: int = logging.WARNING) -> Iterator[None]:
        """Redirect the log lines of nodes to the timeline only."""
        logger = logging.getLogger("pykbroker")
        before = logger.level, logger.propagate, logger.handlers[:]
        logger.handlers[:] = [TimelineHandler(self.timeline, self.queue, level)]
        logger.setLevel(level)
        logger.propagate = False
        try:
            yield
        finally:
            logger.level, logger.propagate, logger.handlers[:] = before
            logger.setLevel(before[0])
