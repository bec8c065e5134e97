"""Worker processes that recover logs with much unflushed data after a crash.

    in    {RecoveryTask as a JSON array}                one a line, on the worker's standard input
    out   {"end_offset": 42} | {"failed": "message"}    one a line, on its standard output

State   none between tasks. A worker ends at the end of its input, so also when its parent is gone.
Run     python -m pykbroker.log.recovery_driver    (what the parent starts)
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TextIO

from pykbroker.environment.files import Files
from pykbroker.environment.real.files import RealFiles
from pykbroker.log.recovery import RecoveryTask, recover_and_close

_log = logging.getLogger(__name__)


class RecoveryPool:
    """One run of recover_many: tasks, biggest first, handed out to workers as they get free."""

    def __init__(self, tasks: Sequence[RecoveryTask]) -> None:
        self._waiting = sorted(tasks, key=lambda task: task.size_bytes)
        self._count = len(tasks)
        self._lock = threading.Lock()
        self._done_bytes = 0
        self._total_bytes = sum(task.size_bytes for task in tasks)
        self.recovered: dict[str, int] = {}

    def take(self) -> RecoveryTask | None:
        with self._lock:
            return self._waiting.pop() if self._waiting else None

    def finished(self, task: RecoveryTask, answer: Mapping[str, object]) -> None:
        with self._lock:
            self._done_bytes += task.size_bytes
            end_offset = answer.get("end_offset")
            if isinstance(end_offset, int):
                self.recovered[task.directory] = end_offset
                _log.info(
                    "Recovered %s up to offset %d (%d of %d logs, %d of %d MB)",
                    task.directory,
                    end_offset,
                    len(self.recovered),
                    self._count,
                    self._done_bytes >> 20,
                    self._total_bytes >> 20,
                )
            else:
                _log.error("Recovery of %s in a worker failed: %s", task.directory, answer)

    def feed_worker(self) -> None:
        """Drive one worker process until there is nothing left to do, or it died."""
        command = [sys.executable, "-m", "pykbroker.log.recovery_driver"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as worker:
            assert worker.stdin is not None
            assert worker.stdout is not None
            while (task := self.take()) is not None:
                try:
                    worker.stdin.write(json.dumps(task) + "\n")
                    worker.stdin.flush()
                    line = worker.stdout.readline()
                except BrokenPipeError:
                    line = ""
                self.finished(task, json.loads(line) if line else {"failed": "the worker died"})
                if not line:
                    break
            worker.stdin.close()


def recover_many(tasks: Sequence[RecoveryTask], workers: int) -> Mapping[str, int]:
    """Recover logs in parallel; directory -> end offset. Those that failed are left out: the
    caller recovers them itself, and meets the reason."""
    pool = RecoveryPool(tasks)
    started = time.monotonic()
    count = min(workers, len(tasks), os.cpu_count() or 1)
    threads = [threading.Thread(target=pool.feed_worker) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _log.info("Recovered %d logs in %.1f s", len(pool.recovered), time.monotonic() - started)
    return pool.recovered


def serve(files: Files, lines: TextIO, out: TextIO) -> None:
    """The worker: do the tasks of `lines` until they end."""
    for line in lines:
        try:
            answer: dict[str, object] = {
                "end_offset": recover_and_close(files, RecoveryTask(*json.loads(line)))
            }
        except Exception as fault:  # the parent tries again and meets it with all it knows
            answer = {"failed": f"{type(fault).__name__}: {fault}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="[%(asctime)s] %(levelname)s %(message)s")
    serve(RealFiles(), sys.stdin, sys.stdout)
