"""Detects a closed standard output, for commands that wait between two lines.

check_reader      for a command that looks every now and then
reader_watched    for one that waits where it cannot look: a signal interrupts it
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_GONE: Final = select.POLLERR | select.POLLHUP | select.POLLNVAL


class _ReaderGone(BaseException):
    """Raised by the signal. It is not an Exception, so that no library swallows it."""


def check_reader() -> None:
    """Raise BrokenPipeError if the reader of standard output has closed it (`| head -1`).

    A write would detect that as well, but a command that waits for records has nothing to write.
    """
    number = _output()
    if number is not None and _is_gone(number):
        raise BrokenPipeError


@contextmanager
def reader_watched() -> Iterator[None]:
    """Raise BrokenPipeError in the block as soon as the reader of standard output closes it.

    A thread waits for that and sends SIGPIPE to the main thread, which interrupts any wait. Does
    nothing where standard output is no file of the operating system, or in other threads.
    """
    number = _output()
    main = threading.main_thread()
    if number is None or threading.current_thread() is not main:
        yield
        return

    def interrupt(_: int, frame: FrameType | None) -> None:
        if _is_gone(number):  # a socket may raise this signal as well
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            raise _ReaderGone

    def watch() -> None:
        poll = select.poll()
        poll.register(number, 0)
        poll.register(ended, select.POLLIN)
        if any(of == number for of, _ in poll.poll()):
            assert main.ident is not None
            signal.pthread_kill(main.ident, signal.SIGPIPE)

    ended, end = os.pipe()
    thread = threading.Thread(target=watch, daemon=True)
    before = signal.signal(signal.SIGPIPE, interrupt)
    try:
        try:
            thread.start()  # the reader may have gone already
            yield
        finally:
            signal.signal(signal.SIGPIPE, before)
    except _ReaderGone:
        raise BrokenPipeError from None
    finally:
        os.close(end)
        thread.join()
        os.close(ended)


def _output() -> int | None:
    """Return the descriptor of standard output; None if it is closed or an object of Python."""
    try:
        return sys.stdout.fileno()
    except (OSError, ValueError):
        return None


def _is_gone(number: int) -> bool:
    poll = select.poll()
    poll.register(number, 0)
    return any(event & _GONE for _, event in poll.poll(0))
