"""Consistency checks of a partition's files, based on headers and indexes.

    offsets, epochs   ascend, within and across segments (epochs may repeat)
    sequences         of each producer are consecutive (gaps are valid where compaction removed
                      batches); group coordinators do not number their batches
    index, time index, aborted
                      see log/segments/index_verification.py
    files             files that belong to no log, and what a broker would repair
    tail              the incomplete end of a log

In      PartitionFiles; Out  Findings. Raises FileNotFoundError if a segment was replaced since it
        was listed.
Source  Kafka's ProducerAppendInfo.java (sequences).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import Any, Final

import numpy as np

from pykbroker.log.producers.producer_entry import CorruptSnapshot, decode_snapshot
from pykbroker.log.segments.index_verification import Aborted, OpenTransactions, wrong_aborted
from pykbroker.offline.batch_headers import header_at
from pykbroker.offline.file_identity import identity_of
from pykbroker.offline.findings import ERROR, NOTE, WARNING, Finding
from pykbroker.offline.frozen_end import freeze, open_listed
from pykbroker.offline.index_checks import Batches, check_offset_index, check_time_index
from pykbroker.offline.internal_topics import CONSUMER_OFFSETS
from pykbroker.offline.partition_files import PartitionFiles, SegmentFiles
from pykbroker.offline.segment_index import aborted_transactions
from pykbroker.offline.segment_walk import header_tables
from pykbroker.offline.split import END_OF_TIME, MAX_SEGMENT_OFFSETS
from pykbroker.offline.storage import open_file, read_small_file
from pykbroker.offline.transaction_events import marker_type
from pykbroker.protocol.record_batch import MAGIC_V2, BatchHeader, increment_sequence

_FAR: Final = 1 << 63
_MOST_FINDINGS: Final = 500


class PartitionCheck:
    """One pass over the headers of a partition. State: the values of the preceding batches."""

    def __init__(self, files: PartitionFiles) -> None:
        self._files = files
        self._frozen = freeze(files)
        self._is_numbered = files.topic != CONSUMER_OFFSETS
        self._next_offset = files.segments[0].base_offset if files.segments else 0
        self._epoch = -1
        self._missing = self._holes = 0
        #: producer -> (epoch, sequence that comes next, offset of its last record)
        self._producers: dict[int, tuple[int, int, int]] = {}
        self._last_hole = -1
        self._bound = _FAR
        self._transactions = OpenTransactions()

    def findings(self) -> Iterator[Finding]:
        """Yield the findings, segment by segment, up to some hundreds."""
        files = self._files
        found = self._all()
        yield from islice(found, _MOST_FINDINGS)
        if next(found, None) is not None:
            detail = f"the first {_MOST_FINDINGS} findings; there are more"
            yield Finding(NOTE, "files", files.directory, None, None, detail)

    def _all(self) -> Iterator[Finding]:
        files = self._files
        following = [each.base_offset for each in files.segments[1:]]
        for segment, bound in zip_longest(files.segments, following, fillvalue=_FAR):
            assert isinstance(segment, SegmentFiles)
            assert isinstance(bound, int)
            # Indexes have four bytes for an offset.
            self._bound = min(bound, segment.base_offset + MAX_SEGMENT_OFFSETS)
            yield from self._segment(segment)
        if self._missing:
            detail = f"{self._missing} offsets are missing, in {self._holes} places"
            yield Finding(NOTE, "offsets", files.directory, None, None, detail + " (compaction?)")
        for name in files.foreign:
            yield Finding(NOTE, "files", files.directory, None, None, f"{name} belongs to no log")
        if files.high_watermark is not None and files.high_watermark > self._frozen.next_offset:
            detail = f"high watermark {files.high_watermark} is above the end of the log"
            end = self._frozen.next_offset
            yield Finding(WARNING, "files", files.directory, None, end, detail)
        for offset, path in files.producer_snapshots:
            try:
                decode_snapshot(read_small_file(path) or b"")
            except CorruptSnapshot as fault:
                yield Finding(WARNING, "files", path, None, offset, f"producer snapshot: {fault}")

    def _segment(self, segment: SegmentFiles) -> Iterator[Finding]:
        is_last = segment is self._files.segments[-1]
        end = self._frozen.position if is_last else segment.size_bytes
        aborted: set[Aborted] = set()
        parts: list[Batches] = []
        if segment.base_offset < self._next_offset:
            detail = (
                f"begins at {segment.base_offset}, before offset {self._next_offset} is reached"
            )
            yield Finding(ERROR, "offsets", segment.path, 0, segment.base_offset, detail)
        with open_listed(segment, end) as opened:
            identity = identity_of(opened)
            for run in header_tables(opened, segment.index_path, segment.base_offset, 0, end):
                positions, table = run.positions, run.table
                if not run.is_old:
                    keep = table["magic"] == MAGIC_V2
                    positions, table = positions[keep], table[keep]
                base = table["base_offset"].astype(np.int64)
                last = base + table["last_offset_delta"]
                parts.append(Batches(positions, base, last, table["max_timestamp"].astype(int)))
                for at in range(len(positions)):
                    header = header_at(table, at)
                    place = (segment, int(positions[at]))
                    yield from self._batch(header, place)
                    if header.is_transactional:
                        marker = marker_type(opened, int(positions[at]), header)
                        ended = self._transactions.feed(header, marker)
                        if ended is not None:
                            aborted.add(ended)
            if opened.size > end:
                detail = f"{opened.size - end} bytes after the last whole batch"
                yield Finding(NOTE, "tail", segment.path, end, None, detail)
        batches = Batches.joined(parts)
        found = list(self._check_indexes(segment, batches, aborted, END_OF_TIME))
        if not found:
            return
        # Indexes are read later than their segment, which may have changed since.
        with open_file(segment.path) as opened:
            if identity_of(opened) != identity:
                raise FileNotFoundError(segment.path)
            if is_last and opened.size > end:
                behind = self._frozen.next_offset
                found = list(self._check_indexes(segment, batches, aborted, behind))
        yield from found

    def _check_indexes(
        self,
        segment: SegmentFiles,
        batches: Batches,
        aborted: set[Aborted],
        behind: int,
    ) -> Iterator[Finding]:
        """Report wrong index entries; those of offsets from `behind` on are ignored."""
        is_last = segment is self._files.segments[-1]
        yield from check_offset_index(segment, batches, is_last, behind)
        yield from check_time_index(segment, batches, is_last, behind)
        yield from self._check_aborted(segment, aborted, behind)

    def _batch(self, header: BatchHeader, place: tuple[SegmentFiles, int]) -> Iterator[Finding]:
        segment, position = place
        base = header.base_offset

        def fault(check: str, detail: str) -> Finding:
            return Finding(ERROR, check, segment.path, position, base, detail)

        if header.last_offset >= self._bound:
            # It is wrong itself, so later batches are not compared with it.
            yield fault("offsets", f"offset {header.last_offset} cannot be in this segment")
            return
        if base < max(self._next_offset, segment.base_offset):
            yield fault("offsets", f"offset {base} where {self._next_offset} or higher is expected")
        elif base > self._next_offset:
            self._missing += base - self._next_offset
            self._holes += 1
            self._last_hole = base
        self._next_offset = max(self._next_offset, header.next_offset)
        if header.partition_leader_epoch < self._epoch:
            yield fault(
                "epochs", f"leader epoch {header.partition_leader_epoch} after {self._epoch}"
            )
        self._epoch = max(self._epoch, header.partition_leader_epoch)
        if self._is_numbered and header.has_producer_id and not header.is_control:
            yield from self._sequence(header, fault)
        elif header.is_control and header.is_transactional:
            known = self._producers.get(header.producer_id)
            if known is not None and header.producer_epoch > known[0]:
                self._producers[header.producer_id] = (header.producer_epoch, 0, base)

    def _sequence(self, header: BatchHeader, fault: Any) -> Iterator[Finding]:
        producer, epoch = header.producer_id, header.producer_epoch
        known = self._producers.get(producer)
        following = increment_sequence(header.base_sequence, header.last_offset_delta + 1)
        if known is not None and epoch < known[0]:
            yield fault("sequences", f"producer {producer} with epoch {epoch} after {known[0]}")
        elif known is not None:
            expected = known[1] if epoch == known[0] else 0  # a new epoch starts new sequences
            gap = (header.base_sequence - expected) & 0x7FFF_FFFF
            # Where offsets are missing since its last batch, some of them may have been its own.
            may_be_gone = self._last_hole > known[2]
            if gap >= 1 << 30:
                detail = f"sequence {header.base_sequence} is repeated; {expected} is expected"
                yield fault("sequences", f"producer {producer}: {detail}")
            elif gap and not may_be_gone:
                detail = f"sequence {header.base_sequence} where {expected} is expected"
                yield fault("sequences", f"producer {producer}: {detail}")
        self._producers[producer] = (epoch, following, header.last_offset)

    def _check_aborted(
        self, segment: SegmentFiles, found: set[Aborted], behind: int
    ) -> Iterator[Finding]:
        path = segment.transaction_index
        entries = aborted_transactions(path, segment.base_offset)
        if entries is None:
            yield Finding(ERROR, "aborted", path, None, None, "the transaction index is damaged")
            return
        indexed = {(each.producer_id, each.first_offset, each.last_offset) for each in entries}
        indexed = {each for each in indexed if each[2] < behind}
        faults = wrong_aborted(
            indexed,
            found,
            log_start=self._files.segments[0].base_offset,
            has_gaps=bool(self._missing),
        )
        for first, detail in faults:
            yield Finding(ERROR, "aborted", path, None, first, detail)
