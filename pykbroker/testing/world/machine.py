"""A machine of a world: its disk, its clock, its place in the network, and one process at a time.

In: `boot` (the power is on, and a process starts), `end` (it ends: the kernel keeps all it
wrote), `power_off` (unsynced bytes may be lost, no peer is notified), `pause`.
Out: the Environment of the process.
"""

from __future__ import annotations

from pykbroker.environment import Environment
from pykbroker.testing.world.environment import simulated_environment
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.testing.world.network import Network
from pykbroker.testing.world.randomness import Dice
from pykbroker.testing.world.virtual_time import EventQueue, MachineClock, Process


class Machine:
    """A simulated machine."""

    def __init__(self, seed: int, queue: EventQueue, network: Network, address: str) -> None:
        self._seed = seed
        self._queue = queue
        self._network = network
        self.address = address
        self.host = network.add_host(address)
        self.clock = MachineClock(queue)
        self.files = MemoryFiles()
        self.dice = Dice(seed, f"machine {address}")
        self.files.dice = self.dice
        self.process: Process | None = None
        self.boots = 0

    def boot(self) -> Environment:
        """Power the machine on and start a process; it must run none."""
        assert self.process is None, "one process at a time"
        self._network.power_on(self.host)
        self.boots += 1
        self.process = Process(self.address)
        return simulated_environment(
            self._queue,
            self.process,
            Dice(self._seed, f"process {self.address} {self.boots}"),
            network=self._network,
            host=self.host,
            machine_clock=self.clock,
            files=self.files,
        )

    def end(self) -> None:
        """End the process, by itself or by a signal; what it wrote stays written."""
        process, self.process = self.process, None
        if process is not None:
            process.is_alive = False
            self._network.end_process(self.host, process)
        self.files = self.files.hand_over()

    def power_off(self, *, reorder: bool) -> None:
        """Stop the machine at once; what was not synced may be lost (see MemoryFiles)."""
        process, self.process = self.process, None
        if process is not None:
            process.is_alive = False
        self._network.power_off(self.host)
        self.files.crash(self.dice, reorder)
        self.files = self.files.hand_over()

    def pause(self, duration_us: int) -> None:
        """Stop the process for a while; its machine keeps running."""
        if self.process is not None:
            until_us = self._queue.now_us + duration_us
            self.process.paused_until_us = max(self.process.paused_until_us, until_us)
