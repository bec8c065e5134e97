"""The worker process of compaction: reads jobs from standard input, one JSON object per line.

    in    {"job": {CompactionJob}, "bytes_per_second": 1e9}
    out   {"group": {"old": [0, 100], "new": [0]}}     when each is finished
          {"done": {"end_offset": 200, "keys": 17, ...}}
          {"failed": "gone" | "corrupt" | "io", "message": "..."}     "io" also with its "errno";
                                                     "corrupt" also after an internal error

State   none between jobs. The process ends at the end of its input, when it is terminated, and, at
        the next batch, when its parent is gone (a restarted node must have the directory to
        itself). Left-over `.cleaned` files are deleted by the parent or at the next start.
Run     by environment/real/worker_process.py
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TextIO

from pykbroker.environment.clock import WorkerClock
from pykbroker.environment.files import Files
from pykbroker.log.compaction.round import (
    CompactionJob,
    CompactionResult,
    Group,
    UncleanableBatch,
    compact,
)

#: Serving clients has priority over cleaning on the same core. The niceness is not higher: a
#: process of the idle class that is starved inside the file system (during a rename, or with an
#: open journal transaction) may hold up every writer of the disk, including the event loop.
NICENESS = 10
#: A sleep shorter than this is postponed, because sleeping is not exact.
_SHORTEST_SLEEP_S = 0.01


class Throttle:
    """Limits the byte rate of a job (log.cleaner.io.max.bytes.per.second)."""

    def __init__(self, bytes_per_second: float, clock: WorkerClock) -> None:
        self._rate = bytes_per_second
        self._clock = clock
        self._started = clock.monotonic_s()
        self._bytes = 0

    def spent(self, count: int) -> None:
        self._bytes += count
        ahead = self._bytes / self._rate - (self._clock.monotonic_s() - self._started)
        if ahead > _SHORTEST_SLEEP_S:
            self._clock.sleep(ahead)
        elif ahead < -1:  # unused bandwidth of long ago may not be caught up with
            self._started = self._clock.monotonic_s()
            self._bytes = 0


def run_job(
    files: Files,
    job: CompactionJob,
    throttle: Throttle,
    emit: Callable[[dict[str, Any]], None],
    is_wanted: Callable[[], bool] = lambda: True,
) -> None:
    """Run one job and report its outcome; end it, without a report, when it is not wanted."""
    result = CompactionResult()
    try:
        for step in compact(files, job, result):
            if not is_wanted():
                return
            if isinstance(step, Group):
                emit({"group": asdict(step)})
            else:
                throttle.spent(step)
    except FileNotFoundError as fault:
        emit({"failed": "gone", "message": str(fault)})
    except OSError as fault:
        emit({"failed": "io", "message": str(fault), "errno": fault.errno})
    except UncleanableBatch as fault:
        emit({"failed": "corrupt", "message": str(fault)})
    except Exception as fault:  # an internal error must mark the partition, not end silently
        emit({"failed": "corrupt", "message": f"{type(fault).__name__}: {fault}"})
    else:
        emit({"done": asdict(result)})


def serve(files: Files, clock: WorkerClock, lines: TextIO, out: TextIO) -> None:
    """Run the jobs of `lines` until the end of input."""

    def emit(message: dict[str, Any]) -> None:
        try:
            out.write(json.dumps(message) + "\n")
            out.flush()
        except BrokenPipeError:  # the node is gone: its next start deletes the output
            os._exit(0)

    parent = os.getppid()
    for line in lines:
        order = json.loads(line)
        job = CompactionJob.from_json(order["job"])
        throttle = Throttle(order["bytes_per_second"], clock)
        run_job(files, job, throttle, emit, lambda: os.getppid() == parent)
