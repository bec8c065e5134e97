"""One worker process of compaction as the node sees it: orders go in, messages come out.

State   the process (started at the first order, ended when it idles) and the one thread that waits
        for it.
In      CompactionJob. Out: the messages of cleaner_process_driver.py, None when the process ended.
Invariant: the event loop never waits for a pipe or a disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from pykbroker.log.compaction import CompactionJob

ResultT = TypeVar("ResultT")


class CompactionWorker:
    """Does one job at a time; `end_process`, then `close` when nobody awaits it any more."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cleaner")
        self.process: subprocess.Popen[str] | None = None

    async def in_thread(self, call: Callable[..., ResultT], *arguments: object) -> ResultT:
        """Something that may wait for a disk."""
        return await self._loop.run_in_executor(self._thread, call, *arguments)

    async def send(self, job: CompactionJob, bytes_per_second: float) -> None:
        line = json.dumps({"job": job.to_json(), "bytes_per_second": bytes_per_second})
        await self.in_thread(self._write_line, line + "\n")

    def _write_line(self, line: str) -> None:
        process = self.process
        if process is not None and process.poll() is not None:  # it was killed
            _close_pipes(process)
            process = None
        if process is None:
            process = self.process = subprocess.Popen(
                [sys.executable, "-m", "pykbroker.log.cleaner_process_driver"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,  # the terminal's Ctrl-C is for the node alone
            )
        assert process.stdin is not None
        process.stdin.write(line)
        process.stdin.flush()

    async def receive(self) -> dict[str, Any] | None:
        process = self.process
        if process is None or process.stdout is None:
            return None
        line = await self.in_thread(process.stdout.readline)
        return json.loads(line) if line else None

    def end_process(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.terminate()
            process.wait()
            self._thread.submit(_close_pipes, process)  # behind a readline that is on

    def close(self) -> None:
        self.end_process()
        self._thread.shutdown(wait=True)


def _close_pipes(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
