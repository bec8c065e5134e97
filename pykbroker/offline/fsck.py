"""`fsck`: everything that does not fit together in log directories, one row a finding.

    corrupt             a batch that cannot be read: framing, checksum, codec, records
    offsets             batches that do not ascend, or lie outside their segment
    leader epoch        epochs that go back
    sequence            a producer's sequence numbers that leave something out, or come again
    offset index        an entry that does not point at a batch with its offset
    time index          an entry that hides a later record before it, or out of order
    transaction index   an aborted transaction that is missing, or one that was none
    foreign file        a file that belongs to no log

Compaction and retention leave gaps that are right: sequences are looked at only between batches of
one producer that follow each other without an offset missing in between.

In      log directories, as `open_log` takes them. Out: a pyarrow table of FINDING_SCHEMA, sorted by
        partition and place. No row: nothing is wrong. The half written end of a log is not.
State   per partition: what the last batch of the log, and of each producer, was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from pykbroker.offline.batch_headers import HeaderTable, Integers, header_at
from pykbroker.offline.frozen_end import freeze
from pykbroker.offline.layout import PartitionFiles, SegmentFiles, read_partitions
from pykbroker.offline.planning import select_partitions
from pykbroker.offline.reader import names_of, read_split
from pykbroker.offline.segment_index import (
    aborted_transactions,
    raw_offset_entries,
    raw_time_entries,
)
from pykbroker.offline.segment_walk import HeaderRun, header_tables
from pykbroker.offline.split import (
    DROPMALFORMED,
    Corruption,
    ReadOptions,
    Selection,
    Split,
)
from pykbroker.offline.storage import SegmentFile, open_file
from pykbroker.offline.transaction_scan import OpenTransactions, marker_type
from pykbroker.protocol.record_batch import (
    MAGIC_V2,
    TRANSACTIONAL_BIT,
    BatchHeader,
    increment_sequence,
)

_MAX_FINDINGS: Final = 1000  # of one segment's index: thousands of wrong entries are one story

FINDING_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("path", pa.string()),
        ("position", pa.int64()),
        ("offset", pa.int64()),
        ("kind", pa.string()),
        ("detail", pa.string()),
    ]
)


class Finding(NamedTuple):
    """Something that is wrong at a place of a file."""

    path: str
    position: int | None
    offset: int | None
    kind: str
    detail: str


class _LastBatch(NamedTuple):
    epoch: int
    sequence: int
    next_offset: int


def fsck(
    paths: str | Iterable[str],
    topics: str | Iterable[str] | None = None,
    *,
    partitions: Collection[int] | None = None,
) -> Any:
    """All findings of (some topics of) log directories."""
    chosen = None if partitions is None else frozenset(partitions)
    selection = Selection(names_of(paths) or (), names_of(topics), partitions=chosen)
    rows = [
        {"topic": files.topic, "partition": files.partition, **finding._asdict()}
        for files in read_partitions(selection.paths, select_partitions(selection))
        for finding in _PartitionCheck(files).findings()
    ]
    return pa.Table.from_pylist(rows, schema=FINDING_SCHEMA)


class _PartitionCheck:
    """Checks one partition, segment by segment."""

    def __init__(self, files: PartitionFiles) -> None:
        self.files = files
        self.last_offset = -1
        self.last_epoch = -1
        self.producers: dict[int, _LastBatch] = {}
        self.transactions = OpenTransactions()

    def findings(self) -> Iterator[Finding]:
        files = self.files
        for name in files.foreign:
            yield Finding(f"{files.directory}/{name}", None, None, "foreign file", name)
        frozen = freeze(files)
        for index, segment in enumerate(files.segments):
            is_last = index + 1 == len(files.segments)
            end = frozen.position if is_last else segment.size_bytes
            behind = None if is_last else files.segments[index + 1].base_offset
            yield from self._corrupt(segment, end)
            with open_file(segment.path) as opened:
                runs = [
                    HeaderRun(run.positions[sound], run.table[sound])
                    for run in header_tables(
                        opened, segment.index_path, segment.base_offset, 0, end
                    )
                    if (sound := run.table["magic"] == MAGIC_V2).any()
                ]
                for run in runs:
                    yield from self._batches(segment, run, behind)
                yield from self._transactions(opened, segment, runs)
            yield from _offset_index(segment, runs)
            yield from _time_index(segment, runs)

    def _corrupt(self, segment: SegmentFiles, end: int) -> Iterator[Finding]:
        noted: list[Corruption] = []
        split = Split(
            segment.path,
            self.files.topic,
            self.files.partition,
            segment.base_offset,
            0,
            end,
            index_path=segment.index_path,
        )
        columns = ("key", "value", "headers", "timestamp", "offset")
        options = ReadOptions(columns, DROPMALFORMED, verify_offsets=False)  # see _batches
        for _ in read_split(split, options, noted.append):
            pass
        for each in noted:
            yield Finding(each.path, each.position, each.base_offset, "corrupt", each.reason)

    def _batches(
        self, segment: SegmentFiles, run: HeaderRun, behind: int | None
    ) -> Iterator[Finding]:
        """Offsets, epochs and sequences of a run of batches."""
        base: Integers = run.table["base_offset"].astype(np.int64)
        last: Integers = base + run.table["last_offset_delta"]
        epochs = run.table["leader_epoch"].astype(np.int64)
        before = np.concatenate([[self.last_offset], last[:-1]])
        wrong = (base <= before) | (base < segment.base_offset)
        if behind is not None:
            wrong |= last >= behind
        earlier = np.concatenate([[self.last_epoch], epochs[:-1]])
        for index in np.flatnonzero(wrong).tolist()[:_MAX_FINDINGS]:
            detail = f"{base[index]} to {last[index]} after {before[index]}"
            if behind is not None and last[index] >= behind:
                detail += f", where the next segment begins at {behind}"
            yield self._finding(segment, run, index, "offsets", detail)
        for index in np.flatnonzero(epochs < earlier).tolist()[:_MAX_FINDINGS]:
            detail = f"{epochs[index]} after {earlier[index]}"
            yield self._finding(segment, run, index, "leader epoch", detail)
        self.last_offset, self.last_epoch = int(last[-1]), int(epochs[-1])
        for index in np.flatnonzero(run.table["base_sequence"] >= 0).tolist():
            detail_or_none = self._sequence(header_at(run.table, index))
            if detail_or_none is not None:
                yield self._finding(segment, run, index, "sequence", detail_or_none)

    def _sequence(self, header: BatchHeader) -> str | None:
        known = self.producers.get(header.producer_id)
        self.producers[header.producer_id] = _LastBatch(
            header.producer_epoch, header.last_sequence, header.next_offset
        )
        if known is None or known.next_offset != header.base_offset:
            return None
        if known.epoch != header.producer_epoch:
            expected = 0
        else:
            expected = increment_sequence(known.sequence, 1)
        if header.base_sequence == expected:
            return None
        return (
            f"producer {header.producer_id} of epoch {header.producer_epoch} goes on with "
            f"{header.base_sequence} instead of {expected}"
        )

    def _transactions(
        self, opened: SegmentFile, segment: SegmentFiles, runs: list[HeaderRun]
    ) -> Iterator[Finding]:
        """The transaction index against the markers of the segment."""
        aborted: set[tuple[int, int, int]] = set()
        for run in runs:
            chosen = (run.table["attributes"] & TRANSACTIONAL_BIT) != 0
            for index in np.flatnonzero(chosen).tolist():
                header = header_at(run.table, index)
                marker = marker_type(opened, int(run.positions[index]), header)
                ended = self.transactions.feed(header, marker)
                if ended is not None and ended[1]:
                    aborted.add((header.producer_id, ended[0], header.base_offset))
        entries = aborted_transactions(segment.txn_index_path, segment.base_offset)
        path = segment.txn_index_path or segment.path
        if entries is None:
            yield Finding(path, None, None, "transaction index", "damaged")
            return
        indexed = {each[:3] for each in entries}
        # A transaction may have begun before the log does: then its first batch is not there.
        markers = {last for _, _, last in aborted}
        for producer, first, last in sorted(aborted - indexed):
            detail = f"no entry for producer {producer}, {first} to {last}"
            yield Finding(path, None, last, "transaction index", detail)
        for producer, first, last in sorted(indexed - aborted):
            if first >= self.files.log_start_offset and last not in markers:
                detail = f"producer {producer} aborted nothing from {first} to {last}"
                yield Finding(path, None, last, "transaction index", detail)

    def _finding(
        self, segment: SegmentFiles, run: HeaderRun, index: int, kind: str, detail: str
    ) -> Finding:
        base = int(run.table["base_offset"][index])
        return Finding(segment.path, int(run.positions[index]), base, kind, detail)


def _joined(runs: list[HeaderRun]) -> tuple[Integers, HeaderTable] | None:
    if not runs:
        return None
    positions = np.concatenate([run.positions for run in runs])
    return positions, np.concatenate([run.table for run in runs])


def _offset_index(segment: SegmentFiles, runs: list[HeaderRun]) -> Iterator[Finding]:
    """Every entry must be the position of a batch that has its offset, and entries ascend."""
    entries = raw_offset_entries(segment.index_path, segment.base_offset)
    joined = _joined(runs)
    if not entries or segment.index_path is None or joined is None:
        return
    positions, table = joined
    base = table["base_offset"].astype(np.int64)
    last = base + table["last_offset_delta"]
    before = -1
    found = 0
    for number, (offset, position) in enumerate(entries):
        slot = int(np.searchsorted(positions, position))
        fits = (
            slot < positions.size
            and positions[slot] == position
            and base[slot] <= offset <= last[slot]
        )
        if fits and offset > before:
            before = offset
            continue
        yield Finding(
            segment.index_path,
            number * 8,
            offset,
            "offset index",
            f"entry {number}: no batch with offset {offset} at position {position}"
            if not fits
            else f"entry {number}: offset {offset} after {before}",
        )
        found += 1
        if found == _MAX_FINDINGS:
            return


def _time_index(segment: SegmentFiles, runs: list[HeaderRun]) -> Iterator[Finding]:
    """No batch up to an entry's offset may be later than its timestamp, and entries ascend."""
    entries = raw_time_entries(segment.time_index_path, segment.base_offset)
    joined = _joined(runs)
    if not entries or segment.time_index_path is None or joined is None:
        return
    _, table = joined
    base = table["base_offset"].astype(np.int64)
    largest = np.maximum.accumulate(table["max_timestamp"].astype(np.int64))
    before = (-1, -1)
    found = 0
    for number, (timestamp, offset) in enumerate(entries):
        slot = int(np.searchsorted(base, offset, side="right")) - 1
        detail = None
        if number and (timestamp <= before[0] or offset < before[1]):
            detail = f"({timestamp}, {offset}) after {before}"
        elif slot >= 0 and largest[slot] > timestamp:
            detail = f"a batch up to offset {offset} is of {largest[slot]}, after {timestamp}"
        if detail is None:
            before = (timestamp, offset)
            continue
        path = segment.time_index_path
        yield Finding(path, number * 12, offset, "time index", f"entry {number}: {detail}")
        found += 1
        if found == _MAX_FINDINGS:
            return
