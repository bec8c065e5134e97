"""Findings about the offset and time index of a segment.

`log/segments/index_verification.py` defines what is correct in an index; this module reads the
files, from a file system or an object store.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import numpy as np

from pykbroker.log.segments.index_verification import (
    BatchColumns,
    wrong_offset_entries,
    wrong_time_entries,
)
from pykbroker.offline.findings import ERROR, WARNING, Finding
from pykbroker.offline.partition_files import SegmentFiles
from pykbroker.offline.split import END_OF_TIME
from pykbroker.offline.storage import open_file, read_small_file
from pykbroker.values import NamedTuple

_OFFSET_ENTRY: Final = np.dtype([("offset", ">i4"), ("position", ">i4")])
_TIME_ENTRY: Final = np.dtype([("timestamp", ">i8"), ("offset", ">i4")])
#: Of the wrong entries of one file so many are told one by one.
_MOST: Final = 5


class Batches(NamedTuple):
    """The batches of a segment, as columns."""

    positions: Any
    base: Any
    last: Any
    max_timestamp: Any

    @classmethod
    def joined(cls, parts: list[Batches]) -> Batches:
        if not parts:
            return cls(*(np.zeros(0, np.int64) for _ in cls._fields))
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def columns(self) -> BatchColumns:
        """Return the columns as lists."""
        return BatchColumns(*(column.tolist() for column in self))


def _entries(path: str | None, kind: Any) -> Any:
    """Return all entries of an index file without the zeros of a preallocated one; None if there is
    no file.
    """
    payload = read_small_file(path) if path is not None else None
    if payload is None:
        return None
    table = np.frombuffer(payload[: len(payload) // kind.itemsize * kind.itemsize], kind)
    used = np.flatnonzero(table.view(np.uint8).reshape(len(table), kind.itemsize).any(axis=1))
    return table[: int(used[-1]) + 1] if used.size else table[:0]


def check_offset_index(
    segment: SegmentFiles, batches: Batches, is_last: bool, behind: int = END_OF_TIME
) -> Iterator[Finding]:
    """Report the first few wrong entries of the offset index, and (not of the last segment) that it
    is missing or ends in half an entry; entries of offsets from `behind` on are ignored.
    """
    entries = _entries(segment.index_path, _OFFSET_ENTRY)
    path = segment.index_path or segment.beside(".index")
    if entries is None:
        if not is_last:
            yield Finding(WARNING, "index", path, None, None, "there is no offset index")
        return
    if not is_last:
        yield from _half_entry("index", path, _OFFSET_ENTRY.itemsize)
    entries = entries[entries["offset"].astype(np.int64) + segment.base_offset < behind]
    offsets = (entries["offset"].astype(np.int64) + segment.base_offset).tolist()
    pairs = list(zip(offsets, entries["position"].tolist(), strict=True))
    for number, why in islice(wrong_offset_entries(pairs, batches.columns()), _MOST):
        yield _wrong("index", path, number * _OFFSET_ENTRY.itemsize, offsets[number], number, why)


def _half_entry(check: str, path: str, entry_bytes: int) -> Iterator[Finding]:
    """Report bytes after the last whole entry; a broker rebuilds such an index."""
    with open_file(path) as opened:
        size = opened.size
    if size % entry_bytes:
        detail = f"{size} bytes are not a whole number of {entry_bytes}-byte entries"
        yield Finding(WARNING, check, path, size - size % entry_bytes, None, detail)


def _wrong(check: str, path: str, position: int, offset: int, number: int, why: str) -> Finding:
    return Finding(ERROR, check, path, position, offset, f"entry {number}: {why}")


def check_time_index(
    segment: SegmentFiles, batches: Batches, is_last: bool, behind: int = END_OF_TIME
) -> Iterator[Finding]:
    """Report the first few wrong entries of the time index, if there is one, and (not of the last
    segment) that it ends in half an entry; entries of offsets from `behind` on are ignored.
    """
    entries = _entries(segment.time_index_path, _TIME_ENTRY)
    path = segment.time_index_path
    if path is None or entries is None or not len(batches.base):
        return
    if not is_last:
        yield from _half_entry("time index", path, _TIME_ENTRY.itemsize)
    entries = entries[entries["offset"].astype(np.int64) + segment.base_offset < behind]
    offsets = (entries["offset"].astype(np.int64) + segment.base_offset).tolist()
    pairs = list(zip(entries["timestamp"].tolist(), offsets, strict=True))
    for number, why in islice(wrong_time_entries(pairs, batches.columns()), _MOST):
        position = number * _TIME_ENTRY.itemsize
        yield _wrong("time index", path, position, offsets[number], number, why)
