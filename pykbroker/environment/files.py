"""The only way to a file system.

`Files` is the interface; `RealFiles` (`real/files.py`) is the disk, `MemoryFiles`
(`testing/world/memory_files.py`) a disk in memory that fails, tears and loses writes on purpose.
The same tests pass on both.

In:    paths (str, joined with "/"), buffers.
Out:   bytes, `FileSlice` (a range of a file that keeps its file readable, even when it is deleted).
Invariants: every failure is an OSError; a write is whole or raises; nothing is synced unless asked.
"""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from pykbroker.environment.index_memory import IndexMemory

Buffer: TypeAlias = "bytes | bytearray | memoryview"


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


class FileCutShort(OSError):
    """A file has fewer bytes than its slice: it was truncated meanwhile."""


class FileLock(ABC):
    """An exclusive lock of a directory, held until released."""

    @abstractmethod
    def release(self) -> None: ...


class Readable(ABC):
    """What a FileSlice reads from: it stays readable for as long as somebody holds it."""

    __slots__ = ()

    @abstractmethod
    def pread(self, length: int, position: int) -> bytes: ...

    @abstractmethod
    def read_cached(self, length: int, position: int) -> Buffer | None:
        """The range if the page cache holds all of it, else None: never waits for a disk."""

    @abstractmethod
    def is_cached(self, length: int, position: int) -> bool:
        """Whether reading the range would not wait for a disk."""

    @abstractmethod
    def warm(self, length: int, position: int) -> None:
        """Fetch the range into the page cache; blocks, so a thread calls it."""

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
        """The whole range. FileCutShort when the file was truncated meanwhile."""
        assert self.source is not None, "a released slice has no file"
        found = self.source.pread(self.length, self.position)
        if len(found) != self.length:
            missing = self.length - len(found)
            raise FileCutShort(errno.EIO, f"{missing} bytes are missing in the file")
        return found

    def read_cached(self) -> Buffer | None:
        """The whole range if the page cache holds all of it, else None."""
        assert self.source is not None, "a released slice has no file"
        return self.source.read_cached(self.length, self.position)

    def is_cached(self, position: int, size: int) -> bool:
        """Whether a part of the file can be read without waiting for a disk."""
        assert self.source is not None, "a released slice has no file"
        return self.source.is_cached(size, position)

    def warming(self, position: int, size: int) -> Callable[[], None]:
        """A job for a thread that fetches a part of the file into the page cache.

        The job holds the file open: it may run after the slice was released.
        """
        assert self.source is not None, "a released slice has no file"
        return partial(self.source.warm, size, position)

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
