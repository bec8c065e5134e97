"""The transaction index of a segment: the aborted transactions whose markers are in it.

    <base offset>.txnindex:  int16 version = 0 | int64 producer id | int64 first offset |
                             int64 last offset (the marker's) | int64 last stable offset

34 bytes per entry, sorted by last offset; absolute offsets. The last stable offset is that of the
log after the transaction ended: a reader up to there needs no further entries.

State   the entries as one bytearray; the file exists only once there is one.
Out     bytes to append to the file. Source: Kafka's TransactionIndex.java, AbortedTxn.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from pykbroker.values import NamedTuple

_ENTRY = struct.Struct(">hqqqq")
ENTRY_BYTES = _ENTRY.size
_VERSION = 0


class CorruptTransactionIndex(Exception):
    """The bytes are not a transaction index."""


class AbortedTxn(NamedTuple):
    """One aborted transaction of one producer in one partition."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    """The aborted transactions of one segment, by the offset of their marker."""

    __slots__ = ("_entries", "base_offset")

    def __init__(self, base_offset: int, payload: bytes = b"") -> None:
        self.base_offset = base_offset
        self._entries = bytearray(payload)

    @property
    def size_bytes(self) -> int:
        return len(self._entries)

    @property
    def last_offset(self) -> int:
        """The offset of the last marker, -1 if there is none."""
        if len(self._entries) < ENTRY_BYTES:
            return -1
        last: int = _ENTRY.unpack_from(self._entries, len(self._entries) - ENTRY_BYTES)[3]
        return last

    def to_bytes(self) -> bytes:
        return bytes(self._entries)

    def __iter__(self) -> Iterator[AbortedTxn]:
        whole = len(self._entries) // ENTRY_BYTES * ENTRY_BYTES
        for version, *fields in _ENTRY.iter_unpack(self._entries[:whole]):
            if version < _VERSION:
                raise CorruptTransactionIndex(f"entry of version {version}")
            yield AbortedTxn(*fields)

    def append(self, aborted: AbortedTxn) -> bytes:
        """Add an entry; return the bytes for the file. Raises ValueError if
        its marker is not the last.
        """
        if aborted.last_offset <= self.last_offset:
            raise ValueError(f"marker at {aborted.last_offset} is not above {self.last_offset}")
        added = _ENTRY.pack(_VERSION, *aborted)
        self._entries += added
        return added

    def collect(self, fetch_offset: int, upper_bound_offset: int) -> tuple[list[AbortedTxn], bool]:
        """Return the aborted transactions that a read of [fetch, upper bound) may encounter.

        Also returns whether the result is complete; False if later segments have to be consulted.
        """
        found: list[AbortedTxn] = []
        for aborted in self:
            if aborted.last_offset >= fetch_offset and aborted.first_offset < upper_bound_offset:
                found.append(aborted)
            if aborted.last_stable_offset >= upper_bound_offset:
                return found, True
        return found, False

    def truncate_to(self, offset: int) -> None:
        """Remove transactions whose marker is at or after `offset`."""
        keep = 0
        for aborted in self:
            if aborted.last_offset >= offset:
                break
            keep += ENTRY_BYTES
        del self._entries[keep:]

    def check(self) -> str | None:
        """Return what is wrong with the entries; None if nothing is."""
        if len(self._entries) % ENTRY_BYTES:
            return f"{len(self._entries)} bytes are not complete entries of a transaction index"
        last = -1
        try:
            for aborted in self:
                if aborted.last_offset < self.base_offset or aborted.last_offset <= last:
                    return f"{aborted} is out of order in the transaction index"
                last = aborted.last_offset
        except CorruptTransactionIndex as fault:
            return f"{fault} in the transaction index"
        return None
