"""Work that may block or take long: threads and worker processes outside of the event loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pykbroker.deferred import Deferred


class Threads(Protocol):
    """A named group of threads that run jobs; with one thread the jobs run in their order."""

    def run(self, job: Callable[[], object]) -> Deferred:
        """Run `job` where it may block.

        The Deferred is resolved on the event loop, with what the job returned or the exception that
        it raised. After `close` it is never resolved.
        """

    def close(self) -> None:
        """Wait for the jobs that run; jobs that wait do not run, and nothing is resolved."""


class WorkerProcess(Protocol):
    """A process of this Python that takes orders on its standard input, one line each."""

    def send_line(self, line: str) -> Deferred:
        """Send an order; the first one starts the process. Resolved with None, or with an OSError
        when the process has ended."""

    def receive_line(self) -> Deferred:
        """The next line of its standard output, without its end; None when the process ended."""

    def end(self) -> None:
        """Terminate the process and wait for it; what was asked is not resolved any more."""


class Background(Protocol):
    """Where blocking work of a node runs."""

    @property
    def processors(self) -> int:
        """How many processors there are to work on."""

    def threads(self, name: str, count: int = 1) -> Threads:
        """Up to `count` threads, started when the first job comes."""

    def run_parallel(self, jobs: Sequence[Callable[[], object]], threads: int) -> None:
        """Run all jobs in `threads` threads and wait for them; raises what the first one raised.

        For the phases in which a node serves nobody: loading and closing its logs.
        """

    def process(self, module: str) -> WorkerProcess:
        """A process that hands its input to `serve(files, lines, out)` of the module."""
