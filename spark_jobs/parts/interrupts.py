"""Ctrl-C: one line, exit code 130; tables that were being written are taken back.

PySpark's own handler asks the JVM to cancel in the middle of another call to it, which prints many
stack traces. Ours cancels from a thread, which has a connection of its own; a call to the JVM that
is in progress then returns, and the job cleans up. A second Ctrl-C, or some seconds without an end,
end the process at once, without that.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Any, Final

EXIT_CODE: Final = 130
CANCELLER: Final = "canceller"
_MOST_SECONDS: Final = 15.0
_EVERY_SECONDS: Final = 0.2


class Interrupts:
    """A context manager that listens for SIGINT. State: whether it came, what is to be cancelled.

    Only the main thread gets signals: elsewhere nothing is changed.
    """

    def __init__(self, name: str) -> None:
        self.came = False
        self._name = name
        self._context: Any = None
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def follow(self, context: Any) -> None:
        """Let Ctrl-C cancel the jobs of this SparkContext as well."""
        self._context = context

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.came:
            _end_at_once(EXIT_CODE)
        self.came = True
        with suppress(OSError):  # not by sys.stderr, which may be in the middle of a line
            os.write(2, f"\n{self._name}: interrupted\n".encode())
        threading.Thread(target=self._cancel, name=CANCELLER, daemon=True).start()
        if self._context is None or not _is_calling_the_jvm(frame):
            raise KeyboardInterrupt

    def _cancel(self) -> None:
        until = time.monotonic() + _MOST_SECONDS
        while time.monotonic() < until:
            if self._context is not None:
                with suppress(Exception):  # it is stopped, or not yet whole
                    self._context.cancelAllJobs()
            time.sleep(_EVERY_SECONDS)
        _end_at_once(EXIT_CODE)


def _is_calling_the_jvm(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("py4j."):
            return True
        frame = frame.f_back
    return False


def _end_at_once(code: int) -> None:
    os._exit(code)
