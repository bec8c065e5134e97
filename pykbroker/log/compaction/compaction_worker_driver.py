"""One worker process of compaction as seen by the node: it takes orders and returns messages.

State   the process (started with the first order, ended when idle) and the one thread that waits
        for disks on behalf of this cleaner. The event loop waits for them only to end them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pykbroker.deferred import Deferred
from pykbroker.environment.background import Background, WorkerProcess

if TYPE_CHECKING:
    from pykbroker.log.compaction.round import CompactionJob

PROCESS_MODULE = "pykbroker.log.compaction.cleaner_process"


class CompactionWorker:
    """A worker that does one job at a time; call `close` when nothing awaits it any more."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._thread = background.threads("cleaner")
        self.process: WorkerProcess | None = None

    def in_thread(self, job: Callable[[], object]) -> Deferred:
        """Run a function that may wait for a disk."""
        return self._thread.run(job)

    async def send(self, job: CompactionJob, bytes_per_second: float) -> None:
        """Order a job; starts a new process if the last one has ended. OSError if that fails."""
        line = json.dumps({"job": job.to_json(), "bytes_per_second": bytes_per_second})
        if self.process is not None:
            try:
                await self.process.send_line(line)
            except OSError:  # it was killed
                self.end_process()
            else:
                return
        self.process = self._background.process(PROCESS_MODULE)
        await self.process.send_line(line)

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message of the process; None if it has ended."""
        if self.process is None:
            return None
        line = await self.process.receive_line()
        if line is None:
            self.end_process()
            return None
        message: dict[str, Any] = json.loads(line)
        return message

    def end_process(self) -> None:
        """End the process and wait for that; its current work is lost."""
        process, self.process = self.process, None
        if process is not None:
            process.end()

    def close(self) -> None:
        """End the process and the thread, and wait for both."""
        self.end_process()
        self._thread.close()
