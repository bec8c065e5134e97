"""The files behind the three indexes of a segment: read, written back, cut and dropped.

State: the index itself (offset_index, time_index, txn_index: bytes in, bytes out), loaded at first
use; entries that are not yet in the file; whether the file is preallocated.
In:    entries, look-ups. Out: the results of look-ups; OSError, CorruptIndex.

After a crash the offset and time indexes past the recovery point are rebuilt, so their entries may
stay in memory until a flush (`write_back`); those of the transaction index are written at once.
`IndexMemory` may drop loaded indexes of closed segments.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar, Generic, TypeVar

from pykbroker.environment.files import Files
from pykbroker.environment.index_memory import Droppable, IndexMemory
from pykbroker.log.producers.producer_state import CompletedTxn
from pykbroker.log.segments.offset_index import OffsetIndex
from pykbroker.log.segments.time_index import TimeIndex
from pykbroker.log.segments.txn_index import AbortedTxn, TransactionIndex

IndexT = TypeVar("IndexT", OffsetIndex, TimeIndex, TransactionIndex)


class CorruptIndex(Exception):
    """The content of an index file is invalid (`LocalLog.guarded` has it rebuilt)."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"corrupt index {path}: {reason}")
        self.path = path


class IndexFile(Droppable, Generic[IndexT]):
    """One index and its file."""

    __slots__ = (
        "_index",
        "_is_writable",
        "_preallocated",
        "_unwritten",
        "base_offset",
        "files",
        "max_bytes",
        "memory",
        "path",
    )

    def __init__(
        self,
        files: Files,
        path: str,
        base_offset: int,
        max_bytes: int,
        memory: IndexMemory | None = None,
    ) -> None:
        self.files = files
        self.path = path
        self.base_offset = base_offset
        self.max_bytes = max_bytes
        self.memory = memory
        self._index: IndexT | None = None
        self._unwritten = bytearray()
        self._is_writable = False
        self._preallocated = False

    @abstractmethod
    def make(self, payload: bytes) -> IndexT:
        """Create the index over the content of the file."""

    def fault_of(self, index: IndexT) -> str | None:
        """Return what is wrong with the content, if the index alone shows it."""
        return index.check()

    @property
    def index(self) -> IndexT:
        index = self._index
        if index is None:
            try:
                payload = self.files.read_file(self.path)
            except FileNotFoundError:
                payload = b""
            try:
                index = self.make(payload)
            except ValueError as fault:
                raise CorruptIndex(self.path, str(fault)) from None
            reason = self.fault_of(index)
            if reason is not None:
                raise CorruptIndex(self.path, reason)
            self._index = index
            if self.memory is not None and not self._is_writable:
                self.memory.loaded(self, index.size_bytes)
        return index

    def load(self) -> None:
        """Read the file, unless its content is in memory."""
        _ = self.index

    def drop(self) -> None:
        """Drop the content, unless entries are not in the file yet or the file is preallocated."""
        if not self._unwritten and not self._is_writable:
            self._index = None

    def unload(self) -> None:
        """Stop counting the index's memory and `drop` it, because the segment is released."""
        if self.memory is not None:
            self.memory.forget(self)
        self.drop()

    def write_back(self) -> None:
        unwritten = self._unwritten
        if unwritten:
            file = self.files.open(self.path, create=True)
            file.pwritev([unwritten], self.index.size_bytes - len(unwritten))
            file.close()
            self._unwritten = bytearray()

    def flush(self) -> None:
        """Write back entries and fsync."""
        self.write_back()
        if self.files.exists(self.path):
            self.files.sync_file(self.path)

    def reset(self) -> None:
        """Make the index empty, whatever the file holds."""
        self._index = self.make(b"")
        self._unwritten = bytearray()
        self._cut()

    def truncate_to(self, offset: int) -> None:
        """Remove the entries with offsets >= `offset`."""
        self.write_back()
        index = self.index
        before = index.size_bytes
        index.truncate_to(offset)
        if index.size_bytes != before:
            self._cut()

    def _cut(self) -> None:
        if self.files.exists(self.path):
            self.files.resize(self.path, self.index.size_bytes)
        self._preallocated = False

    def rename(self, new_path: str) -> None:
        """Rename the file. It may be missing, if the index never received an entry."""
        try:
            self.files.rename(self.path, new_path)
        except FileNotFoundError:
            if self.files.exists(self.path):
                raise
        self.path = new_path


EntryIndexT = TypeVar("EntryIndexT", OffsetIndex, TimeIndex)


class PreallocatedIndexFile(IndexFile[EntryIndexT]):
    """An offset or time index, allocated at its maximum size while its segment is writable.

    The tail is a hole of zeros, as in Apache's memory-mapped indexes.
    """

    __slots__ = ()

    ENTRY_BYTES: ClassVar[int]

    @property
    def is_full(self) -> bool:
        return self.index.is_full

    def preallocate(self) -> None:
        """Extend the file, because the segment became writable."""
        self.load()
        if self.memory is not None:
            self.memory.forget(self)
        self._is_writable = True
        if not self._preallocated:
            self.files.resize(self.path, self.max_bytes - self.max_bytes % self.ENTRY_BYTES)
            self._preallocated = True

    def trim(self) -> None:
        """Cut the file to its entries, because the segment is closed or was indexed again."""
        self.write_back()
        self.files.resize(self.path, self.index.size_bytes)
        self._preallocated = False
        self._is_writable = False
        if self.memory is not None:
            self.memory.loaded(self, self.index.size_bytes)


class OffsetIndexFile(PreallocatedIndexFile[OffsetIndex]):
    """The offset index file: offset -> position."""

    __slots__ = ()

    ENTRY_BYTES = OffsetIndex.ENTRY.size

    def make(self, payload: bytes) -> OffsetIndex:
        return OffsetIndex(self.base_offset, self.max_bytes, payload)

    def fault_of(self, index: OffsetIndex) -> str | None:
        """Check nothing, because each look-up checks the entry it uses."""
        return None

    @property
    def last_offset(self) -> int:
        return self.index.last_offset

    def lookup(self, offset: int) -> tuple[int, int]:
        """Return the entry with the greatest offset <= `offset`; (base offset, 0)
        if there is none.
        """
        return self.index.lookup(offset)

    def append(self, offset: int, position: int) -> None:
        self._unwritten += self.index.append(offset, position)

    def upper_bound(self, position: int, size: int) -> tuple[int, int] | None:
        """Return the first entry at or after position + size; None if there is none."""
        return self.index.upper_bound(position, size)


class TimeIndexFile(PreallocatedIndexFile[TimeIndex]):
    """The time index file: timestamp -> offset."""

    __slots__ = ()

    ENTRY_BYTES = TimeIndex.ENTRY.size

    def make(self, payload: bytes) -> TimeIndex:
        return TimeIndex(self.base_offset, self.max_bytes, payload)

    @property
    def last_entry(self) -> tuple[int, int]:
        """Return the last entry; (-1, base offset) if there is none. Retention often needs no
        other, so if the rest is not loaded and the file is not preallocated, it is read alone.
        """
        if self._index is None:
            entry = self._read_last_entry()
            if entry is not None:
                return entry
        return self.index.last_entry

    def _read_last_entry(self) -> tuple[int, int] | None:
        try:
            size = self.files.size(self.path)
        except FileNotFoundError:
            return None
        if not size or size % self.ENTRY_BYTES:
            return None
        tail = self.files.read_range(self.path, size - self.ENTRY_BYTES, self.ENTRY_BYTES)
        index = self.make(tail)
        return index.last_entry if index.entry_count else None

    def lookup(self, timestamp: int) -> tuple[int, int]:
        return self.index.lookup(timestamp)

    def append(self, timestamp: int, offset: int, *, force: bool = False) -> None:
        """Append an entry if it is later than the last one; with `force`,
        even if the index is full.
        """
        self._unwritten += self.index.append(timestamp, offset, force=force)


class TxnIndexFile(IndexFile[TransactionIndex]):
    """The aborted transactions; the file is created with the first one."""

    __slots__ = ()

    def make(self, payload: bytes) -> TransactionIndex:
        return TransactionIndex(self.base_offset, payload)

    @property
    def is_empty(self) -> bool:
        return not self.index.size_bytes

    def append_aborted(self, completed: CompletedTxn) -> bool:
        """Add a transaction; return True if it is the first, which creates a missing file."""
        is_first = self.is_empty
        self._unwritten += self.index.append(_entry_of(completed))
        self.write_back()
        return is_first

    def rewrite(self, aborted: Iterable[CompletedTxn]) -> None:
        """Make these the only entries, whatever the file holds.

        Entries that the file has already are not written again, because those below the recovery
        point are synced. Other content is replaced and synced here, or the file is deleted if there
        are no entries.
        """
        index = self.make(b"")
        for completed in aborted:
            index.append(_entry_of(completed))
        payload = index.to_bytes()
        try:
            before = self.files.read_file(self.path)
        except FileNotFoundError:
            before = b""
        self._index = index
        self._unwritten = bytearray()
        if payload.startswith(before):
            self._unwritten += payload[len(before) :]
            self.write_back()
        elif payload:
            self.files.write_file(self.path, payload, sync=True)
        else:
            self.files.unlink(self.path)

    def collect(self, fetch_offset: int, upper_bound: int) -> tuple[list[AbortedTxn], bool]:
        """See `TransactionIndex.collect`."""
        return self.index.collect(fetch_offset, upper_bound)


def _entry_of(completed: CompletedTxn) -> AbortedTxn:
    return AbortedTxn(
        completed.producer_id,
        completed.first_offset,
        completed.last_offset,
        completed.last_stable_offset,
    )
