"""The disk: the files of a real node, with `page_cache.py` and `file_lock.py`.

`RealFiles` remembers which of its files have a descriptor open; when there are more than
`max_open`, it closes one, if possible one that was not used recently. A descriptor is closed when
nothing refers to it any more.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from threading import Lock

from pykbroker.environment.files import (
    Buffer,
    ColdRead,
    FileLock,
    Files,
    FileSlice,
    OpenFile,
    Readable,
)
from pykbroker.environment.real.file_lock import RealFileLock
from pykbroker.environment.real.page_cache import is_cached, read_cached, warm

IOV_MAX = 1024
"""Linux takes at most this many buffers in one writev."""

MOST_DESCRIPTORS = 16384
SECTIONS = 64  # locks of `alone`: many logs are flushed at once when a node stops
WARM_BYTES = 128 * 1024  # minimum to fetch: look-ups continue after their position


class Descriptor(Readable):
    """A descriptor of the operating system, closed when nothing refers to it any more."""

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self) -> None:
        os.close(self.fd)

    def fileno(self) -> int:
        return self.fd

    def pread(self, length: int, position: int) -> bytes:
        return pread_whole(self.fd, length, position)

    def read_cached(self, length: int, position: int) -> bytes | bytearray | None:
        return read_cached(self.fd, length, position)

    def is_cached(self, length: int, position: int) -> bool:
        return is_cached(self.fd, length, position)

    def sync(self) -> None:
        os.fdatasync(self.fd)

    def pread_cached(self, length: int, position: int) -> bytes:
        """Read a range, up to the end of the file, from the page cache. Raises ColdRead if it does
        not hold all of it.
        """
        found = read_cached(self.fd, length, position)
        if found is None:  # or it is short because the file ends there
            there = max(os.fstat(self.fd).st_size - position, 0)
            found = read_cached(self.fd, there, position) if there < length else None
        if found is None:
            raise ColdRead(partial(self.warm, max(length, WARM_BYTES), position))
        return bytes(found)

    def warm(self, length: int, position: int) -> None:
        warm(self.fd, length, position)


def pread_whole(fd: int, length: int, position: int) -> bytes:
    """Read like pread, but short only at the end of the file (one pread moves at most 2 GiB)."""
    found = os.pread(fd, length, position)
    if len(found) == length or not found:
        return found
    pieces = [found]
    total = len(found)
    while total < length:
        found = os.pread(fd, length - total, position + total)
        if not found:
            break
        pieces.append(found)
        total += len(found)
    return b"".join(pieces)


def pwritev_whole(fd: int, parts: Sequence[Buffer], position: int) -> int:
    """Write any number of parts; return their size in bytes. Raises OSError if the volume accepts
    only some of them.
    """
    total = 0
    if len(parts) > IOV_MAX:
        for start in range(0, len(parts), IOV_MAX):
            total += pwritev_whole(fd, parts[start : start + IOV_MAX], position + total)
        return total
    for part in parts:
        total += len(part)
    written = os.pwritev(fd, parts, position)
    if written == total:
        return total
    while written < total:
        rest = b"".join(parts)[written:]
        more = os.pwrite(fd, rest, position + written)
        if more <= 0:
            raise OSError(errno.ENOSPC, "short write")
        written += more
    return total


def descriptors_allowed() -> int:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else min(soft, MOST_DESCRIPTORS)


class RealFile(OpenFile):
    """A file on disk whose descriptor is opened on demand."""

    __slots__ = ("_descriptor", "_files", "path", "recent", "size")

    def __init__(self, files: RealFiles, path: str, size: int) -> None:
        self._files = files
        self._descriptor: Descriptor | None = None
        self.path = path
        self.size = size
        self.recent = False

    def descriptor(self) -> Descriptor:
        self.recent = True
        descriptor = self._descriptor
        if descriptor is None:
            descriptor = Descriptor(self._files.open_descriptor(self.path))
            self._descriptor = descriptor
            self._files.opened(self)
        return descriptor

    def fileno(self) -> int:
        return self.descriptor().fd

    def pread(self, length: int, position: int) -> bytes:
        descriptor = self.descriptor()
        if self._files.may_wait:
            return pread_whole(descriptor.fd, length, position)
        return descriptor.pread_cached(length, position)

    def read_cached(self, length: int, position: int) -> bytes | bytearray | None:
        return self.descriptor().read_cached(length, position)

    def is_cached(self, length: int, position: int) -> bool:
        return self.descriptor().is_cached(length, position)

    def warm(self, length: int, position: int) -> None:
        self.descriptor().warm(length, position)

    def slice(self, position: int, length: int) -> FileSlice:
        return FileSlice(self.descriptor(), position, length)

    def pwritev(self, parts: Sequence[Buffer], position: int) -> int:
        written = pwritev_whole(self.descriptor().fd, parts, position)
        if position + written > self.size:
            self.size = position + written
        return written

    def truncate(self, length: int) -> None:
        os.ftruncate(self.descriptor().fd, length)
        self.size = length

    def sync(self) -> None:
        self.descriptor().sync()

    def pinned_sync(self) -> Callable[[], None]:
        return self.descriptor().sync

    def close(self) -> None:
        if self._descriptor is not None:
            self._descriptor = None
            self._files.closed(self)


class RealFiles(Files):
    """The disk. At most about `max_open` log files keep a descriptor, not
    counting slices in flight.

    The default is half of what the process may open, at most MOST_DESCRIPTORS / 2; the rest is for
    connections.
    """

    def __init__(self, max_open: int | None = None, read_only: bool = False) -> None:
        super().__init__()
        self.max_open = descriptors_allowed() // 2 if max_open is None else max_open
        self._flags = (os.O_RDONLY if read_only else os.O_RDWR) | os.O_CLOEXEC
        self._open: dict[RealFile, None] = {}
        self._sections = [Lock() for _ in range(SECTIONS)]

    @property
    def open_count(self) -> int:
        return len(self._open)

    def open_descriptor(self, path: str) -> int:
        """Open a descriptor. If none is left, close those of other log files until one is, because
        a mere reader must not make a log directory fail.
        """
        while True:
            try:
                return os.open(path, self._flags)
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE) or not self._open:
                    raise
            next(iter(self._open)).close()

    def opened(self, file: RealFile) -> None:
        """Register an opened file. If more than `max_open` are open, close the first idle one
        (second chance: a file used since the last round stays open, unless all were used).
        """
        files = self._open
        files[file] = None
        if len(files) <= self.max_open:
            return
        for _ in range(len(files)):
            oldest = next(iter(files))
            if oldest is file or oldest.recent:
                oldest.recent = False
                del files[oldest]
                files[oldest] = None
            else:
                oldest.close()
                return
        next(iter(files)).close()

    def closed(self, file: RealFile) -> None:
        self._open.pop(file, None)

    def open(self, path: str, create: bool = False) -> OpenFile:
        if create:
            fd = os.open(path, self._flags | os.O_CREAT, 0o644)
            size = os.fstat(fd).st_size
            os.close(fd)
        else:
            size = os.stat(path).st_size
        return RealFile(self, path, size)

    def read_file(self, path: str) -> bytes:
        if not self.may_wait:
            descriptor = Descriptor(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            return descriptor.pread_cached(os.fstat(descriptor.fd).st_size, 0)
        with open(path, "rb", buffering=0) as stream:
            return stream.read()

    def read_range(self, path: str, position: int, length: int) -> bytes:
        descriptor = Descriptor(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
        pread = descriptor.pread if self.may_wait else descriptor.pread_cached
        return pread(length, position)

    def write_file(self, path: str, payload: Buffer, sync: bool = False) -> None:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            pwritev_whole(fd, [payload], 0)
            if sync:
                os.fsync(fd)
        finally:
            os.close(fd)

    def resize(self, path: str, length: int) -> None:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.ftruncate(fd, length)
        finally:
            os.close(fd)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def is_dir(self, path: str) -> bool:
        return os.path.isdir(path)

    def size(self, path: str) -> int:
        return os.stat(path).st_size

    def listdir(self, path: str) -> list[str]:
        return os.listdir(path)

    def list_sizes(self, path: str) -> dict[str, int]:
        with os.scandir(path) as entries:
            return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}

    def mkdir(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def unlink(self, path: str, missing_ok: bool = True) -> None:
        try:
            os.unlink(path)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def remove_tree(self, path: str) -> None:
        if os.path.islink(path):
            os.unlink(path)  # a directory that an operator has moved is left alone
        else:
            import shutil  # at its first use: it brings bz2 and lzma, half a megabyte

            shutil.rmtree(path)

    def sync_file(self, path: str) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def sync_dir(self, path: str) -> None:
        self.sync_file(path)

    def modified_ms(self, path: str) -> int:
        return os.stat(path).st_mtime_ns // 1_000_000

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))

    def make_read_only(self, path: str) -> None:
        os.chmod(path, 0o400)

    def disk_usage(self, path: str) -> tuple[int, int]:
        volume = os.statvfs(path)
        return volume.f_frsize * volume.f_blocks, volume.f_frsize * volume.f_bavail

    def unique_id(self) -> str:
        return os.urandom(16).hex()

    def lock(self, path: str) -> FileLock | None:
        return RealFileLock.acquire(path)

    def alone(self, path: str) -> AbstractContextManager[object]:
        return self._sections[hash(path) % SECTIONS]
