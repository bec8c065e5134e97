"""The Environment of one simulated process: the parts of a world that it sees."""

from __future__ import annotations

from pykbroker.environment import Environment
from pykbroker.environment.files import Files
from pykbroker.testing.world.background import SimulatedBackground
from pykbroker.testing.world.network import Network
from pykbroker.testing.world.randomness import Dice, SeededSource
from pykbroker.testing.world.sockets import NetworkHost
from pykbroker.testing.world.transport import SimulatedTransport
from pykbroker.testing.world.virtual_time import (
    EventQueue,
    MachineClock,
    Process,
    VirtualClock,
    VirtualScheduler,
)


def simulated_environment(
    queue: EventQueue,
    process: Process,
    dice: Dice,
    *,
    network: Network,
    host: NetworkHost,
    machine_clock: MachineClock,
    files: Files,
) -> Environment:
    """Return the environment of a process that starts now."""
    clock = VirtualClock(machine_clock)
    return Environment(
        files=files,
        clock=clock,
        random=SeededSource(dice),
        scheduler=VirtualScheduler(queue, process, clock),
        background=SimulatedBackground(queue, process, dice, files),
        transport=SimulatedTransport(network, host, process),
    )
