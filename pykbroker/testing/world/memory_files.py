"""A disk in memory that fails, tears writes, fills up and loses data on purpose.

    name in directory --> MemoryInode --> content as seen now
                                      \\-> durable content + the writes since the last sync

State: a tree of directories; what a crash would leave of it.
In:    the calls of `Files`; faults: `fail`, `broken`, `crash_at`, `capacity_bytes`, `cold`.
Invariants: synced bytes survive `crash()` if their name does; of unsynced writes any prefix, and
       the next one torn, or with `reorder` any subset; changes of a directory survive in order
       (a rename to another directory syncs both). `kill()` is a killed process: nothing is lost.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache, partial
from typing import Protocol, TypeAlias

from pykbroker.environment.files import (
    Buffer,
    ColdRead,
    FileLock,
    Files,
    FileSlice,
    OpenFile,
    Readable,
)
from pykbroker.testing.world.broken_directories import BrokenDirectories


class Dice(Protocol):
    """The random numbers of crashes and torn writes: `random.Random` fits."""

    def randint(self, a: int, b: int, /) -> int: ...


class SimulatedCrash(BaseException):
    """The process or its machine stops at this call; no error handler of the node may catch it."""


class Content:
    """The bytes of a file. What is behind the last byte written is zeros that take no memory."""

    __slots__ = ("_written", "size")

    def __init__(self) -> None:
        self._written = bytearray()
        self.size = 0

    def read(self, length: int, position: int) -> bytes:
        """At most `length` bytes at `position`."""
        end = min(position + length, self.size)
        found = bytes(self._written[position:end])
        return found + bytes(max(end - position - len(found), 0))

    def whole(self) -> bytes:
        """All bytes."""
        return self.read(self.size, 0)

    def change(self, position: int, payload: bytes) -> None:
        """Write at `position`; a negative one truncates or extends to `-1 - position` bytes."""
        if position < 0:
            self.size = -1 - position
            del self._written[self.size :]
            return
        if position > len(self._written):
            self._written.extend(bytes(position - len(self._written)))
        self._written[position : position + len(payload)] = payload
        self.size = max(self.size, position + len(payload))

    def copy(self) -> Content:
        """Return the same bytes, to be changed independently."""
        copied = Content()
        copied._written = bytearray(self._written)
        copied.size = self.size
        return copied


class MemoryInode(Readable):
    """The bytes of one file, now and after a crash."""

    __slots__ = ("content", "durable", "modified_ms", "unsynced")

    def __init__(self) -> None:
        self.content = Content()
        self.durable = Content()
        self.unsynced: list[tuple[int, bytes]] = []
        self.modified_ms = 0

    def pread(self, length: int, position: int) -> bytes:
        return self.content.read(length, position)

    def read_cached(self, length: int, position: int) -> bytes | None:
        found = self.pread(length, position)
        return found if len(found) == length else None

    def is_cached(self, length: int, position: int) -> bool:
        return True

    def warm(self, length: int, position: int) -> None:
        """Do nothing: it is in memory."""

    def fileno(self) -> int:
        raise OSError(errno.EBADF, "a file in memory has no descriptor")

    def write(self, position: int, payload: bytes) -> None:
        self.content.change(position, payload)
        self.unsynced.append((position, payload))

    def truncate(self, length: int) -> None:
        """Recorded as a change with a negative position: -1 - length."""
        self.content.change(-1 - length, b"")
        self.unsynced.append((-1 - length, b""))

    def sync(self) -> None:
        for position, payload in self.unsynced:
            self.durable.change(position, payload)
        self.unsynced.clear()

    def crash(self, dice: Dice, reorder: bool) -> None:
        survivor = self.durable.copy()
        keep = dice.randint(0, len(self.unsynced))
        for number, (position, payload) in enumerate(self.unsynced):
            if reorder:
                if dice.randint(0, 1):
                    survivor.change(position, payload)
            elif number < keep:
                survivor.change(position, payload)
            elif number == keep:
                torn = payload[: dice.randint(0, len(payload))]
                if torn:
                    survivor.change(position, torn)
        self.content = survivor
        self.durable = survivor.copy()
        self.unsynced.clear()


class MemoryDirectory:
    """Names -> files or directories, now and after a crash."""

    __slots__ = ("changes", "durable", "entries")

    def __init__(self) -> None:
        self.entries: dict[str, Node] = {}
        self.durable: dict[str, Node] = {}
        self.changes: list[dict[str, Node | None]] = []

    def change(self, change: dict[str, Node | None]) -> None:
        """One atomic change: names that now stand for a node, or for nothing."""
        apply_names(self.entries, change)
        self.changes.append(change)

    def sync(self) -> None:
        self.durable = dict(self.entries)
        self.changes.clear()

    def crash(self, dice: Dice, reorder: bool) -> None:
        entries = dict(self.durable)
        for change in self.changes[: dice.randint(0, len(self.changes))]:
            apply_names(entries, change)
        self.entries = entries
        self.sync()
        for node in entries.values():
            node.crash(dice, reorder)


Node: TypeAlias = "MemoryInode | MemoryDirectory"


def apply_names(entries: dict[str, Node], change: dict[str, Node | None]) -> None:
    for name, node in change.items():
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node


class MemoryFile(OpenFile):
    """An open file: it stays on its bytes when the name is taken away."""

    __slots__ = ("_files", "_inode", "path", "size")

    def __init__(self, files: MemoryFiles, path: str, inode: MemoryInode) -> None:
        self._files = files
        self._inode = inode
        self.path = path
        self.size = inode.content.size

    def pread(self, length: int, position: int) -> bytes:
        self._files.call_read("pread", self.path)
        return self._inode.pread(length, position)

    def read_cached(self, length: int, position: int) -> bytes | None:
        return self._inode.read_cached(length, position)

    def is_cached(self, length: int, position: int) -> bool:
        return self.path not in self._files.cold

    def warm(self, length: int, position: int) -> None:
        self._files.cold.discard(self.path)

    def fileno(self) -> int:
        return self._inode.fileno()

    def slice(self, position: int, length: int) -> FileSlice:
        return FileSlice(self._inode, position, length)

    def pwritev(self, parts: Sequence[Buffer], position: int) -> int:
        payload = b"".join(parts)
        self._files.write_payload(self._inode, self.path, payload, position)
        if position + len(payload) > self.size:
            self.size = position + len(payload)
        return len(payload)

    def truncate(self, length: int) -> None:
        self._files.call("truncate", self.path)
        self._inode.truncate(length)
        self.size = length

    def sync(self) -> None:
        self._files.call("sync", self.path)
        self._inode.sync()

    def pinned_sync(self) -> Callable[[], None]:
        return self.sync

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


class MemoryLock(FileLock):
    def __init__(self, held: set[str], path: str) -> None:
        self._held = held
        self._path = path

    def release(self) -> None:
        self._held.discard(self._path)


class MemoryFiles(Files):
    """A whole file system in memory. Its root "/" exists."""

    def __init__(self) -> None:
        super().__init__()
        self.root = MemoryDirectory()
        self.calls = 0
        self.now_ms = 0
        self.capacity_bytes = 1 << 62
        self.crash_at: int | None = None
        """The number of the first call at which SimulatedCrash is raised."""
        self.fail: Callable[[str, str], OSError | None] | None = None
        """Asked in each counted call, with its name and path: an OSError to raise, or None."""
        self.broken = BrokenDirectories()
        self.cold: set[str] = set()
        """Files that the page cache does not hold, until they are fetched."""
        self.dice: Dice | None = None
        self._is_peeked = False
        self._locks: set[str] = set()
        self._drawn = 0

    @contextmanager
    def peeked(self) -> Iterator[None]:
        """Let the world read the disk: its calls are not counted and meet no fault."""
        before, self._is_peeked = self._is_peeked, True
        try:
            yield
        finally:
            self._is_peeked = before

    def call(self, name: str, path: str) -> None:
        if self._is_peeked:
            return
        self.calls += 1
        if self.crash_at is not None and self.calls >= self.crash_at:
            raise SimulatedCrash(f"call {self.calls}: {name} {path}")
        if self.fail is not None:
            error = self.fail(name, path)
            if error is not None:
                raise error
        self.broken.meet(name, path)

    def call_read(self, name: str, path: str) -> None:
        if not self.may_wait and path in self.cold and not self._is_peeked:
            raise ColdRead(partial(self.cold.discard, path))
        self.call(name, path)

    def crash(self, dice: Dice, reorder: bool = False) -> None:
        """Lose power: only what was synced is sure to survive. Locks are released."""
        self.root.crash(dice, reorder)
        self.kill()

    def kill(self) -> None:
        """Kill the process: the kernel keeps every byte. Locks are released."""
        self.crash_at = self.fail = None
        self._locks.clear()

    def hand_over(self) -> MemoryFiles:
        """Return the same disk for the next process, with its broken directories and without its
        other faults; counted calls of this object now crash.
        """
        following = MemoryFiles()
        following.root = self.root
        following.calls = self.calls
        following.now_ms = self.now_ms
        following.capacity_bytes = self.capacity_bytes
        following.dice = self.dice
        following.broken = self.broken
        following._drawn = self._drawn
        self.crash_at = 0
        return following

    def used_bytes(self) -> int:
        return used_bytes(self.root)

    def write_payload(self, inode: MemoryInode, path: str, payload: bytes, position: int) -> None:
        """Write; at a crash or an error a random part (none without `dice`), or what fits."""
        room = self.capacity_bytes - self.used_bytes() if self.capacity_bytes < 1 << 62 else None
        try:
            self.call("write", path)
        except (SimulatedCrash, OSError):
            if self.dice is not None and payload:
                inode.write(position, payload[: self.dice.randint(0, len(payload))])
            raise
        growth = position + len(payload) - inode.content.size
        if room is not None and growth > room:
            fits = max(len(payload) - (growth - max(room, 0)), 0)
            inode.write(position, payload[:fits])
            raise OSError(errno.ENOSPC, "no space left on device", path)
        inode.write(position, payload)
        inode.modified_ms = self.now_ms

    def open(self, path: str, create: bool = False) -> OpenFile:
        self.call("open", path)
        return MemoryFile(self, path, self._inode(path, create))

    def read_file(self, path: str) -> bytes:
        self.call_read("read", path)
        return self._inode(path).content.whole()

    def read_range(self, path: str, position: int, length: int) -> bytes:
        self.call_read("read", path)
        return self._inode(path).pread(length, position)

    def write_file(self, path: str, payload: Buffer, sync: bool = False) -> None:
        self.call("open", path)
        inode = self._inode(path, create=True)
        inode.truncate(0)
        self.write_payload(inode, path, bytes(payload), 0)
        if sync:
            self.call("sync", path)
            inode.sync()

    def resize(self, path: str, length: int) -> None:
        self.call("truncate", path)
        self._inode(path, create=True).truncate(length)

    def exists(self, path: str) -> bool:
        return self._find(path) is not None

    def is_dir(self, path: str) -> bool:
        return isinstance(self._find(path), MemoryDirectory)

    def size(self, path: str) -> int:
        return self._inode(path).content.size

    def listdir(self, path: str) -> list[str]:
        if not self._is_peeked:
            self.broken.meet("list", path)
        return sorted(self._directory(path).entries)

    def list_sizes(self, path: str) -> dict[str, int]:
        return {
            name: node.content.size
            for name, node in sorted(self._directory(path).entries.items())
            if isinstance(node, MemoryInode)
        }

    def mkdir(self, path: str) -> None:
        directory = self.root
        for name in split(path):
            child = directory.entries.get(name)
            if child is None:
                self.call("mkdir", path)
                child = MemoryDirectory()
                directory.change({name: child})
            if not isinstance(child, MemoryDirectory):
                raise FileExistsError(errno.EEXIST, "exists", path)
            directory = child

    def rename(self, old: str, new: str) -> None:
        """Atomic, as on a journalling file system."""
        self.call("rename", old)
        node = self._find(old)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such file", old)
        source, source_name = self._parent(old)
        target, target_name = self._parent(new)
        if source is target:
            if old != new:
                source.change({target_name: node, source_name: None})
            return
        target.change({target_name: node})
        source.change({source_name: None})
        target.sync()
        source.sync()

    def unlink(self, path: str, missing_ok: bool = True) -> None:
        self.call("unlink", path)
        directory, name = self._parent(path)
        if name in directory.entries:
            directory.change({name: None})
        elif not missing_ok:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)

    def remove_tree(self, path: str) -> None:
        self.call("unlink", path)
        self._directory(path)
        directory, name = self._parent(path)
        directory.change({name: None})

    def sync_file(self, path: str) -> None:
        self.call("sync", path)
        self._inode(path).sync()

    def sync_dir(self, path: str) -> None:
        self.call("sync", path)
        self._directory(path).sync()

    def modified_ms(self, path: str) -> int:
        return self._inode(path).modified_ms

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        self._inode(path).modified_ms = modified_ms

    def make_read_only(self, path: str) -> None:
        self._inode(path)  # must be there; the one owner of this disk may do everything

    def disk_usage(self, path: str) -> tuple[int, int]:
        return self.capacity_bytes, self.capacity_bytes - self.used_bytes()

    def unique_id(self) -> str:
        self._drawn += 1
        return f"{self._drawn:032x}"

    def lock(self, path: str) -> FileLock | None:
        if path in self._locks:
            return None
        self._inode(path, create=True)
        self._locks.add(path)
        return MemoryLock(self._locks, path)

    def alone(self, path: str) -> AbstractContextManager[object]:
        return nullcontext()  # jobs of simulated threads run one after the other

    def _find(self, path: str) -> Node | None:
        node: Node | None = self.root
        for name in split(path):
            if not isinstance(node, MemoryDirectory):
                return None
            node = node.entries.get(name)
        return node

    def _parent(self, path: str) -> tuple[MemoryDirectory, str]:
        directory, _, name = path.rpartition("/")
        return self._directory(directory), name

    def _directory(self, path: str) -> MemoryDirectory:
        node = self._find(path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such directory", path)
        if not isinstance(node, MemoryDirectory):
            raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)
        return node

    def _inode(self, path: str, create: bool = False) -> MemoryInode:
        node = self._find(path)
        if node is None and create:
            node = MemoryInode()
            node.modified_ms = self.now_ms
            directory, name = self._parent(path)
            directory.change({name: node})
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        if not isinstance(node, MemoryInode):
            raise IsADirectoryError(errno.EISDIR, "is a directory", path)
        return node


@lru_cache(4096)
def split(path: str) -> tuple[str, ...]:
    return tuple(filter(None, path.split("/")))


def used_bytes(directory: MemoryDirectory) -> int:
    return sum(
        node.content.size if isinstance(node, MemoryInode) else used_bytes(node)
        for node in directory.entries.values()
    )
