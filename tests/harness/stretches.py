"""The longest stretch for which a node does not let its event loop turn, counted in steps.

A stretch is a callback of the node's event loop: among them each slice of a long request
(`environment/slices.py`), and here a slice ends after a few breaths. The length of a stretch is the
number of functions that are called and lines that are run in it: the same on every machine and in
every run, unlike a time. Work in threads is in no stretch.

The node is the real one, in a simulated world without faults; its client has one request in flight.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import FrameType
from typing import Any

import pytest

import pykbroker
from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.environment.real.slices import RealSlices
from pykbroker.errors import KafkaError
from pykbroker.network.client_pool import ClientPool, ClientSettings
from pykbroker.protocol.primitives import Message
from pykbroker.testing.world import machine
from pykbroker.testing.world.background import SimulatedThreads
from pykbroker.testing.world.environment import simulated_environment
from pykbroker.testing.world.node import Node, NodeState
from pykbroker.testing.world.one_node import PROPERTIES
from pykbroker.testing.world.world import World
from tests.harness.breathing import breathing_slices

PACKAGE = os.path.dirname(pykbroker.__file__) + os.sep
WORLD = os.path.join(PACKAGE, "testing") + os.sep

Trace = Callable[[FrameType, str, object], Any]

PATIENCE_S = 600
BREATHS = 4
"""That make a slice."""

# Background tasks would be the longest stretch of a short request.
QUIET = {
    "log.initial.task.delay.ms": "86400000",
    "log.retention.check.interval.ms": "86400000",
    "log.cleaner.enable": "false",
    "metadata.max.idle.interval.ms": "0",
    "broker.heartbeat.interval.ms": "600000",
    "broker.session.timeout.ms": "6000000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "86400000",
}


@cache
def is_of_node(path: str) -> bool:
    """Is this file's code the node's, and not that of its simulated world?"""
    return path.startswith(PACKAGE) and not path.startswith(WORLD)


class StepCounter:
    """Counts the steps of all threads while it is on: calls of the node's functions, and lines of
    their code that are run."""

    def __init__(self) -> None:
        self.steps = 0

    def _count_line(self, frame: FrameType, event: str, argument: object) -> Trace | None:
        if not is_of_node(frame.f_code.co_filename):
            return None
        self.steps += 1
        return self._count_line

    def steps_of(self, step: Callable[[], object]) -> int:
        """How many steps `step` takes, and the threads that begin while it runs."""
        self.steps = 0
        threading.settrace(self._count_line)
        sys.settrace(self._count_line)
        try:
            step()
        finally:
            sys.settrace(None)
            threading.settrace(None)
        return self.steps


class CountedNode:
    """See the module's text."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.longest = 0
        self._counter = StepCounter()
        self._is_thread = False
        self._world = World(1)
        self._make_environment = simulated_environment
        self._run_job = SimulatedThreads._run
        self._slices: list[RealSlices] = []
        monkeypatch.setattr(machine, "simulated_environment", self._environment)
        monkeypatch.setattr(
            SimulatedThreads, "_run", lambda *arguments: self._run_in_thread(*arguments)
        )
        self._node = Node(self._world, 1, {**PROPERTIES, **QUIET})
        self._node.start()
        client = self._world.add_machine("client").boot()
        self._clock = client.clock
        self._pool = ClientPool(client, ClientSettings("client"))
        self._run_until(lambda: self._node.state is NodeState.UP)

    def close(self) -> None:
        """End the threads of what is sliced."""
        for slices in self._slices:
            slices.close()

    def _environment(self, *arguments: Any, **named: Any) -> Environment:
        environment = self._make_environment(*arguments, **named)
        slices = breathing_slices(environment.scheduler, BREATHS)
        self._slices.append(slices)
        return replace(environment, slices=slices)

    def _run_in_thread(self, *arguments: Any) -> None:
        self._is_thread = True
        self._run_job(*arguments)

    def _run_until(self, condition: Callable[[], bool]) -> None:
        end_us = self._world.now_us + PATIENCE_S * 1_000_000
        while not condition():
            self._is_thread = False
            steps = self._counter.steps_of(self._world.step)
            process = self._world.queue.current
            if process is self._node.machine.process and not self._is_thread:
                self.longest = max(self.longest, steps)
            assert self._world.now_us < end_us

    def ask(self, message: Message, version: int | None = None) -> Any:
        """The response."""
        deadline_ms = self._clock.now_ms() + PATIENCE_S * 1000
        answer: Deferred = self._pool.send(
            self._node.peer, message, deadline_ms, max_version=version
        )
        self.longest = 0
        self._run_until(lambda: answer.done)
        if isinstance(answer.value, KafkaError):
            raise answer.value
        return answer.value

    def longest_of(self, message: Message, version: int | None = None) -> int:
        """The longest stretch while the node serves a request.

        The request is sent twice: what is done once, such as an import, does not count.
        """
        both = []
        for _ in range(2):
            self.ask(message, version)
            both.append(self.longest)
        return min(both)
