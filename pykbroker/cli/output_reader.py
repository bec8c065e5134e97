"""Detects a closed standard output, for commands that wait between two lines."""

from __future__ import annotations

import select
import sys
from typing import Final

_GONE: Final = select.POLLERR | select.POLLHUP | select.POLLNVAL


def check_reader() -> None:
    """Raise BrokenPipeError if the reader of standard output has closed it (`| head -1`).

    A write would detect that as well, but a command that waits for records has nothing to write.
    """
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):  # not a file of the operating system, or closed
        return
    poll = select.poll()
    poll.register(number, 0)
    if any(event & _GONE for _, event in poll.poll(0)):
        raise BrokenPipeError
