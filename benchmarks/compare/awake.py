"""Keeps the processors from sleeping while something is measured.

Between the messages of one slow client the processors are idle, and in a virtual machine it can
take longer to wake one than to serve the message. The busier server of a comparison then looks
faster, because its background threads keep the processors awake.

There is one process for each processor, of the class that runs when nothing else would.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_SPIN = """
import os
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
print("spinning", flush=True)
while os.getppid() == {parent}:
    for _ in range(100_000):
        pass
"""


@contextmanager
def processors_awake() -> Iterator[None]:
    """Keep all processors of this process busy with work of the lowest priority."""
    code = _SPIN.format(parent=os.getpid())
    spinners = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        for _ in os.sched_getaffinity(0)
    ]
    try:
        for spinner in spinners:
            assert spinner.stdout is not None
            spinner.stdout.readline()
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.communicate()
