"""Threads and worker processes of a real node.

`concurrent.futures` and `subprocess` are imported with the first job, because a node does not need
them to start.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from pykbroker.deferred import Deferred
from pykbroker.environment.loop_time import LoopTime
from pykbroker.environment.real.timed_calls import TimedCalls

if TYPE_CHECKING:
    import subprocess
    from concurrent.futures import ThreadPoolExecutor

_WORKER: Final = "pykbroker.environment.real.worker_process"


class RealThreads:
    """Threads of this process; see `environment/background.py`."""

    __slots__ = ("_count", "_is_closed", "_loop", "_name", "_pool", "_timed")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, timed: TimedCalls, name: str, count: int
    ) -> None:
        self._loop = loop
        self._timed = timed
        self._name = name
        self._count = count
        self._pool: ThreadPoolExecutor | None = None
        self._is_closed = False

    def run(self, job: Callable[[], object]) -> Deferred:
        """See `Threads`."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(self._count, self._name)
        deferred = Deferred()
        self._pool.submit(self._run, job, deferred)
        return deferred

    def _run(self, job: Callable[[], object], deferred: Deferred) -> None:
        """Run one job, in a thread."""
        outcome: object
        try:
            outcome = job()
        except BaseException as failure:
            outcome = failure
        if not self._is_closed:
            self._loop.call_soon_threadsafe(self._deliver, deferred, outcome)

    def _deliver(self, deferred: Deferred, outcome: object) -> None:
        if not self._is_closed:
            self._timed.resolve(deferred, outcome)

    def close(self) -> None:
        """See `Threads`."""
        self._is_closed = True
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


class RealProcess:
    """A worker process, and the thread that starts it and waits for its pipes."""

    __slots__ = ("_module", "_process", "_thread")

    def __init__(self, loop: asyncio.AbstractEventLoop, timed: TimedCalls, module: str) -> None:
        self._thread = RealThreads(loop, timed, "worker", 1)
        self._module = module
        self._process: subprocess.Popen[str] | None = None

    def send_line(self, line: str) -> Deferred:
        """See `WorkerProcess`."""
        return self._thread.run(lambda: self._write(line))

    def _write(self, line: str) -> None:
        process = self._process
        if process is None:
            process = self._process = self._start()
        assert process.stdin is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()

    def _start(self) -> subprocess.Popen[str]:
        import subprocess

        return subprocess.Popen(
            [sys.executable, "-m", _WORKER, self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # only the node handles the terminal's Ctrl-C
        )

    def receive_line(self) -> Deferred:
        """See `WorkerProcess`."""
        return self._thread.run(self._read)

    def _read(self) -> str | None:
        if self._process is None:
            return None
        stdout = self._process.stdout
        assert stdout is not None
        line = stdout.readline()
        return line.rstrip("\n") if line else None

    @property
    def pid(self) -> int | None:
        """The process id; None before the first order."""
        return None if self._process is None else self._process.pid

    def end(self) -> None:
        """See `WorkerProcess`."""
        if self._process is None:
            self._thread.close()  # it may be starting the process at this moment
        process = self._process
        if process is None:
            return
        process.terminate()
        process.wait()
        self._thread.close()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


class RealBackground:
    """Threads and processes of a real node; see `environment/background.py`."""

    __slots__ = ("_loop", "_timed", "processors")

    def __init__(self, loop: asyncio.AbstractEventLoop, timed: TimedCalls | None = None) -> None:
        self._loop = loop
        self._timed = timed or TimedCalls(LoopTime())
        self.processors = os.cpu_count() or 1

    def threads(self, name: str, count: int = 1) -> RealThreads:
        """See `Background`."""
        return RealThreads(self._loop, self._timed, name, count)

    def run_parallel(self, jobs: Sequence[Callable[[], object]], threads: int) -> None:
        """See `Background`."""
        if not jobs:
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(min(len(jobs), threads)) as pool:
            for running in [pool.submit(job) for job in jobs]:
                running.result()

    def process(self, module: str) -> RealProcess:
        """See `Background`."""
        return RealProcess(self._loop, self._timed, module)
