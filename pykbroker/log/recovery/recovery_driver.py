"""Recovers logs with much unflushed data in worker processes, before a node serves clients.

The biggest logs are recovered first. A worker that dies is not replaced. Logs that were not
recovered are left out of the result: the caller recovers them itself.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence

from pykbroker.deferred import Cancelled, spawn
from pykbroker.environment import Environment
from pykbroker.log.recovery.opening import RecoveryTask

PROCESS_MODULE = "pykbroker.log.recovery.recovery_process"

_log = logging.getLogger(__name__)


class RecoveryPool:
    """One run of recover_many: the waiting tasks, and the recovered logs."""

    def __init__(self, tasks: Sequence[RecoveryTask]) -> None:
        self._waiting = sorted(tasks, key=lambda task: task.size_bytes)
        self._count = len(tasks)
        self._done_bytes = 0
        self._total_bytes = sum(task.size_bytes for task in tasks)
        self.recovered: dict[str, int] = {}

    def take(self) -> RecoveryTask | None:
        """Take the largest of the waiting tasks."""
        return self._waiting.pop() if self._waiting else None

    def finished(self, task: RecoveryTask, answer: Mapping[str, object]) -> None:
        """Handle the answer of a worker."""
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

    async def feed_worker(self, environment: Environment) -> None:
        """Drive one worker process until no task is left or it dies."""
        process = environment.background.process(PROCESS_MODULE)
        try:
            while (task := self.take()) is not None:
                try:
                    await process.send_line(json.dumps(task))
                    line = await process.receive_line()
                except OSError:
                    line = None
                answer = {"failed": "the worker died"} if line is None else json.loads(line)
                self.finished(task, answer)
                if line is None:
                    break
        finally:
            process.end()


async def recover_many(
    environment: Environment, tasks: Sequence[RecoveryTask], workers: int
) -> Mapping[str, int]:
    """Recover logs in parallel, in up to `workers` processes; return {directory: end offset} of
    those that were recovered.
    """
    pool = RecoveryPool(tasks)
    started_ns = environment.clock.monotonic_ns()
    count = min(workers, len(tasks), environment.background.processors)
    feeding = [spawn(pool.feed_worker(environment)) for _ in range(count)]
    try:
        for each in feeding:
            await each
    except Cancelled:
        for each in feeding:
            each.cancel()
        raise
    seconds = (environment.clock.monotonic_ns() - started_ns) / 1e9
    _log.info("Recovered %d logs in %.1f s", len(pool.recovered), seconds)
    return pool.recovered
