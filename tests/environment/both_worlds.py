"""The real and the simulated environment behind one way to run them: for contract tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.environment.real.world import real_environment
from pykbroker.testing.world.environment import simulated_environment
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.testing.world.network import Network
from pykbroker.testing.world.randomness import Dice
from pykbroker.testing.world.virtual_time import EventQueue, MachineClock, Process


class RealBench:
    """A real environment on an event loop that runs until a condition holds."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.environment = real_environment(self._loop)
        self.address = "127.0.0.1"

    def run_until(self, condition: Callable[[], bool]) -> None:
        async def main() -> None:
            deadline = self._loop.time() + 60
            while not condition():
                assert self._loop.time() < deadline, "the condition did not come to hold"
                await asyncio.sleep(0.001)

        self._loop.run_until_complete(main())

    def close(self) -> None:
        self._loop.close()


class SimulatedBench:
    """A process of a simulated world that is alone on its host."""

    def __init__(self, seed: int = 1) -> None:
        self.queue = EventQueue()
        dice = Dice(seed, "bench")
        self.network = Network(self.queue, dice)
        self.process = Process("bench")
        self.address = "bench"
        self.environment: Environment = simulated_environment(
            self.queue,
            self.process,
            dice,
            network=self.network,
            host=self.network.add_host(self.address),
            machine_clock=MachineClock(self.queue),
            files=MemoryFiles(),
        )

    def run_until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            assert self.queue.step(), "nothing happens any more, and the condition does not hold"

    def close(self) -> None:
        """Nothing to give back."""


Bench = RealBench | SimulatedBench


@contextmanager
def open_bench(kind: str) -> Iterator[Bench]:
    bench: Bench = RealBench() if kind == "real" else SimulatedBench()
    try:
        yield bench
    finally:
        bench.close()


def value_of(bench: Bench, deferred: Deferred) -> Any:
    """The value of a Deferred, once it is there."""
    bench.run_until(lambda: deferred.done)
    return deferred.value
