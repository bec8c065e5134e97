"""The offset that a time stands for, as Kafka's ListOffsets finds it.

The first record of the log at or after the time, whatever it is: records of aborted transactions
and markers count, as the broker does not look at transactions for this.

In      a Selection of one partition, a time in ms. Out: the offset, or None.
Source  Kafka's UnifiedLog.java (fetchOffsetByTimestamp), LogSegment.java (findOffsetByTimestamp).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pykbroker.offline.batch_headers import header_at
from pykbroker.offline.planning import plan
from pykbroker.offline.reader import read_split
from pykbroker.offline.segment_walk import header_tables
from pykbroker.offline.split import FAILFAST, READ_UNCOMMITTED, ReadOptions, Selection, Split
from pykbroker.offline.split_file import open_parts
from pykbroker.offline.storage import SegmentFile
from pykbroker.protocol.record_batch import LOG_OVERHEAD, MAGIC_V2


def offset_of_time(selection: Selection, timestamp_ms: int, mode: str = FAILFAST) -> int | None:
    """The first offset at or after a time; None when all records are older."""
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
    end = min(split.end_position, opened.size)
    start, base = split.start_position, split.segment_base_offset
    for positions, table in header_tables(opened, split.index_path, base, start, end):
        late = (table["max_timestamp"] >= timestamp_ms) & (table["magic"] == MAGIC_V2)
        for index in np.flatnonzero(late).tolist():
            header = header_at(table, index)
            if header.last_offset < split.start_offset:
                continue  # below the log start
            if header.is_control:
                return max(header.base_offset, split.start_offset)
            position = int(positions[index])
            size = header.batch_length + LOG_OVERHEAD
            batch = replace(split, start_position=position, end_position=position + size)
            for rows in read_split(batch, ReadOptions(columns=("offset",), mode=mode)):
                if rows.num_rows:
                    return int(rows.column(0)[0].as_py())
    return None
