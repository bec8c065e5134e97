"""Reading files without waiting for a disk: what the page cache has, by preadv(RWF_NOWAIT).

Functions over descriptors. A file system without RWF_NOWAIT (some network and overlay ones) cannot
tell: it is taken for one that never makes wait.
"""

from __future__ import annotations

import errno
import os

_RWF_NOWAIT: int | None = getattr(os, "RWF_NOWAIT", None)
_NO_NOWAIT = frozenset((errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS))

_NOWHERE = bytearray(128 * 1024)
"""Where bytes are read to that only the page cache shall have; nobody looks at it."""


def read_cached(file: int, size: int, position: int) -> bytes | bytearray | None:
    """`size` bytes at `position` if the page cache has them all, else None."""
    if _RWF_NOWAIT is None:
        return os.pread(file, size, position)
    content = bytearray(size)
    try:
        if os.preadv(file, (content,), position, _RWF_NOWAIT) == size:
            return content
    except BlockingIOError:
        return None
    except OSError as failure:
        if failure.errno not in _NO_NOWAIT:
            raise
        return os.pread(file, size, position)
    return None


def is_cached(file: int, size: int, position: int) -> bool:
    """Whether both ends of a range are in the page cache.

    The kernel reads files ahead in runs, so a range with both ends cached and a hole in between is
    rare, and costs one read that waits and nothing else.
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
    """Have the kernel fetch a range; it blocks, so a thread does it. OSError: the disk failed.

    The bytes are copied over and over into one small buffer: no memory is asked for and given back
    (which would cost the event loop interrupts of its core), and none passes through the
    interpreter.
    """
    step = len(_NOWHERE)
    whole, rest = divmod(size, step)
    targets: list[bytearray | memoryview] = [_NOWHERE] * whole
    if rest:
        targets.append(memoryview(_NOWHERE)[:rest])
    os.preadv(file, targets, position)
