"""The progress of a long run, on a terminal's standard error; and counts in words, at its end."""

from __future__ import annotations

import sys
import time
from typing import Final

_FIRST_SECONDS: Final = 2.0
_EVERY_SECONDS: Final = 0.5
_ERASE: Final = "\r\x1b[K"


class Progress:
    """A line that is overwritten again and again; nothing if standard error is not a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._started = time.monotonic()
        self._next = self._started + _FIRST_SECONDS
        self._written = False

    def show(self, records: int, total: int | None = None) -> None:
        """Write the number of records so far, of `total` if that is known."""
        now = time.monotonic()
        if not self._shown or now < self._next:
            return
        self._next = now + _EVERY_SECONDS
        self._written = True
        part = f" of {total:,} ({records * 100 // total} %)" if total else ""
        rate = records / (now - self._started)
        print(f"{_ERASE}{records:,}{part} records, {rate:,.0f}/s", end="", file=sys.stderr)
        sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line before something else is printed."""
        if self._written:
            print(_ERASE, end="", file=sys.stderr, flush=True)
            self._written = False

    def seconds(self) -> float:
        """Return the time since the start."""
        return time.monotonic() - self._started


def counted(number: int, one: str) -> str:
    """Return `1 record`, `2 records`."""
    return f"{number:,} {one}" if number == 1 else f"{number:,} {one}s"
