"""CRC-32C (Castagnoli), the checksum of record batches and producer snapshots.

In      any bytes-like object (read-only or writable memoryviews too), never copied.
Out     an unsigned 32-bit integer; `crc32c(b, crc32c(a)) == crc32c(a + b)`.

The `crc32c` package uses the processor's instruction (about 30 GB/s); where it cannot be imported
crcmod takes its place, correct but some fifty times slower.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

BytesLike: TypeAlias = bytes | bytearray | memoryview


def _load() -> tuple[Callable[..., int], str]:
    try:
        from crc32c import crc32c as hardware
    except ImportError:
        from crcmod.predefined import mkPredefinedCrcFun

        return mkPredefinedCrcFun("crc-32c"), "crcmod"
    return hardware, "crc32c"


_loaded, IMPLEMENTATION = _load()

#: `crc32c(buf, crc=0) -> int`: the checksum of `buf`, carried on from `crc`.
crc32c: Callable[..., int] = _loaded
