"""`.lock`: makes one process, and one node in it, the owner of a log
directory. Used only by `files.py`.
"""

from __future__ import annotations

import errno
import os

from pykbroker.environment.files import FileLock


class RealFileLock(FileLock):
    """A POSIX record lock on the whole file, like that of Java's FileChannel.tryLock.

    Such a lock belongs to the process, so a second node in the same process would also obtain it.
    The set of held paths prevents that.
    """

    _held: set[str] = set()

    def __init__(self, path: str, fd: int) -> None:
        self._path = path
        self._fd = fd

    @classmethod
    def acquire(cls, path: str) -> RealFileLock | None:
        import fcntl

        real_path = os.path.realpath(path)
        if real_path in cls._held:
            return None
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(fd)
            if error.errno in (errno.EACCES, errno.EAGAIN):
                return None
            raise
        cls._held.add(real_path)
        return cls(real_path, fd)

    def release(self) -> None:
        if self._fd >= 0:
            self._held.discard(self._path)
            os.close(self._fd)
            self._fd = -1
