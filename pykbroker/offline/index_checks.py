"""The entries of offset and time indexes against the batches of their segment.

    index        an entry points at the beginning of a batch at or before its offset, and before
                 every later entry's batch; entries ascend
    time index   the largest timestamp up to a batch, and the offset of that batch; entries ascend

Source  Kafka's OffsetIndex.java, TimeIndex.java, LogSegment.java. Older brokers wrote one entry for
        batches that were appended at once (as followers do): the last offset of all, and where the
        first one begins. That serves readers just as well, and is right here, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from pykbroker.offline.findings import ERROR, WARNING, Finding
from pykbroker.offline.partition_files import SegmentFiles
from pykbroker.offline.split import END_OF_TIME
from pykbroker.offline.storage import open_file, read_small_file

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


def _entries(path: str | None, kind: Any) -> Any:
    """All entries of an index file, without the zeros of a preallocated one; None: no file."""
    payload = read_small_file(path) if path is not None else None
    if payload is None:
        return None
    table = np.frombuffer(payload[: len(payload) // kind.itemsize * kind.itemsize], kind)
    used = np.flatnonzero(table.view(np.uint8).reshape(len(table), kind.itemsize).any(axis=1))
    return table[: int(used[-1]) + 1] if used.size else table[:0]


def check_offset_index(
    segment: SegmentFiles, batches: Batches, is_last: bool, behind: int = END_OF_TIME
) -> Iterator[Finding]:
    """`behind`: entries of offsets from there on are not looked at."""
    entries = _entries(segment.index_path, _OFFSET_ENTRY)
    path = segment.index_path or segment.path.removesuffix(".log") + ".index"
    if entries is None:
        if not is_last:
            yield Finding(WARNING, "index", path, None, None, "there is no offset index")
        return
    if not is_last:
        yield from _half_entry("index", path, _OFFSET_ENTRY.itemsize)
    entries = entries[entries["offset"].astype(np.int64) + segment.base_offset < behind]
    offsets = entries["offset"].astype(np.int64) + segment.base_offset
    positions = entries["position"].astype(np.int64)
    count = len(batches.positions)
    at = np.minimum(np.searchsorted(batches.positions, positions), max(0, count - 1))
    if count:
        begins = batches.positions[at] == positions
        # The batch before the one that the next entry points at: no more can be meant.
        highest = batches.last[np.append(np.maximum(at[1:] - 1, at[:-1]), count - 1)]
        holds = begins & (batches.base[at] <= offsets) & (offsets <= highest)
    else:
        begins = holds = np.zeros(len(entries), bool)
    ascends = np.concatenate([[True], (np.diff(offsets) > 0) & (np.diff(positions) > 0)])
    ascends = ascends[: len(entries)]
    for number in np.flatnonzero(~(holds & ascends))[:_MOST].tolist():
        offset, position = int(offsets[number]), int(positions[number])
        why = "it does not ascend"
        if not begins[number]:
            why = f"no batch begins at {position}"
        elif not holds[number]:
            why = f"the batch at {position} does not hold offset {offset}"
        yield _wrong("index", path, number * _OFFSET_ENTRY.itemsize, offset, number, why)


def _half_entry(check: str, path: str, entry_bytes: int) -> Iterator[Finding]:
    """Bytes behind the last whole entry: a broker makes such an index anew."""
    with open_file(path) as opened:
        size = opened.size
    if size % entry_bytes:
        detail = f"{size} bytes are no whole number of entries of {entry_bytes}"
        yield Finding(WARNING, check, path, size - size % entry_bytes, None, detail)


def _wrong(check: str, path: str, position: int, offset: int, number: int, why: str) -> Finding:
    return Finding(ERROR, check, path, position, offset, f"entry {number}: {why}")


def check_time_index(
    segment: SegmentFiles, batches: Batches, is_last: bool, behind: int = END_OF_TIME
) -> Iterator[Finding]:
    """`behind`: entries of offsets from there on are not looked at."""
    entries = _entries(segment.time_index_path, _TIME_ENTRY)
    path = segment.time_index_path or segment.path.removesuffix(".log") + ".timeindex"
    if entries is None or not len(batches.base):
        return
    if not is_last:
        yield from _half_entry("time index", path, _TIME_ENTRY.itemsize)
    entries = entries[entries["offset"].astype(np.int64) + segment.base_offset < behind]
    times = entries["timestamp"].astype(np.int64)
    offsets = entries["offset"].astype(np.int64) + segment.base_offset
    at = np.maximum(np.searchsorted(batches.base, offsets, side="right") - 1, 0)
    reached = np.maximum.accumulate(batches.max_timestamp)
    holds = (batches.base[at] <= offsets) & (offsets <= batches.last[at])
    is_true = holds & (reached[at] == times)
    ascends = np.concatenate([[True], (np.diff(times) > 0) & (np.diff(offsets) >= 0)])
    ascends = ascends[: len(entries)]
    for number in np.flatnonzero(~(is_true & ascends))[:_MOST].tolist():
        offset, why = int(offsets[number]), "it does not ascend"
        if not holds[number]:
            why = f"no batch holds offset {offset}"
        elif not is_true[number]:
            why = f"{times[number]}, but up to there it is {reached[at[number]]}"
        yield _wrong("time index", path, number * _TIME_ENTRY.itemsize, offset, number, why)
