"""The worker process of compaction: jobs come on standard input, one JSON object a line.

    in    {"job": {CompactionJob}, "bytes_per_second": 1e9}
    out   {"group": {"old": [0, 100], "new": [0]}}     as each is finished
          {"done": {"end_offset": 200, "keys": 17, ...}}
          {"failed": "gone" | "corrupt" | "io", "message": "..."}

State   none between jobs. It ends at the end of its input, when it is terminated, and when its
        parent is gone (a node that starts anew must have the directory for itself); what it left
        in `.cleaned` files is thrown away by the parent, or by the next start.
Run     by environment/real/worker_process.py
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TextIO

from pykbroker.environment.files import Files
from pykbroker.log.compaction.round import (
    CompactionJob,
    CompactionResult,
    Group,
    UncleanableBatch,
    compact,
)

#: Serving comes before cleaning where both want the same core. No more than nice: a process of the
#: idle class that is starved inside the file system (a rename, an open journal transaction) may
#: hold up every writer of the disk, the event loop too.
NICENESS = 10
#: A sleep shorter than this is put off: sleeping is not exact.
_SHORTEST_SLEEP_S = 0.01


class Throttle:
    """Keeps the bytes of a job below a rate (log.cleaner.io.max.bytes.per.second)."""

    def __init__(
        self,
        bytes_per_second: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._rate = bytes_per_second
        self._clock = clock
        self._sleep = sleep
        self._started = clock()
        self._bytes = 0

    def spent(self, count: int) -> None:
        self._bytes += count
        ahead = self._bytes / self._rate - (self._clock() - self._started)
        if ahead > _SHORTEST_SLEEP_S:
            self._sleep(ahead)
        elif ahead < -1:  # what was not used long ago may not be caught up with
            self._started = self._clock()
            self._bytes = 0


def run_job(
    files: Files,
    job: CompactionJob,
    throttle: Throttle,
    emit: Callable[[dict[str, Any]], None],
    is_wanted: Callable[[], bool] = lambda: True,
) -> None:
    """Run one job to its end, whatever that is."""
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
    except Exception as fault:  # a bug of ours must mark the partition, not end in silence
        emit({"failed": "corrupt", "message": f"{type(fault).__name__}: {fault}"})
    else:
        emit({"done": asdict(result)})


def serve(files: Files, lines: TextIO, out: TextIO) -> None:
    """Do the jobs of `lines` until they end."""

    def emit(message: dict[str, Any]) -> None:
        try:
            out.write(json.dumps(message) + "\n")
            out.flush()
        except BrokenPipeError:  # the node is gone: its next start throws the work away
            os._exit(0)

    parent = os.getppid()
    for line in lines:
        order = json.loads(line)
        job = CompactionJob.from_json(order["job"])
        throttle = Throttle(order["bytes_per_second"])
        run_job(files, job, throttle, emit, lambda: os.getppid() == parent)
