"""Reading files without waiting for the disk: only from the page cache, with preadv(RWF_NOWAIT).

The functions take descriptors. A system or file system without RWF_NOWAIT (such as some network and
overlay file systems) is treated as if it never waited.
"""

from __future__ import annotations

import errno
import os
from functools import cache

_RWF_NOWAIT: int | None = getattr(os, "RWF_NOWAIT", None)
_MOST_BUFFERS = 1024  # that one call of preadv takes: IOV_MAX of Linux
_NO_NOWAIT = frozenset((errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS))


@cache
def _nowhere() -> bytearray:
    """Return a buffer for bytes that only have to enter the page cache; nothing reads it. It is
    created on first use, because few nodes read cold files.
    """
    return bytearray(128 * 1024)


def read_cached(file: int, size: int, position: int) -> bytes | bytearray | None:
    """Return `size` bytes at `position` if the page cache holds all of them, else None (also where
    the file ends earlier). Without RWF_NOWAIT it reads them wherever they are.
    """
    if _RWF_NOWAIT is None:
        return _read_waiting(file, size, position)
    content = bytearray(size)
    try:
        if os.preadv(file, (content,), position, _RWF_NOWAIT) == size:
            return content
    except BlockingIOError:
        return None
    except OSError as failure:
        if failure.errno not in _NO_NOWAIT:
            raise
        return _read_waiting(file, size, position)
    return None


def _read_waiting(file: int, size: int, position: int) -> bytes | None:
    content = os.pread(file, size, position)
    return content if len(content) == size else None


def is_cached(file: int, size: int, position: int) -> bool:
    """Return whether both ends of a range are in the page cache; True without RWF_NOWAIT.

    The kernel reads files ahead in runs, so a range with both ends cached and a hole in between is
    rare; reading it waits.
    """
    if _RWF_NOWAIT is None:
        return True
    probe = bytearray(1)
    try:
        os.preadv(file, (probe,), position, _RWF_NOWAIT)
        os.preadv(file, (probe,), position + size - 1, _RWF_NOWAIT)
    except BlockingIOError:
        return False
    except OSError as failure:
        if failure.errno not in _NO_NOWAIT:
            raise
    return True


def warm(file: int, size: int, position: int) -> None:
    """Make the kernel fetch a range. It blocks, so call it in a thread. Raises OSError if the disk
    failed.

    The bytes are copied repeatedly into one small buffer, so no memory is allocated and freed
    (which would interrupt the event loop's core), and nothing passes through the interpreter.
    """
    at_once = len(_nowhere()) * _MOST_BUFFERS
    for start in range(0, size, at_once):
        _warm_at_once(file, min(at_once, size - start), position + start)


def _warm_at_once(file: int, size: int, position: int) -> None:
    nowhere = _nowhere()
    whole, rest = divmod(size, len(nowhere))
    targets: list[bytearray | memoryview] = [nowhere] * whole
    if rest:
        targets.append(memoryview(nowhere)[:rest])
    os.preadv(file, targets, position)
