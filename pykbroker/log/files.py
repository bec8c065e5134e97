"""The only way from the log floor to the operating system.

`Files` is the interface; `RealFiles` is the disk, `MemoryFiles` (memory_files.py) a disk in memory
that fails, tears and forgets on purpose. The same tests pass on both.

State: `RealFiles` remembers which of its files have a descriptor open, and closes those that were
       not used lately when there are more than `max_open`.
In:    paths (str, joined with "/"), buffers.
Out:   bytes, `FileSlice` (a range of a file that keeps its file readable, even when it is deleted).
Invariants: every failure is an OSError; a write is whole or raises; nothing is synced unless asked.
"""

from __future__ import annotations

import errno
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from pykbroker.log.file_lock import FileLock, RealFileLock
from pykbroker.log.index_memory import IndexMemory
from pykbroker.page_cache import read_cached, warm

Buffer: TypeAlias = "bytes | bytearray | memoryview"

IOV_MAX = 1024
"""Linux takes at most this many buffers in one writev."""

MOST_DESCRIPTORS = 16384
WARM_BYTES = 128 * 1024  # fetched at least: look-ups go on behind where they were


class LogDirFailure(Exception):
    """A log directory failed (I/O error, read-only, full): its partitions go offline."""

    def __init__(self, directory: str, action: str, cause: OSError) -> None:
        super().__init__(f"{action} in log directory {directory}: {cause}")
        self.directory = directory
        self.cause = cause


class ColdRead(Exception):
    """A look-up that must not wait for a disk found something missing in the page cache.

    `warm` fetches it, in a thread; then the look-up can be tried again.
    """

    def __init__(self, warm: Callable[[], None]) -> None:
        super().__init__("not in the page cache")
        self.warm = warm


class Readable(ABC):
    """What a FileSlice reads from: it stays readable for as long as somebody holds it."""

    __slots__ = ()

    @abstractmethod
    def pread(self, length: int, position: int) -> bytes: ...

    @abstractmethod
    def fileno(self) -> int: ...


class FileSlice:
    """A range of bytes of a file, for a Fetch reply; it holds its file open until released."""

    __slots__ = ("length", "position", "source")

    def __init__(self, source: Readable, position: int, length: int) -> None:
        self.source: Readable | None = source
        self.position = position
        self.length = length

    def part_size(self) -> int:
        return self.length

    def __len__(self) -> int:
        return self.length

    def fileno(self) -> int:
        assert self.source is not None, "a released slice has no file"
        return self.source.fileno()

    def read(self) -> bytes:
        """The whole range; raises OSError (EIO) when the file was cut shorter meanwhile."""
        assert self.source is not None, "a released slice has no file"
        found = self.source.pread(self.length, self.position)
        if len(found) != self.length:
            raise OSError(errno.EIO, f"slice of {self.length} bytes has only {len(found)} left")
        return found

    def release(self) -> None:
        self.source = None


class OpenFile(Readable):
    """One file; its `size` is known without asking the operating system."""

    __slots__ = ("path", "size")

    path: str
    size: int

    @abstractmethod
    def slice(self, position: int, length: int) -> FileSlice: ...

    @abstractmethod
    def pwritev(self, parts: Sequence[Buffer], position: int) -> int:
        """Write all the parts at `position`; whole, or OSError (then the tail is undefined)."""

    @abstractmethod
    def truncate(self, length: int) -> None: ...

    @abstractmethod
    def sync(self) -> None: ...

    @abstractmethod
    def pinned_sync(self) -> Callable[[], None]:
        """A sync that another thread may call, whatever becomes of this object meanwhile."""

    @abstractmethod
    def close(self) -> None:
        """Give the descriptor back; slices handed out keep theirs. The next use opens it again."""


class Files(ABC):
    """A file system. Every method raises OSError when it cannot.

    Where `may_wait` is False for a while, reading raises ColdRead rather than wait for a disk.
    """

    def __init__(self) -> None:
        self.index_memory = IndexMemory()
        self.may_wait = True

    @abstractmethod
    def open(self, path: str, create: bool = False) -> OpenFile:
        """FileNotFoundError when it is not there and not to be created."""

    @abstractmethod
    def read_file(self, path: str) -> bytes: ...

    @abstractmethod
    def read_range(self, path: str, position: int, length: int) -> bytes:
        """A range of a file that is not kept open."""

    @abstractmethod
    def write_file(self, path: str, payload: Buffer, sync: bool = False) -> None: ...

    @abstractmethod
    def resize(self, path: str, length: int) -> None:
        """Cut, or grow sparsely, creating it if need be."""

    @abstractmethod
    def exists(self, path: str) -> bool: ...

    @abstractmethod
    def is_dir(self, path: str) -> bool: ...

    @abstractmethod
    def size(self, path: str) -> int: ...

    @abstractmethod
    def listdir(self, path: str) -> list[str]: ...

    @abstractmethod
    def list_sizes(self, path: str) -> dict[str, int]:
        """Name -> size of every regular file of a directory, also of one behind a link."""

    @abstractmethod
    def mkdir(self, path: str) -> None:
        """With its parents; fine when it is there."""

    @abstractmethod
    def rename(self, old: str, new: str) -> None: ...

    @abstractmethod
    def unlink(self, path: str, missing_ok: bool = True) -> None: ...

    @abstractmethod
    def remove_tree(self, path: str) -> None: ...

    @abstractmethod
    def sync_file(self, path: str) -> None: ...

    @abstractmethod
    def sync_dir(self, path: str) -> None: ...

    @abstractmethod
    def modified_ms(self, path: str) -> int: ...

    @abstractmethod
    def set_modified_ms(self, path: str, modified_ms: int) -> None: ...

    @abstractmethod
    def make_read_only(self, path: str) -> None:
        """For its owner alone (mode 0400), as Kafka leaves its metadata snapshots."""

    @abstractmethod
    def disk_usage(self, path: str) -> tuple[int, int]:
        """Total and usable bytes of the volume."""

    @abstractmethod
    def unique_id(self) -> str:
        """32 hexadecimal digits that nobody else draws, for directories that are put aside."""

    @abstractmethod
    def lock(self, path: str) -> FileLock | None:
        """None when another process, or another node of this one, holds it."""

    def replace_file(self, path: str, payload: Buffer) -> None:
        """Change a file as a whole or not at all, durably (Utils.atomicMoveWithFallback)."""
        temporary = f"{path}.tmp"
        self.write_file(temporary, payload, sync=True)
        self.rename(temporary, path)
        self.sync_dir(os.path.dirname(path))


class Descriptor(Readable):
    """A descriptor of the operating system, closed when nobody holds it any more."""

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self) -> None:
        os.close(self.fd)

    def fileno(self) -> int:
        return self.fd

    def pread(self, length: int, position: int) -> bytes:
        return pread_whole(self.fd, length, position)

    def sync(self) -> None:
        os.fdatasync(self.fd)

    def pread_cached(self, length: int, position: int) -> bytes:
        """ColdRead when the page cache has not all of it."""
        found = read_cached(self.fd, length, position)
        if found is None:
            raise ColdRead(partial(self.warm, max(length, WARM_BYTES), position))
        return bytes(found)

    def warm(self, length: int, position: int) -> None:
        warm(self.fd, length, position)


def pread_whole(fd: int, length: int, position: int) -> bytes:
    """pread that is only short at the end of the file (one call moves at most 2 GiB)."""
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
    """pwritev of any number of parts; raises when the volume takes only some of them."""
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
    """A file on disk whose descriptor is opened when it is needed."""

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
    """The disk. At most about `max_open` log files keep a descriptor (slices in flight apart).

    Without a number it is half of what the process may open: the other half is for connections.
    """

    def __init__(self, max_open: int | None = None, read_only: bool = False) -> None:
        super().__init__()
        self.max_open = descriptors_allowed() // 2 if max_open is None else max_open
        self._flags = (os.O_RDONLY if read_only else os.O_RDWR) | os.O_CLOEXEC
        self._open: dict[RealFile, None] = {}

    @property
    def open_count(self) -> int:
        return len(self._open)

    def open_descriptor(self, path: str) -> int:
        """Out of descriptors, an idle log file gives its own: a reader must not cost a disk."""
        while True:
            try:
                return os.open(path, self._flags)
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE) or not self._open:
                    raise
            next(iter(self._open)).close()

    def opened(self, file: RealFile) -> None:
        """Second chance: a file used since the last round stays, the first idle one closes."""
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
            os.unlink(path)  # what somebody moved elsewhere is his
        else:
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
