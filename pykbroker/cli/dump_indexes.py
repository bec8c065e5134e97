"""`dump-log` of the files beside a log: offset, time and transaction indexes, snapshots.

Offset and time indexes are compared with their log; differences are collected and printed at the
end, as the script does.
"""

from __future__ import annotations

import argparse
import os
import struct
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from pykbroker.cli.command import CommandError
from pykbroker.cli.log_files import base_offset_of, batches, map_file
from pykbroker.log.producers.producer_state import CorruptSnapshot, decode_snapshot
from pykbroker.log.segments.txn_index import CorruptTransactionIndex, TransactionIndex
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.record_batch import BatchHeader
from pykbroker.protocol.stored_batch import read_stored_header, stored_records

_OFFSET_ENTRY: Final = struct.Struct(">ii")
_TIME_ENTRY: Final = struct.Struct(">qi")


class IndexDump:
    """Prints indexes and records where they differ from their log."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._printing = not options.verify_index_only
        self._sanity_only: bool = options.index_sanity_check
        self._offset_mismatches: dict[str, dict[int, int]] = {}
        self._time_mismatches: dict[str, list[tuple[int, int]]] = {}
        self._time_disorder: dict[str, list[tuple[int, int]]] = {}
        self._not_found: dict[str, list[tuple[int, int]]] = {}

    # --- offset index -------------------------------------------------------------------------

    def dump_offset_index(self, path: str) -> None:
        base = base_offset_of(path)
        content = map_file(path)
        log_path = _beside(path, ".log")
        log = map_file(log_path)
        if len(content) < _OFFSET_ENTRY.size:
            print(f"{path} is empty.")
            return
        if self._sanity_only:
            fault = offset_index_fault(path, content, base)
            if fault is not None:
                raise CommandError(fault)
            print(f"{path} passed sanity check.")
            return
        for offset, position in offset_entries(content, base):
            header = _batch_at(log, position)
            if header is None:
                if offset == base and not len(log):
                    return  # the preallocated index of a segment without records
                raise CommandError(f"{path}: no batch at position {position} of {log_path}")
            if header.last_offset != offset:
                found = self._offset_mismatches.setdefault(os.path.abspath(path), {})
                found[offset] = header.last_offset
            if self._printing:
                print(f"offset: {offset} position: {position}")

    # --- time index ---------------------------------------------------------------------------

    def dump_time_index(self, path: str) -> None:
        base = base_offset_of(path)
        content = map_file(path)
        if self._sanity_only:
            fault = time_index_fault(path, content, base)
            if fault is not None:
                raise CommandError(fault)
            print(f"{path} passed sanity check.")
            return
        log_path = _beside(path, ".log")
        log = map_file(log_path)
        positions = list(offset_entries(map_file(_beside(path, ".index")), base))
        previous = -1
        for timestamp, offset in time_entries(content, base):
            self._check_time(path, log, log_path, positions, (timestamp, offset), previous)
            if self._printing:
                print(f"timestamp: {timestamp} offset: {offset}")
            previous = timestamp

    def _check_time(
        self,
        path: str,
        log: memoryview,
        log_path: str,
        positions: Sequence[tuple[int, int]],
        entry: tuple[int, int],
        previous: int,
    ) -> None:
        timestamp, offset = entry
        file = os.path.abspath(path)
        slot = bisect_right(positions, offset, key=lambda each: each[0]) - 1
        start = positions[slot][1] if slot >= 0 else 0
        found = next(
            (each for each in batches(log, log_path, start) if each[1].last_offset >= offset), None
        )
        if found is None or found[1].last_offset != offset:
            last_offset = -1 if found is None else found[1].last_offset
            self._not_found.setdefault(file, []).append((offset, last_offset))
            return
        position, header = found
        largest = _largest_timestamp(log[position : position + header.size_bytes], header, log_path)
        if largest != timestamp:
            self._time_mismatches.setdefault(file, []).append((timestamp, largest))
        if previous >= timestamp:
            self._time_disorder.setdefault(file, []).append((timestamp, previous))

    # --- snapshots and aborted transactions ---------------------------------------------------

    def dump_snapshot(self, path: str) -> None:
        try:
            entries = decode_snapshot(bytes(map_file(path)))
        except CorruptSnapshot as error:
            print(error, file=sys.stderr)
            return
        for entry in entries:
            first = entry.current_txn_first_offset
            open_at = "OptionalLong.empty" if first < 0 else f"OptionalLong[{first}]"
            line = (
                f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch} "
                f"coordinatorEpoch: {entry.coordinator_epoch} currentTxnFirstOffset: {open_at} "
                f"lastTimestamp: {entry.last_timestamp}"
            )
            if entry.batches:
                batch = entry.batches[0]
                line += (
                    f" firstSequence: {batch.first_sequence} lastSequence: {batch.last_sequence} "
                    f"lastOffset: {batch.last_offset} offsetDelta: {batch.offset_delta} "
                    f"timestamp: {batch.timestamp}"
                )
            print(line)

    def dump_transaction_index(self, path: str) -> None:
        index = TransactionIndex(base_offset_of(path), bytes(map_file(path)))
        try:
            for aborted in index:
                print(
                    f"version: 0 producerId: {aborted.producer_id} "
                    f"firstOffset: {aborted.first_offset} lastOffset: {aborted.last_offset} "
                    f"lastStableOffset: {aborted.last_stable_offset}"
                )
        except CorruptTransactionIndex as error:
            raise CommandError(f"{path}: {error}") from error

    # --- the end ------------------------------------------------------------------------------

    def complaints(self) -> Iterator[str]:
        for path, mismatches in self._offset_mismatches.items():
            yield f"Mismatches in :{path}"
            for offset, found in sorted(mismatches.items(), reverse=True):
                yield f"  Index offset: {offset}, log offset: {found}"
        for path, pairs in self._time_mismatches.items():
            yield f"Found timestamp mismatch in :{path}"
            for timestamp, found in pairs:
                yield f"  Index timestamp: {timestamp}, log timestamp: {found}"
        for path, pairs in self._time_disorder.items():
            yield f"Found out of order timestamp in :{path}"
            for timestamp, previous in pairs:
                yield f"  Index timestamp: {timestamp}, Previously indexed timestamp: {previous}"
        for path, pairs in self._not_found.items():
            yield f"The following indexed offsets are not found in :{path}"
            for offset, found in pairs:
                yield f"Indexed offset: {offset}, found log offset: {found}"


def offset_entries(content: memoryview, base: int) -> Iterator[tuple[int, int]]:
    """Yield (offset, position); the zeros of a preallocated file end it."""
    whole = len(content) // _OFFSET_ENTRY.size * _OFFSET_ENTRY.size
    for number, (relative, position) in enumerate(_OFFSET_ENTRY.iter_unpack(content[:whole])):
        if relative == 0 and number > 0:
            return
        yield base + relative, position


def time_entries(content: memoryview, base: int) -> Iterator[tuple[int, int]]:
    """Yield (timestamp, offset); the zeros of a preallocated file end it."""
    whole = len(content) // _TIME_ENTRY.size * _TIME_ENTRY.size
    for number, (timestamp, relative) in enumerate(_TIME_ENTRY.iter_unpack(content[:whole])):
        if relative == 0 and number > 0:
            return
        yield timestamp, base + relative


def offset_index_fault(path: str, content: memoryview, base: int) -> str | None:
    """Return the fault that OffsetIndex.sanityCheck would report, or None."""
    size = _OFFSET_ENTRY.size
    if len(content) >= size:
        last = len(content) // size - 1
        relative, _ = _OFFSET_ENTRY.unpack_from(content, last * size)
        if relative < 0:
            return (
                f"Corrupt index found, index file ({path}) has non-zero size but the last offset "
                f"is {base + relative} which is less than the base offset {base}"
            )
    return _length_fault(path, content, size)


def time_index_fault(path: str, content: memoryview, base: int) -> str | None:
    """Return the fault that TimeIndex.sanityCheck would report, or None."""
    size = _TIME_ENTRY.size
    if len(content) >= size:
        first, _ = _TIME_ENTRY.unpack_from(content, 0)
        last, relative = _TIME_ENTRY.unpack_from(content, (len(content) // size - 1) * size)
        where = f"Corrupt time index found, time index file ({path}) has non-zero size but the last"
        if last < first:
            return f"{where} timestamp is {last} which is less than the first timestamp {first}"
        if relative < 0:
            return f"{where} offset is {base + relative} which is less than the first offset {base}"
    return _length_fault(path, content, size)


def _length_fault(path: str, content: memoryview, size: int) -> str | None:
    if len(content) % size == 0:
        return None
    return (
        f"Index file {path} is corrupt, found {len(content)} bytes which is neither positive nor "
        f"a multiple of {size}"
    )


def _beside(path: str, suffix: str) -> str:
    """Return the file of the same segment with another suffix."""
    directory, name = os.path.split(path)
    return os.path.join(directory, name.partition(".")[0] + suffix)


def _batch_at(log: memoryview, position: int) -> BatchHeader | None:
    if not 0 <= position < len(log):
        return None
    try:
        return read_stored_header(log, position)
    except CorruptBatch:
        return None


def _largest_timestamp(batch: memoryview, header: BatchHeader, path: str) -> int:
    try:
        return max((record.timestamp for record in stored_records(batch, header)), default=-1)
    except CorruptBatch as error:
        raise CommandError(
            f"{path}: batch at offset {header.base_offset} cannot be read: {error}"
        ) from error
