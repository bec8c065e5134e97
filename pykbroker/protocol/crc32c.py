"""CRC-32C (Castagnoli), the checksum of record batches and producer snapshots.

In      any bytes-like object (read-only or writable memoryviews too), never copied.
Out     an unsigned 32-bit integer; `crc32c(b, crc32c(a)) == crc32c(a + b)`.

The `crc32c` package uses the processor's instruction. Where it cannot be imported (it is not
installed on interpreters other than CPython), crcmod takes its place, correct but far slower.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeAlias

BytesLike: TypeAlias = bytes | bytearray | memoryview


def _load_extension() -> Callable[..., int]:
    """The extension module inside the package `crc32c`, without the package.

    The package imports importlib.metadata to learn its own version: 13 ms of every start.
    """
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    # Who has imported the package already, or forbidden it (None), is heard.
    package = None if "crc32c" in sys.modules else PathFinder.find_spec("crc32c")
    where = None if package is None else package.submodule_search_locations
    extension = None if where is None else PathFinder.find_spec("crc32c._crc32c", where)
    if extension is None or extension.loader is None:
        from crc32c import crc32c as as_the_package_has_it

        return as_the_package_has_it  # type: ignore[no-any-return]
    module = module_from_spec(extension)
    extension.loader.exec_module(module)
    return module.crc32c  # type: ignore[no-any-return]


def _load() -> tuple[Callable[..., int], str]:
    try:
        hardware = _load_extension()
    except (ImportError, AttributeError):
        from crcmod.predefined import mkPredefinedCrcFun

        return mkPredefinedCrcFun("crc-32c"), "crcmod"
    return hardware, "crc32c"


_loaded, IMPLEMENTATION = _load()

#: `crc32c(buf, crc=0) -> int`: the checksum of `buf`, carried on from `crc`.
crc32c: Callable[..., int] = _loaded
