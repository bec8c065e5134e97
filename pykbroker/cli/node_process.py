"""One node of `pykbroker cluster`: a `pykbroker start` process, and how it ended.

State: the process, its output and log. In: `launch`, `terminate`, `hasten`, `kill`. Out: `ready`,
`ended`, `ending`.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_TAIL_BYTES: Final = 8192


class NodeProcess:
    """A node in a process of its own, which on Linux is terminated when ours ends."""

    def __init__(
        self, node_id: int, config: str, log: str, *, is_voter: bool, arguments: Sequence[str] = ()
    ) -> None:
        self.id: Final = node_id
        self.is_voter: Final = is_voter
        self.log: Final = log
        self._config: Final = config
        self._arguments = arguments
        self._process: asyncio.subprocess.Process | None = None

    def command(self) -> list[str]:
        start = [sys.executable, "-m", "pykbroker", "start"]
        return [*start, "--config", self._config, *self._arguments]

    async def launch(self, environment: Mapping[str, str]) -> None:
        """Start the process in a session of its own: Ctrl-C at the terminal is for us."""
        with open(self.log, "ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self.command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=dict(environment),
                start_new_session=True,
                preexec_fn=_end_with_parent(),
            )

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def ready(self) -> bool:
        """Return whether the node serves; False if it ended before."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        return line.startswith(b"ready ")

    async def ended(self) -> int:
        """Return the exit code, below 0 for a signal, once the process is gone."""
        assert self._process is not None
        return await self._process.wait()

    def terminate(self) -> None:
        """Stop the node cleanly."""
        self._send(signal.SIGTERM)

    def hasten(self) -> None:
        """Stop it without waiting for a controller: by two signals of different kinds, so that the
        second does not merge with the first.
        """
        self._send(signal.SIGTERM)
        self._send(signal.SIGINT)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        # Not by Process.send_signal: it reaps a process that has just ended, and asyncio, which
        # then finds nothing to wait for, reports exit code 255.
        if self._process is not None and self.is_running:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, number)

    def ending(self) -> str:
        """Return how it ended, in words: the signal, or the exit code and, unless that is 0, the
        last line of its log.
        """
        assert self._process is not None
        code = self._process.returncode or 0
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        if code == 0:
            return "ended with exit code 0"
        return f"ended with exit code {code}: {last_line(self.log)}"


def last_line(path: str) -> str:
    """Return the last line of a log that is not empty, or a reference to the log if there is none
    in its last 8 KiB.
    """
    with open(path, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _TAIL_BYTES))
        lines = stream.read().decode("utf-8", "replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), f"see {path}")


def _end_with_parent() -> Callable[[], None] | None:
    """Return what the child has to call, so that it is terminated if we are killed (kill -9); None
    where that is impossible.
    """
    try:
        prctl = ctypes.CDLL(None).prctl
    except (AttributeError, OSError):
        return None  # not Linux: the nodes would keep running
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
