"""A process beside the node: provides real files to a module that serves lines of JSON.

Run     python -m pykbroker.environment.real.worker_process MODULE    (background.py starts it)

MODULE defines `serve(files, clock, lines, out)`, which returns at the end of its input, and
optionally NICENESS.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from importlib import import_module

from pykbroker.environment.real.files import RealFiles


class RealWorkerClock:
    """The time of this process."""

    __slots__ = ()

    def monotonic_s(self) -> float:
        """See `WorkerClock`."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """See `WorkerClock`."""
        time.sleep(seconds)


def main(module_name: str) -> None:
    """Serve standard input until its end."""
    logging.basicConfig(level=logging.WARNING, format="[%(asctime)s] %(levelname)s %(message)s")
    module = import_module(module_name)
    niceness = getattr(module, "NICENESS", 0)
    if niceness:
        os.nice(niceness)
    module.serve(RealFiles(), RealWorkerClock(), sys.stdin, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
