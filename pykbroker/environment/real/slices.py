"""Sliced jobs on a real event loop; see `environment/slices.py`.

A job runs in a thread of its own, in lock step with the event loop: the loop passes the baton to
the thread and waits; the thread passes it back when it breathes or ends. Only one of the two runs
at any time, so a job may access whatever the loop may. Threads serve to suspend a plain function in
the middle of its calls; nothing but the work of `apart` runs in parallel.

State   the jobs that wait for their next slice, in order (one slice of SLICE_NS per turn of the
        loop); jobs whose work runs apart, beside the loop; idle threads, for further jobs.
Invariants: at most MOST_THREADS jobs have begun; others wait for their first slice.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable

from pykbroker.deferred import Deferred
from pykbroker.environment.loop_time import MS, RECORDED_NS
from pykbroker.environment.real.timed_calls import TimedCalls
from pykbroker.environment.slices import go_on

SLICE_NS = 5 * MS
MOST_THREADS = 16


class Abandoned(BaseException):
    """Raised in a job at `breathe` or `apart` to end it there. It is not an Exception, so that
    error handlers do not swallow it.
    """


class _Job:
    """A job, and the Deferred of its outcome; `thread` is None before its first slice."""

    __slots__ = (
        "after_slice",
        "deferred",
        "function",
        "is_apart",
        "is_held",
        "is_wanted",
        "name",
        "outcome",
        "thread",
    )

    def __init__(
        self,
        name: str,
        function: Callable[[], object],
        is_wanted: Callable[[], bool],
        after_slice: Callable[[], None],
    ) -> None:
        self.name = name
        self.function = function
        self.is_wanted = is_wanted
        self.is_apart = False
        self.is_held = False
        self.after_slice = after_slice
        self.deferred = Deferred()
        self.outcome: object = None
        self.thread: _JobThread | None = None


class _JobThread:
    """A thread that runs one job after another, while it holds the baton."""

    __slots__ = ("_from_loop", "_is_abandoned", "_thread", "_to_loop", "job")

    def __init__(self, to_loop: threading.Semaphore) -> None:
        self._from_loop = threading.Semaphore(0)
        self._to_loop = to_loop
        self._is_abandoned = False
        self.job: _Job | None = None
        self._thread = threading.Thread(target=self._run, name="slices", daemon=True)
        self._thread.start()

    def go_on(self) -> None:
        """Let the thread run until it breathes or its job ends. Called on the loop."""
        self._from_loop.release()
        self._to_loop.acquire()

    def pause(self, meanwhile: Callable[[], object] | None = None) -> None:
        """Let the loop run until it calls `go_on`, and call `meanwhile` beside it. Called in the
        thread.
        """
        self._to_loop.release()
        try:
            if meanwhile is not None:
                meanwhile()
        finally:
            self._from_loop.acquire()
            if self._is_abandoned:
                raise Abandoned

    def end(self) -> None:
        """End the thread, after unwinding its job. Called on the loop."""
        self._is_abandoned = True
        self.go_on()
        self._thread.join()

    def _run(self) -> None:
        self._from_loop.acquire()
        while not self._is_abandoned:
            job = self.job
            assert job is not None
            try:
                job.outcome = job.function()
            except Abandoned:
                break
            except BaseException as failure:
                job.outcome = failure
            self.job = None
            self._to_loop.release()
            self._from_loop.acquire()
        self._to_loop.release()


class RealSlices:
    """The sliced jobs of a real node."""

    __slots__ = (
        "_apart",
        "_idle",
        "_is_closed",
        "_loop",
        "_monotonic_ns",
        "_ready",
        "_running",
        "_slice_end_ns",
        "_thread_count",
        "_timed",
        "_to_loop",
        "_turn_due",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        timed: TimedCalls,
        monotonic_ns: Callable[[], int],
    ) -> None:
        self._loop = loop
        self._timed = timed
        self._monotonic_ns = monotonic_ns
        self._ready: deque[_Job] = deque()
        self._apart: list[_Job] = []
        self._running: _JobThread | None = None
        self._slice_end_ns = 0
        self._to_loop = threading.Semaphore(0)
        self._idle: list[_JobThread] = []
        self._thread_count = 0
        self._turn_due = False
        self._is_closed = False

    def run(
        self,
        name: str,
        job: Callable[[], object],
        is_wanted: Callable[[], bool] = lambda: True,
        after_slice: Callable[[], None] = go_on,
    ) -> Deferred:
        """See `Slices`."""
        waiting = _Job(name, job, is_wanted, after_slice)
        self._ready.append(waiting)
        self._call_turn()
        return waiting.deferred

    @property
    def is_running(self) -> bool:
        """See `Slices`."""
        return self._running is not None

    def hold(self, is_held: bool) -> None:
        """See `Slices`."""
        thread = self._running
        if thread is not None and thread.job is not None:
            thread.job.is_held = is_held

    def breathe(self) -> None:
        """See `Slices`."""
        thread = self._running
        if thread is not None and self._monotonic_ns() >= self._slice_end_ns:
            thread.pause()

    def apart(self, work: Callable[[], object]) -> None:
        """See `Slices`."""
        thread = self._running
        if thread is None or thread.job is None:
            work()
            return
        job = thread.job

        def work_and_return() -> None:
            try:
                work()
            finally:
                self._loop.call_soon_threadsafe(self._has_returned, job)

        job.is_apart = True
        thread.pause(work_and_return)

    def _has_returned(self, job: _Job) -> None:
        """Let a job whose work beside the loop has ended wait for its next slice."""
        if not self._is_closed:
            self._apart.remove(job)
            self._ready.append(job)
            self._call_turn()

    def close(self) -> None:
        """See `Slices`."""
        self._is_closed = True
        for job in (*self._ready, *self._apart):
            if job.thread is not None:
                job.thread.end()
        self._ready.clear()
        self._apart.clear()
        for thread in self._idle:
            thread.end()
        self._idle.clear()

    def _call_turn(self) -> None:
        if not self._turn_due and not self._is_closed:
            self._turn_due = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        """Run one slice of the next job."""
        self._turn_due = False
        job = self._next_job()
        if job is None:
            return
        thread = job.thread
        assert thread is not None
        started_ns = self._monotonic_ns()
        self._slice_end_ns = started_ns + SLICE_NS
        self._running = thread
        thread.go_on()
        self._running = None
        is_apart, job.is_apart = job.is_apart, False
        ended_ns = self._monotonic_ns()
        if ended_ns - started_ns >= RECORDED_NS:
            self._timed.loop_time.record(job.name, started_ns, ended_ns)
        if thread.job is not None:
            (self._apart if is_apart else self._ready).append(job)
            job.after_slice()
        else:
            self._idle.append(thread)
            self._timed.resolve(job.deferred, job.outcome)
        if self._ready:
            self._call_turn()

    def _next_job(self) -> _Job | None:
        """Return the first job that can run; jobs that are no longer wanted are dropped."""
        for _ in range(len(self._ready)):
            job = self._ready.popleft()
            if not (job.is_held or job.is_wanted()):
                if job.thread is not None:
                    job.thread.end()
                    self._thread_count -= 1
            elif job.thread is not None or self._begin(job):
                return job
            else:
                self._ready.append(job)
        return None

    def _begin(self, job: _Job) -> bool:
        """Assign a thread to a job; return False if the limit is reached."""
        if self._idle:
            job.thread = self._idle.pop()
        elif self._thread_count < MOST_THREADS:
            job.thread = _JobThread(self._to_loop)
            self._thread_count += 1
        else:
            return False
        job.thread.job = job
        return True
