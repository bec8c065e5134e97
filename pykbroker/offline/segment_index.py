"""The indexes of a segment, and the search for intact batches.

Index files may be missing, truncated, padded with zeros (preallocated), out of order, or from
another segment. Of an offset or time index, the leading entries that ascend are returned; whether a
batch begins at the position of an offset entry is checked separately.
"""

from __future__ import annotations

import errno
import os
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final, overload

import numpy as np

from pykbroker.log.segments.txn_index import AbortedTxn, TransactionIndex
from pykbroker.offline.batch_headers import Integers, header_fault
from pykbroker.offline.split import MAX_SEGMENT_OFFSETS
from pykbroker.offline.storage import LocalFile, SegmentFile, open_file, read_small_file
from pykbroker.protocol.crc32c import crc32c
from pykbroker.protocol.record_batch import (
    ATTRIBUTES_AT,
    HEADER,
    LOG_OVERHEAD,
    MAGIC_AT,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
    check_crc,
    stored_crc,
)

_OFFSET_ENTRY: Final = np.dtype([("offset", ">i4"), ("position", ">i4")])
_TIME_ENTRY: Final = np.dtype([("timestamp", ">i8"), ("offset", ">i4")])
_PIECE_BYTES: Final = 1 << 20
#: Batches above this are read only if their checksum is right.
_WHOLE_BYTES: Final = 8 << 20
_ZEROS: Final = bytes(_PIECE_BYTES)


class Entries(Sequence[tuple[int, int]]):
    """Two columns of equal length; a pair is created only when it is requested.

    A segment of 1 GB has some 200,000 entries, of which a plan reads twenty.
    """

    __slots__ = ("_left", "_right")

    def __init__(self, left: Integers, right: Integers) -> None:
        self._left = left
        self._right = right

    def __len__(self) -> int:
        return int(self._left.size)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, index: slice) -> Entries: ...
    def __getitem__(self, index: int | slice) -> tuple[int, int] | Entries:
        if isinstance(index, slice):
            return Entries(self._left[index], self._right[index])
        return int(self._left[index]), int(self._right[index])


def offset_entries(path: str | None, base_offset: int, log_bytes: int) -> Entries:
    """Return the plausible (offset, position) entries: ascending, inside the log."""
    offsets, positions = _columns(path, _OFFSET_ENTRY)
    keep = _ascending(offsets, positions)
    keep = min(keep, int(np.searchsorted(positions[:keep], log_bytes, side="left")))
    return Entries(offsets[:keep] + base_offset, positions[:keep])


def time_entries(path: str | None, base_offset: int) -> Entries:
    """Return the plausible (timestamp, offset) entries: ascending from the first on."""
    times, offsets = _columns(path, _TIME_ENTRY)
    keep = times.size
    if keep and offsets[0] < 0:
        keep = 0
    sound = (np.diff(times) > 0) & (np.diff(offsets) >= 0)
    if keep and not sound.all():
        keep = int(np.argmin(sound)) + 1
    return Entries(times[:keep], offsets[:keep] + base_offset)


def _columns(path: str | None, entry: np.dtype[Any]) -> tuple[Integers, Integers]:
    """Return both columns of an index, in the machine's byte order."""
    table = np.frombuffer(_used_bytes(path, entry.itemsize), entry)
    left, right = (table[name].astype(np.int64) for name in entry.names or ())
    return left, right


def _used_bytes(path: str | None, entry_bytes: int) -> bytes:
    """Return the entries before the zeros at the end: the index of a live log is preallocated (10
    MB).
    """
    if path is None:
        return b""
    try:
        with open_file(path) as opened:
            low, high = 0, opened.size // entry_bytes
            while low < high:
                middle = (low + high) // 2
                if any(opened.read(entry_bytes, middle * entry_bytes)):
                    low = middle + 1
                else:
                    high = middle
            return opened.read(low * entry_bytes, 0)
    except OSError:  # missing or unreadable: more of the log is read instead
        return b""


def aborted_transactions(path: str | None, base_offset: int) -> list[AbortedTxn] | None:
    """Return the entries of a transaction index; None if damaged, empty without a file."""
    payload = read_small_file(path) if path is not None else None
    if not payload:
        return []
    index = TransactionIndex(base_offset, payload)
    return list(index) if index.check() is None else None


def _ascending(offsets: np.ndarray, positions: np.ndarray) -> int:
    """Return how many leading entries ascend strictly in both columns."""
    if not offsets.size or offsets[0] < 0 or positions[0] < 0:
        return 0
    sound = (np.diff(offsets) > 0) & (np.diff(positions) > 0)
    return int(np.argmin(sound)) + 1 if not sound.all() else int(offsets.size)


def batch_at(opened: SegmentFile, position: int, end: int) -> BatchHeader | None:
    """Return the header of a whole batch of magic 2 with a valid checksum at this position, or
    None.
    """
    head = opened.read(RECORD_BATCH_OVERHEAD, position)
    if len(head) < RECORD_BATCH_OVERHEAD:
        return None
    header = BatchHeader(*HEADER.unpack(head))
    size = header.batch_length + LOG_OVERHEAD
    if header.magic != MAGIC_V2 or not RECORD_BATCH_OVERHEAD <= size <= end - position:
        return None
    return header if sound_batch(opened, position, size) is not None else None


def sound_batch(opened: SegmentFile, position: int, size: int) -> bytes | None:
    """Return the bytes of a whole batch with a valid checksum, or None. A wrong length allocates at
    most 8 MiB.
    """
    if size > _WHOLE_BYTES and not _has_right_checksum(opened, position, size):
        return None
    batch = opened.read(size, position)
    return batch if len(batch) == size and check_crc(batch) else None


def _has_right_checksum(opened: SegmentFile, position: int, size: int) -> bool:
    """Check the checksum of a large batch, reading it piece by piece."""
    at, end = position + ATTRIBUTES_AT, position + size
    found = 0
    while at < end:
        piece = opened.read(min(_PIECE_BYTES, end - at), at)
        if not piece:
            return False  # the file was truncated meanwhile
        found = crc32c(piece, found)
        at += len(piece)
    return found == stored_crc(opened.read(RECORD_BATCH_OVERHEAD, position))


def entry_batch(opened: SegmentFile, entry: tuple[int, int], end: int) -> BatchHeader | None:
    """Return the header of the intact batch that an offset index entry points to, if the batch does
    not begin after the entry's offset; else None.
    """
    offset, position = entry
    header = batch_at(opened, position, end)
    return header if header is not None and header.base_offset <= offset else None


def is_entry_true(opened: SegmentFile, entry: tuple[int, int], end: int) -> bool:
    return entry_batch(opened, entry, end) is not None


def written_from(opened: SegmentFile, position: int, end: int) -> int:
    """Return the position before which there are only zeros, as far as the file system reports
    holes.
    """
    if not isinstance(opened, LocalFile):
        return position
    try:
        return min(end, os.lseek(opened.descriptor, position, os.SEEK_DATA))
    except OSError as fault:  # ENXIO: nothing but a hole up to the end of the file
        return end if fault.errno == errno.ENXIO else position


def next_batch(opened: SegmentFile, position: int, end: int, offsets: range) -> int | None:
    """Return the position of the first intact batch after `position` whose base offset is in
    `offsets`; None if none ends by `end`.

    Every byte is tried, a piece of the file at a time; checksums are computed only where a header
    is possible.
    """
    start = position + 1
    while end - start >= RECORD_BATCH_OVERHEAD:
        piece = opened.read(min(_PIECE_BYTES, end - start), start)
        slots = len(piece) - RECORD_BATCH_OVERHEAD + 1
        if slots <= 0:
            return None  # the file was truncated meanwhile
        if piece == _ZEROS[: len(piece)]:  # of a preallocated file: no header is all zeros
            start = max(start + slots, written_from(opened, start, end) - RECORD_BATCH_OVERHEAD)
            continue
        area = np.frombuffer(piece, np.uint8)
        possible = area[MAGIC_AT : MAGIC_AT + slots] == MAGIC_V2
        possible &= area[:slots] == 0  # no base offset is that high
        for inside in np.flatnonzero(possible).tolist():
            header = BatchHeader(*HEADER.unpack_from(piece, inside))
            if header.base_offset not in offsets or header_fault(header) is not None:
                continue
            if batch_at(opened, start + inside, end) is not None:
                return int(start + inside)
        start += slots
    return None


class KnownBatches:
    """Where to resume when the next batch cannot be located: at the next correct index entry.

    If there is none, at the next intact batch of magic 2 whose base offset can follow: it is not
    below the caller's limit or, without one, above that of the corrupt batch if that is plausible.

    State: the entries, read when first needed; a run of entries that were checked and are wrong, so
    that an index that is wrong as a whole is not checked again for every corrupt batch.
    """

    __slots__ = ("_base_offset", "_entries", "_index_path", "_opened", "_wrong")

    def __init__(self, opened: SegmentFile, index_path: str | None, base_offset: int) -> None:
        self._opened = opened
        self._index_path = index_path
        self._base_offset = base_offset
        self._entries: Entries | None = None
        self._wrong = range(0)

    def between(self, position: int, end: int) -> int | None:
        """Return the position of the first correct index entry after `position` and before `end`,
        or None.
        """
        if self._entries is None:
            size = self._opened.size
            self._entries = offset_entries(self._index_path, self._base_offset, size)
        slot = bisect_right(self._entries, position, key=lambda entry: entry[1])
        first = slot
        found: int | None = None
        while found is None and slot < len(self._entries) and self._entries[slot][1] < end:
            if slot in self._wrong:
                slot = self._wrong.stop
            elif is_entry_true(self._opened, self._entries[slot], self._opened.size):
                found = self._entries[slot][1]
            else:
                slot += 1
        if self._wrong.start <= first <= self._wrong.stop:
            first, slot = self._wrong.start, max(slot, self._wrong.stop)
        self._wrong = range(first, slot)
        return found

    def after(self, position: int, end: int, low: int | None = None) -> int:
        """Return the position of the next known batch after `position`, or `end`.

        Index entries are checked against the whole file. Without one, the batch must end by `end`.
        `low`: no offset below it can follow, if that is known.
        """
        known = self.between(position, self._opened.size)
        if known is not None:
            return min(known, end)
        offsets = self._offsets_behind(position)
        if low is not None:
            offsets = range(low, self._base_offset + MAX_SEGMENT_OFFSETS)
        found = next_batch(self._opened, position, end, offsets)
        return end if found is None else found

    def _offsets_behind(self, position: int) -> range:
        """Return the offsets after the corrupt batch if its own is plausible: its records may
        contain batches.
        """
        offsets = range(self._base_offset, self._base_offset + MAX_SEGMENT_OFFSETS)
        base = int.from_bytes(self._opened.read(8, position), "big", signed=True)
        return range(base + 1, offsets.stop) if base in offsets else offsets
