"""Finds the offset for a time, as Kafka's log does for ListOffsets.

It is the first record of the log at or after the time, whatever it is: records of aborted
transactions and markers count.

Source  Kafka's UnifiedLog.java (fetchOffsetByTimestamp), LogSegment.java (findOffsetByTimestamp).
"""

from __future__ import annotations

from dataclasses import replace

from pykbroker.offline.batch_headers import header_at
from pykbroker.offline.faults import CorruptSegment
from pykbroker.offline.offset_order import OffsetOrder, base_behind
from pykbroker.offline.plain_decoder import BAD_CHECKSUM
from pykbroker.offline.planning import plan
from pykbroker.offline.reader import read_split
from pykbroker.offline.segment_index import sound_batch
from pykbroker.offline.segment_walk import header_tables
from pykbroker.offline.split import (
    FAILFAST,
    READ_UNCOMMITTED,
    FaultReporter,
    ReadOptions,
    Selection,
    Split,
)
from pykbroker.offline.split_file import open_parts
from pykbroker.offline.storage import SegmentFile
from pykbroker.protocol.record_batch import MAGIC_V2, RECORD_BATCH_OVERHEAD, BatchHeader


def offset_of_time(selection: Selection, timestamp_ms: int, mode: str = FAILFAST) -> int | None:
    """Return the first offset at or after a time, of a selection of one partition; None if all
    records are older. The selection's isolation and its bounds by offset and time do not count.

    Damage before it raises CorruptSegment with FAILFAST; otherwise an offset at or before the
    damage is returned.
    """
    everything = replace(
        selection,
        isolation=READ_UNCOMMITTED,
        start_offsets=None,
        end_offsets=None,
        start_timestamp_ms=timestamp_ms,
        end_timestamp_ms=None,
    )
    for split in plan(everything).splits:
        found = _in_split(split, timestamp_ms, mode)
        if found is not None:
            return found
    return None


def _in_split(split: Split, timestamp_ms: int, mode: str) -> int | None:
    for part, opened in open_parts(split):
        with opened:
            found = _in_file(opened, part, timestamp_ms, mode)
        if found is not None:
            return found
    return None


def _in_file(opened: SegmentFile, split: Split, timestamp_ms: int, mode: str) -> int | None:
    """Search one file. The claimed time of a corrupt batch never skips it: CorruptSegment
    (FAILFAST), or reading begins there, and counts it.
    """
    reporter = FaultReporter(split, mode, None)
    end = min(split.end_position, opened.size)
    reached, next_offset = split.start_position, max(split.start_offset, split.first_offset)
    base = split.segment_base_offset
    order = OffsetOrder(split)
    for positions, table, is_old in header_tables(opened, split.index_path, base, reached, end):
        for index in range(positions.size):
            header, position = header_at(table, index), int(positions[index])
            behind = position + header.size_bytes
            fault = _fault(opened, header, position, reached, is_old) or order.fault(
                header.base_offset, header.last_offset, _base_at(opened, behind, end)
            )
            if fault is not None:
                reporter.report(reached, position - reached, fault)
                return next_offset
            reached = behind
            if header.last_offset < split.start_offset:
                continue  # below the log start
            if header.max_timestamp >= timestamp_ms:
                if header.is_control:
                    return max(header.base_offset, split.start_offset)
                batch = replace(split, start_position=position, end_position=reached)
                try:
                    found = _first_offset(batch)
                except CorruptSegment:
                    if mode == FAILFAST:
                        raise
                    return next_offset
                if found is not None:
                    return found
            next_offset = max(next_offset, header.next_offset)
    if reached < end:
        reporter.report(reached, end - reached, "no record batch")
        return next_offset
    return None


def _first_offset(batch: Split) -> int | None:
    """Return the offset of the first wanted record of a batch; None if there is none. Raises
    CorruptSegment if its records cannot be decoded.
    """
    for rows in read_split(batch, ReadOptions(columns=("offset",))):
        if rows.num_rows:
            return int(rows.column(0)[0].as_py())
    return None


def _base_at(opened: SegmentFile, position: int, end: int) -> int | None:
    head = opened.read(min(RECORD_BATCH_OVERHEAD, end - position), position)
    return base_behind(head, end - position)


def _fault(
    opened: SegmentFile, header: BatchHeader, position: int, reached: int, is_old: bool
) -> str | None:
    """Return the fault at or before a batch, or None. `reached`: where the batch before it ended;
    `is_old`: of magic 0 or 1, and intact.
    """
    if position > reached:
        return "no record batch"
    if is_old:
        return None
    if header.magic != MAGIC_V2:
        return f"record batch of magic {header.magic}"
    if sound_batch(opened, position, header.size_bytes) is None:
        return BAD_CHECKSUM
    return None
