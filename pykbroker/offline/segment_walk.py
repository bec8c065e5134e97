"""Walks a segment header by header, without decoding the records: about 1 us per batch of magic 2.

`header_tables` yields numpy tables (large batches by one pread each, small and remote ones in
bulk); `walk_headers` yields headers one by one, and says where there is no batch. Where the next
batch cannot be located, both resume at the next known one (see KnownBatches), unless
`header_tables` is to end there (`steps_over=False`).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np

from pykbroker.offline.batch_headers import (
    HeaderTable,
    Integers,
    framing_fault,
    gather,
    table_of,
    walk,
)
from pykbroker.offline.old_part import OldStep, old_steps, table_of_old
from pykbroker.offline.partition_files import SegmentFiles
from pykbroker.offline.segment_index import KnownBatches
from pykbroker.offline.storage import LocalFile, SegmentFile
from pykbroker.protocol.record_batch import (
    HEADER,
    LOG_OVERHEAD,
    MAGIC_V2,
    RECORD_BATCH_OVERHEAD,
    BatchHeader,
)
from pykbroker.values import NamedTuple

_LENGTH: Final = struct.Struct(">8xi").unpack_from
_BULK_BYTES: Final = 64 << 10
_CHUNK_BYTES: Final = 1 << 20
_TABLE_ROWS: Final = 65536
_OLD_ROWS: Final = 4096
#: Batches smaller than this on average are read in bulk, larger ones header by header.
_SMALL_BATCH: Final = 2048


#: Called with (position, size in bytes, reason).
OnFault: TypeAlias = Callable[[int, int, str], None]


class HeaderRun(NamedTuple):
    """Headers of batches in file order, and their positions in the file.

    is_old: intact messages of magic 0 and 1, with headers made from their records (old_part.py).
    """

    positions: Integers
    table: HeaderTable
    is_old: bool = False


def header_tables(
    opened: SegmentFile,
    index_path: str | None,
    base_offset: int,
    start: int,
    end: int,
    *,
    steps_over: bool = True,
    on_fault: OnFault | None = None,
) -> Iterator[HeaderRun]:
    """Yield all headers of [start, end) as numpy tables.

    Bytes that are not a batch are skipped and passed to `on_fault`; without `steps_over`, the first
    ones after the old messages end the walk instead.
    """
    position = start
    for old, behind in _old_runs(opened, start, end, on_fault):
        yield old
        position = behind
    known = KnownBatches(opened, index_path, base_offset)
    while position < end:
        if isinstance(opened, LocalFile):
            run, position = _walk_by_pread(opened.descriptor, position, end)
        else:
            run, position = _walk_in_bulk(opened, position, end)
        if run is not None:
            yield run
            if len(run.positions) and position - run.positions[0] < _SMALL_BATCH * len(
                run.positions
            ):
                run, position = _walk_in_bulk(opened, position, end)
                if run is not None:
                    yield run
            continue
        head = opened.read(RECORD_BATCH_OVERHEAD, position)
        size, fault = framing_fault(head, end - position)
        if fault is not None and not steps_over:
            return
        if fault is not None:
            following = known.after(position, end)
            if on_fault is not None:
                on_fault(position, following - position, fault)
            position = following
        else:  # one that is larger than the bulk
            yield HeaderRun(np.array([position]), table_of(head))
            position += size


def _old_runs(
    opened: SegmentFile, start: int, end: int, on_fault: OnFault | None
) -> Iterator[tuple[HeaderRun, int]]:
    """Yield the messages of magic 0 and 1 from `start` on, and where each run of them ends."""
    held: list[OldStep] = []
    behind = start
    for step in old_steps(opened, start, end):
        behind = step.position + step.size_bytes
        if step.fault is None:
            held.append(step)
        elif on_fault is not None:
            on_fault(step.position, step.size_bytes, step.fault)
        if len(held) >= _OLD_ROWS:
            yield _old_run(held), behind
            held = []
    if behind > start:
        yield _old_run(held), behind


def _old_run(steps: list[OldStep]) -> HeaderRun:
    positions = np.array([step.position for step in steps], np.int64)
    return HeaderRun(positions, table_of_old(steps), True)


def _walk_by_pread(descriptor: int, position: int, end: int) -> tuple[HeaderRun | None, int]:
    heads: list[bytes] = []
    positions: list[int] = []
    pread: Callable[[int, int, int], bytes] = os.pread
    keep, found, length = heads.append, positions.append, _LENGTH
    last = end - RECORD_BATCH_OVERHEAD
    rows = _TABLE_ROWS if position else 256  # the first few indicate how large batches are
    while position <= last and len(positions) < rows:
        head = pread(descriptor, RECORD_BATCH_OVERHEAD, position)
        if len(head) < RECORD_BATCH_OVERHEAD:
            break  # the file was truncated meanwhile
        size = length(head)[0] + LOG_OVERHEAD
        if size < RECORD_BATCH_OVERHEAD or position + size > end:
            break
        keep(head)
        found(position)
        position += size
    if not positions:
        return None, position
    return HeaderRun(np.array(positions, np.int64), table_of(b"".join(heads))), position


def _walk_in_bulk(opened: SegmentFile, position: int, end: int) -> tuple[HeaderRun | None, int]:
    buffer = bytearray(min(_CHUNK_BYTES, end - position))
    filled = opened.read_into(memoryview(buffer), position)
    positions, used = walk(buffer, filled)
    if not positions:
        return None, position
    at = np.array(positions, np.int64)
    return HeaderRun(at + position, gather(np.frombuffer(buffer, np.uint8), at)), position + used


def walk_headers(
    opened: SegmentFile, segment: SegmentFiles, end: int, start: int = 0
) -> Iterator[tuple[int, BatchHeader | None]]:
    """Yield (position, header) of every batch; the header is None for bytes that are not a batch of
    magic 2.
    """
    position = start
    known = KnownBatches(opened, segment.index_path, segment.base_offset)
    window = b""
    window_at = 0
    while position < end:
        inside = position - window_at
        if not 0 <= inside <= len(window) - RECORD_BATCH_OVERHEAD:
            window = opened.read(min(_BULK_BYTES, end - position), position)
            window_at, inside = position, 0
        head = window[inside : inside + RECORD_BATCH_OVERHEAD]
        size, fault = framing_fault(head, end - position)
        if fault is not None:
            yield position, None
            position = known.after(position, end)
            continue
        header = BatchHeader(*HEADER.unpack(head))
        yield position, header if header.magic == MAGIC_V2 else None
        position += size
