"""The environment of a real node."""

from __future__ import annotations

import asyncio

from pykbroker.environment import Environment
from pykbroker.environment.loop_time import LoopTime
from pykbroker.environment.real.background import RealBackground
from pykbroker.environment.real.clock import RealClock
from pykbroker.environment.real.files import RealFiles
from pykbroker.environment.real.randomness import Entropy
from pykbroker.environment.real.scheduler import LoopScheduler
from pykbroker.environment.real.slices import RealSlices
from pykbroker.environment.real.timed_calls import TimedCalls
from pykbroker.environment.real.transport import RealTransport


def real_environment(loop: asyncio.AbstractEventLoop) -> Environment:
    """Return the environment of the operating system, on `loop`."""
    clock = RealClock()
    loop_time = LoopTime()
    timed = TimedCalls(loop_time, clock.monotonic_ns)
    background = RealBackground(loop, timed)
    return Environment(
        files=RealFiles(),
        clock=clock,
        random=Entropy(),
        scheduler=LoopScheduler(loop, timed),
        background=background,
        transport=RealTransport(loop, background.threads("names")),
        loop_time=loop_time,
        slices=RealSlices(loop, timed, clock.monotonic_ns),
    )
