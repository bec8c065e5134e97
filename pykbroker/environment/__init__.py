"""The outside world of a node, as one injected object.

    files        the file system                         environment/files.py
    clock        time for deadlines and the wall clock   environment/clock.py
    random       random choices and identifiers          environment/randomness.py
    scheduler    later turns of the event loop, timers   environment/scheduler.py
    background   threads and worker processes            environment/background.py
    transport    sockets and their readiness             environment/transport.py
    loop_time    how long callbacks held the loop        environment/loop_time.py
    slices       long work that yields to the loop       environment/slices.py

There are two implementations: `environment/real/`, the operating system on an asyncio event loop,
and `testing/world/`, a simulated world in which one seed determines everything. A module that reads
a clock, draws a random number or opens a socket by itself escapes the simulation, which is a
defect.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pykbroker.environment.background import Background
from pykbroker.environment.clock import Clock
from pykbroker.environment.files import Files
from pykbroker.environment.loop_time import LoopTime
from pykbroker.environment.randomness import RandomSource
from pykbroker.environment.scheduler import Scheduler
from pykbroker.environment.slices import InOneGo, Slices
from pykbroker.environment.transport import Transport


@dataclass(slots=True, frozen=True)
class Environment:
    """The outside world of one node."""

    files: Files
    clock: Clock
    random: RandomSource
    scheduler: Scheduler
    background: Background
    transport: Transport
    loop_time: LoopTime = field(default_factory=LoopTime)
    slices: Slices = field(default_factory=InOneGo)
