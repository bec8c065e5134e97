"""The file system as a node sees it.

`Files` is the interface; `RealFiles` (`real/files.py`) is the disk, `MemoryFiles`
(`testing/world/memory_files.py`) a disk in memory that fails, tears and loses writes on purpose.
Both pass the same tests.

Paths are str, joined with "/". A failure is an OSError (ColdRead is none: it asks for a
repetition); but `exists` and `is_dir` then return False. A write is complete or raises. Nothing is
synced unless requested.
"""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TypeAlias

from pykbroker.environment.index_memory import IndexMemory

Buffer: TypeAlias = "bytes | bytearray | memoryview"


class LogDirFailure(Exception):
    """A log directory failed (I/O error, read-only, full): its partitions go offline."""

    def __init__(self, directory: str, action: str, cause: OSError) -> None:
        super().__init__(f"{action} in log directory {directory}: {cause}")
        self.directory = directory


class ColdRead(Exception):
    """A look-up that must not wait needs data that is not in the page cache, or the records of a
    batch that takes long to search (log/partition/record_lookup.py).

    `warm` fetches them. It blocks, so call it in a thread; then repeat the look-up.
    """

    def __init__(self, warm: Callable[[], None]) -> None:
        super().__init__("not in the page cache")
        self.warm = warm


class FileCutShort(OSError):
    """A file is shorter than its slice, because it was truncated in the meantime."""


class FileLock(ABC):
    """An exclusive lock of a directory, held until released."""

    @abstractmethod
    def release(self) -> None: ...


class Readable(ABC):
    """What can be read at positions: a file, or the source of a FileSlice, which stays readable for
    as long as a reference to it exists.
    """

    __slots__ = ()

    @abstractmethod
    def pread(self, length: int, position: int) -> bytes: ...

    @abstractmethod
    def read_cached(self, length: int, position: int) -> Buffer | None:
        """Return the range if the page cache holds all of it, else None (also where the file ends
        earlier); does not wait for the disk, where the system can tell.
        """

    @abstractmethod
    def is_cached(self, length: int, position: int) -> bool:
        """Return whether the range can probably be read without waiting for the disk."""

    @abstractmethod
    def warm(self, length: int, position: int) -> None:
        """Fetch the range into the page cache. It blocks, so call it in a thread."""

    @abstractmethod
    def fileno(self) -> int: ...


class FileSlice:
    """A range of bytes of a file, for example for a Fetch reply; it holds its file open, even if
    that is deleted, until released.
    """

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
        """Return the whole range. Raises FileCutShort if the file was truncated in the meantime."""
        assert self.source is not None, "a released slice has no file"
        found = self.source.pread(self.length, self.position)
        if len(found) != self.length:
            missing = self.length - len(found)
            raise FileCutShort(errno.EIO, f"{missing} bytes are missing in the file")
        return found

    def read_cached(self) -> Buffer | None:
        """Return the whole range if the page cache holds all of it, else None."""
        assert self.source is not None, "a released slice has no file"
        return self.source.read_cached(self.length, self.position)

    def is_cached(self, position: int, size: int) -> bool:
        """Return whether a part of the file can probably be read without waiting for the disk."""
        assert self.source is not None, "a released slice has no file"
        return self.source.is_cached(size, position)

    def warming(self, position: int, size: int) -> Callable[[], None]:
        """Return a job for a thread that fetches a part of the file into the page cache.

        The job keeps the file open, so it may run after the slice is released.
        """
        assert self.source is not None, "a released slice has no file"
        return partial(self.source.warm, size, position)

    def release(self) -> None:
        self.source = None


class OpenFile(Readable):
    """One file; its `size` is known without a system call."""

    __slots__ = ("path", "size")

    path: str
    size: int

    @abstractmethod
    def slice(self, position: int, length: int) -> FileSlice: ...

    @abstractmethod
    def pwritev(self, parts: Sequence[Buffer], position: int) -> int:
        """Write all parts at `position`; return their size in bytes. On OSError the contents after
        `position` are undefined.
        """

    @abstractmethod
    def truncate(self, length: int) -> None: ...

    @abstractmethod
    def sync(self) -> None: ...

    @abstractmethod
    def pinned_sync(self) -> Callable[[], None]:
        """Return a sync function for another thread; it works even if this
        object is closed meanwhile.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the descriptor; existing slices keep theirs. The next use reopens the file."""


class Files(ABC):
    """A file system. Methods raise OSError on failure, but `exists` and `is_dir` return False.

    While `may_wait` is False, reading contents, but not through a FileSlice, raises ColdRead
    instead of waiting for the disk.
    """

    def __init__(self) -> None:
        self.index_memory = IndexMemory()
        self.may_wait = True

    @abstractmethod
    def open(self, path: str, create: bool = False) -> OpenFile:
        """Open a file. Raises FileNotFoundError if it does not exist and `create` is not set."""

    @abstractmethod
    def read_file(self, path: str) -> bytes: ...

    @abstractmethod
    def read_range(self, path: str, position: int, length: int) -> bytes:
        """Read a range of a file that is not kept open."""

    @abstractmethod
    def write_file(self, path: str, payload: Buffer, sync: bool = False) -> None: ...

    @abstractmethod
    def resize(self, path: str, length: int) -> None:
        """Truncate the file or extend it sparsely; create it if it does not exist."""

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
        """Return {name: size} of every regular file in a directory, following links."""

    @abstractmethod
    def mkdir(self, path: str) -> None:
        """Create a directory and its parents, unless it exists."""

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
        """Make a file readable only for its owner (mode 0400), like Kafka's metadata snapshots."""

    @abstractmethod
    def disk_usage(self, path: str) -> tuple[int, int]:
        """Return the total and usable bytes of the volume."""

    @abstractmethod
    def unique_id(self) -> str:
        """Return 32 unique hexadecimal digits, for the names of directories that are set aside and
        of copies.
        """

    @abstractmethod
    def lock(self, path: str) -> FileLock | None:
        """Lock a directory by the file `path`, which is created if it does not exist; return None
        if another process or another node in this process holds it.
        """

    @abstractmethod
    def alone(self, path: str) -> AbstractContextManager[object]:
        """Return a section that only one thread of this node enters at a time, for each path.

        Another path may have to wait as well, so a section must not contain another one.
        """

    def replace_file(self, path: str, payload: Buffer) -> None:
        """Replace a file atomically and durably (Utils.atomicMoveWithFallback)."""
        temporary = f"{path}.tmp"
        self.write_file(temporary, payload, sync=True)
        self.rename(temporary, path)
        self.sync_dir(os.path.dirname(path))
