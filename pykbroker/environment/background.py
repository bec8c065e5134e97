"""Work that may block or take long: threads and worker processes outside the event loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pykbroker.deferred import Deferred


class Threads(Protocol):
    """A named group of threads that run jobs; with one thread the jobs run in order."""

    def run(self, job: Callable[[], object]) -> Deferred:
        """Run `job` in a thread, where it may block.

        The Deferred is resolved on the event loop with the job's return value or exception. After
        `close` it is never resolved.
        """

    def close(self) -> None:
        """Wait for the running jobs; drop the waiting ones. Nothing is resolved any more."""


class WorkerProcess(Protocol):
    """A process of the same Python that reads orders from its standard input, one per line."""

    def send_line(self, line: str) -> Deferred:
        """Send an order; the first one starts the process. The Deferred is resolved with None, or
        with an OSError if the process has ended or cannot be started.
        """

    def receive_line(self) -> Deferred:
        """Return a Deferred of the next line of its standard output without the line end; of None
        if the process has ended or has received no order.
        """

    def end(self) -> None:
        """Terminate the process and wait for it. Pending Deferreds are not resolved any more."""


class Background(Protocol):
    """The threads and processes for a node's blocking work."""

    @property
    def processors(self) -> int:
        """The number of processors of the machine."""

    def threads(self, name: str, count: int = 1) -> Threads:
        """Return a group of up to `count` threads, which start with the first job."""

    def run_parallel(self, jobs: Sequence[Callable[[], object]], threads: int) -> None:
        """Run the jobs in up to `threads` threads and wait for them; re-raises the exception of one
        that failed, after which others may not have run.

        For closing the logs, when a node serves no clients.
        """

    def process(self, module: str) -> WorkerProcess:
        """Return a process that calls `serve(files, clock, lines, out)` of the module, with its
        input and output as `lines` and `out`.
        """
