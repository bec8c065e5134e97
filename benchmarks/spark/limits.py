"""The limits of one core of the machine: how fast it reads, checks and copies bytes.

`combined` is the limit of any reader that does all three with every byte:
1 / (1/read + 1/CRC + 1/copy).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pykbroker.protocol.crc32c import crc32c

_BUFFER = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Bytes per second, on one core."""

    read: float
    crc: float
    copy: float

    @property
    def combined(self) -> float:
        return 1 / (1 / self.read + 1 / self.crc + 1 / self.copy)


def measure(paths: list[Path]) -> Limits:
    """Measure the limits: reading of these files from the page cache, the others of a buffer."""
    buffer = bytearray(_BUFFER)
    view = memoryview(buffer)
    other = bytearray(_BUFFER)

    def read() -> int:
        total = 0
        for path in paths:
            descriptor = os.open(path, os.O_RDONLY)
            while count := os.readv(descriptor, [view]):
                total += count
            os.close(descriptor)
        return total

    def checked() -> int:
        for _ in range(256):
            crc32c(view)
        return 256 * _BUFFER

    def copied() -> int:
        for _ in range(256):
            other[:] = buffer
        return 256 * _BUFFER

    return Limits(_best(read), _best(checked), _best(copied))


def _best(work: Callable[[], int]) -> float:
    rates = []
    for _ in range(3):
        start = time.perf_counter()
        done = work()
        rates.append(done / (time.perf_counter() - start))
    return max(rates)
