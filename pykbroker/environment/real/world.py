"""The environment of a real node."""

from __future__ import annotations

import asyncio

from pykbroker.environment import Environment
from pykbroker.environment.real.background import RealBackground
from pykbroker.environment.real.clock import RealClock
from pykbroker.environment.real.files import RealFiles
from pykbroker.environment.real.randomness import Entropy
from pykbroker.environment.real.scheduler import LoopScheduler
from pykbroker.environment.real.transport import RealTransport


def real_environment(loop: asyncio.AbstractEventLoop) -> Environment:
    """The operating system, on `loop`."""
    background = RealBackground(loop)
    return Environment(
        files=RealFiles(),
        clock=RealClock(),
        random=Entropy(),
        scheduler=LoopScheduler(loop),
        background=background,
        transport=RealTransport(loop, background.threads("names")),
    )
