"""Access to files: directories of this machine, or anything that pyarrow.fs reaches by a URI.

Paths are `/var/kafka-logs`, `file:///...`, `s3://bucket/logs`, `hdfs://...`. Nothing is mapped into
memory: a header walk by pread costs 1 us a batch, page faults 2.3 us. A remote file is read in
windows of up to 8 MiB, however small the reads are.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from types import TracebackType
from typing import Any, Final
from urllib.parse import unquote

from pykbroker.offline.faults import OfflineError
from pykbroker.values import NamedTuple

DELETED_SUFFIX: Final = ".deleted"
_FILE: Final = "file:"
_WINDOW_BYTES: Final = 8 << 20


class SegmentFile(ABC):
    """An open file: `size` at opening, reads by position. A context manager."""

    __slots__ = ("path", "size")

    path: str
    size: int

    @abstractmethod
    def read_into(self, view: memoryview, position: int) -> int:
        """Fill `view` from `position` on; fewer bytes only at the end of the file."""

    @abstractmethod
    def read(self, length: int, position: int) -> bytes:
        """Return up to `length` bytes; fewer only at the end of the file."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> SegmentFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class LocalFile(SegmentFile):
    """A file of this machine."""

    __slots__ = ("descriptor",)

    def __init__(self, path: str) -> None:
        self.path = path
        # Opening a pipe must not wait for a writer.
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        self.size = os.fstat(self.descriptor).st_size

    def read_into(self, view: memoryview, position: int) -> int:
        wanted = len(view)
        filled = 0
        while filled < wanted:
            count = os.preadv(self.descriptor, [view[filled:]], position + filled)
            if count == 0:
                break
            filled += count
        return filled

    def read(self, length: int, position: int) -> bytes:
        piece = os.pread(self.descriptor, length, position)
        if len(piece) == length or position + len(piece) >= self.size:
            return piece
        whole = bytearray(length)
        return bytes(whole[: self.read_into(memoryview(whole), position)])

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class RemoteFile(SegmentFile):
    """A file behind pyarrow.fs, read in windows."""

    __slots__ = ("_file", "_window", "_window_at")

    def __init__(self, path: str, opened: Any) -> None:
        self.path = path
        self._file = opened
        self.size = opened.size()
        self._window = b""
        self._window_at = 0

    def read_into(self, view: memoryview, position: int) -> int:
        filled = 0
        wanted = min(len(view), max(0, self.size - position))
        while filled < wanted:
            piece = self._piece(position + filled, wanted - filled)
            if not piece:
                break
            view[filled : filled + len(piece)] = piece
            filled += len(piece)
        return filled

    def read(self, length: int, position: int) -> bytes:
        whole = bytearray(max(0, min(length, self.size - position)))
        return bytes(whole[: self.read_into(memoryview(whole), position)])

    def _piece(self, position: int, length: int) -> memoryview:
        """Return at most `length` bytes at `position`, from the current window or a new one."""
        start = position - self._window_at
        if not 0 <= start < len(self._window):
            self._window = self._file.read_at(_WINDOW_BYTES, position)
            self._window_at = position
            start = 0
        return memoryview(self._window)[start : start + length]

    def close(self) -> None:
        self._file.close()


def is_remote(path: str) -> bool:
    """Return whether a path is a URI of a file system other than this machine's."""
    return "://" in path and not _is_file_uri(path)


def _is_file_uri(path: str) -> bool:
    return path[: len(_FILE)].lower() == _FILE


def local_path(path: str) -> str:
    """Return a path for the operating system, also of `file:/a%20b`, `file:///a%20b`. Raises
    OfflineError for a file URI of another machine.

    A `#` or `?` belongs to the path, quoted or not, as for Hadoop.
    """
    if not _is_file_uri(path):
        return path
    location = path[len(_FILE) :]
    if location.startswith("//"):
        host, slash, rest = location[2:].partition("/")
        if host not in ("", "localhost"):
            raise OfflineError(f"{path} is on another machine")
        location = slash + rest
    return unquote(location)


@lru_cache(maxsize=64)
def file_system(scheme_and_host: str) -> tuple[Any, str]:
    """Return the pyarrow.fs.FileSystem of a URI, and the root in it: a bucket, a container, /.

    Raises OfflineError if pyarrow rejects it: for example an unknown scheme, or a missing library
    (libhdfs).
    """
    from pyarrow import ArrowInvalid, fs

    try:
        system, root = fs.FileSystem.from_uri(scheme_and_host)
    except (ArrowInvalid, OSError) as fault:
        scheme = scheme_and_host.partition(":")[0]  # the rest may be a secret
        raise OfflineError(f"{scheme}: {str(fault).strip()}") from None
    return system, root


def remote_place(path: str) -> tuple[Any, str]:
    """Return (pyarrow file system, path within it); file systems are cached by scheme, host and
    options.
    """
    scheme, _, rest = path.partition("://")
    location, question, options = rest.partition("?")
    host, _, below = location.partition("/")
    system, root = file_system(f"{scheme}://{host}/{question}{options}")
    inner = f"{root.rstrip('/')}/{below}"
    return system, inner if root.startswith("/") else inner.strip("/")


def join(directory: str, name: str) -> str:
    """Return the path of `name` in a directory; a URI keeps its `?options` at the end."""
    location, question, options = _apart(directory)
    return f"{location.rstrip('/')}/{name}{question}{options}"


def split_name(path: str) -> tuple[str, str]:
    """Return (directory, last name) of a path."""
    location, question, options = _apart(path)
    directory, slash, name = location.rstrip("/").rpartition("/")
    if not directory and not is_remote(path):
        directory = slash or "."
    return directory + question + options, name


def _apart(path: str) -> tuple[str, str, str]:
    """Return (location, `?`, options) of a URI; a path of this machine has no options."""
    return path.partition("?") if is_remote(path) else (path, "", "")


def open_file(path: str) -> SegmentFile:
    """Open for reading; raises FileNotFoundError if neither the file nor (on this machine) its
    `.deleted` exists.
    """
    if is_remote(path):
        system, inner = remote_place(path)
        return RemoteFile(path, system.open_input_file(inner))
    try:
        return LocalFile(local_path(path))
    except FileNotFoundError:
        return LocalFile(local_path(path) + DELETED_SUFFIX)


def file_versions(paths: Sequence[str]) -> list[tuple[int, ...]]:
    """Return what distinguishes files of the same name and size: device, inode and time of change,
    or of remote ones the time of change, by one listing per directory.

    Raises FileNotFoundError if a file of this machine does not exist under its name.
    """
    listed: dict[str, dict[str, int]] = {}
    found: list[tuple[int, ...]] = []
    for path in paths:
        if is_remote(path):
            directory, name = split_name(path)
            if directory not in listed:
                listed[directory] = {
                    each.base_name: each.mtime_ns or 0 for each in _infos(directory)
                }
            found.append((listed[directory].get(name, 0),))
        else:
            status = os.stat(local_path(path))
            found.append((status.st_dev, status.st_ino, status.st_mtime_ns))
    return found


def read_small_file(path: str, limit: int = 1 << 30) -> bytes | None:
    """Return all bytes of a file (at most `limit`); None if it does not exist."""
    try:
        with open_file(path) as opened:
            return opened.read(min(opened.size, limit), 0)
    except FileNotFoundError:
        return None


_MOST_LISTINGS: Final = 20


class Listing(NamedTuple):
    """The contents of a directory. `odd`: neither files nor directories (pipes, dangling links) of
    this machine.
    """

    files: dict[str, int]  #: name -> size
    directories: list[str]
    odd: list[str]


def list_directory(path: str) -> Listing | None:
    """Return the contents of a directory, files unsorted; None if it is not a directory."""
    if is_remote(path):
        return _list_remote(path)
    for _ in range(_MOST_LISTINGS):
        found = _list_once(local_path(path))
        if found is None:
            return None
        listed, are_all_there = found
        if are_all_there:
            break
    return Listing(listed.files, sorted(listed.directories), sorted(listed.odd))


def is_dangling(path: str) -> bool:
    """Return whether it is a link (of this machine) to something that does not exist."""
    if is_remote(path):
        return False
    name = local_path(path)
    return os.path.islink(name) and not os.path.exists(name)


def _list_once(path: str) -> tuple[Listing, bool] | None:
    """List once; None if there is no such directory. The flag is False if some entries disappeared
    between the listing and their stat (a rename by compaction or retention).
    """
    listed = Listing({}, [], [])
    are_all_there = True
    try:
        entries = list(os.scandir(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    for entry in entries:
        try:
            if entry.is_dir():
                listed.directories.append(entry.name)
                continue
            if entry.is_file():
                listed.files[entry.name] = entry.stat().st_size
                continue
        except OSError:  # gone meanwhile, or a link that leads nowhere: to itself, through a file
            pass
        if os.path.lexists(entry.path):
            listed.odd.append(entry.name)
        else:
            are_all_there = False
    return listed, are_all_there


def _infos(path: str) -> Any:
    from pyarrow import fs

    system, inner = remote_place(path)
    return system.get_file_info(fs.FileSelector(inner, allow_not_found=False))


def _list_remote(path: str) -> Listing | None:
    from pyarrow import fs

    try:
        found = _infos(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    files = {each.base_name: each.size for each in found if each.type == fs.FileType.File}
    directories = [each.base_name for each in found if each.type == fs.FileType.Directory]
    return Listing(files, sorted(directories), [])
