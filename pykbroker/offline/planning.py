"""Plans Splits for a Selection: which bytes of which files to read, frozen at this moment.

    topic, partition    by the names of directories
    offsets             by the names of segments, then by the offset index
    times               by the time index of closed segments, and to start later in one
    transactions        aborted ranges and the last stable offset (read_committed)

Invariant   Splits of a partition are in order, do not overlap, and end by its frozen end.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pykbroker.offline.aborted_ranges import AbortedByOffset
from pykbroker.offline.faults import OffsetsGone
from pykbroker.offline.file_identity import HEAD_BYTES, identity_of
from pykbroker.offline.frozen_end import FrozenEnd, freeze, open_listed
from pykbroker.offline.old_part import begins_old
from pykbroker.offline.partition_files import PartitionFiles, SegmentFiles
from pykbroker.offline.segment_cuts import SegmentCuts, is_older
from pykbroker.offline.selecting import look_at_each
from pykbroker.offline.split import (
    DEFAULT_SPLIT_BYTES,
    EARLIEST,
    END_OF_TIME,
    HIGH_WATERMARK,
    LATEST,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    AbortedRange,
    Offsets,
    Selection,
    Split,
)
from pykbroker.offline.storage import SegmentFile
from pykbroker.offline.transaction_scan import TransactionState, transaction_state
from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple


@dataclass(frozen=True)
class PlannedPartition:
    """The offsets that a partition contains, and those [start_offset, end_offset) to read."""

    topic: str
    partition: int
    topic_id: bytes | None
    directory: str
    log_start_offset: int
    log_end_offset: int
    high_watermark: int | None
    last_stable_offset: int | None
    start_offset: int
    end_offset: int
    foreign: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """The splits to read, and their partitions."""

    splits: list[Split]
    partitions: list[PlannedPartition]

    @property
    def size_bytes(self) -> int:
        return sum(split.size_bytes for split in self.splits)


def log_ends(selection: Selection) -> dict[TopicPartition, tuple[int, int]]:
    """Return (log start, readable end) of each partition, without planning the splits.

    A strict selection of committed records raises CorruptSegment if damage may hide the marker of a
    transaction that may still be open.
    """
    return dict(look_at_each(selection, lambda files: _ends(files, selection)))


def _ends(files: PartitionFiles, selection: Selection) -> tuple[TopicPartition, tuple[int, int]]:
    end, transactions = _readable_end(files, freeze(files), selection)
    if transactions is not None and selection.is_strict:
        transactions.refuse_open()
    low = files.log_start_offset
    return TopicPartition(files.topic, files.partition), (low, max(end, low))


def plan(selection: Selection, split_bytes: int = DEFAULT_SPLIT_BYTES) -> Plan:
    """Freeze the ends, resolve the offsets, cut the splits."""
    planned = look_at_each(selection, lambda files: plan_partition(files, selection, split_bytes))
    return Plan(
        [split for _, splits in planned for split in splits],
        [partition for partition, _ in planned],
    )


def plan_partition(
    files: PartitionFiles, selection: Selection, split_bytes: int = DEFAULT_SPLIT_BYTES
) -> tuple[PlannedPartition, list[Split]]:
    """Plan what to read of one listed partition.

    Raises OffsetsGone (see `_resolve`), FileNotFoundError if a segment was replaced since it was
    listed, and for a strict selection of committed records CorruptSegment (see `refuse`).
    """
    frozen = freeze(files)
    readable, transactions = _readable_end(files, frozen, selection)
    start, end = _resolve(files, readable, selection)
    aborted: tuple[AbortedRange, ...] = ()
    if transactions is not None:
        if selection.is_strict:
            transactions.refuse(start, end)
        aborted = transactions.left_out(start)
    planned = PlannedPartition(
        files.topic,
        files.partition,
        files.topic_id,
        files.directory,
        files.log_start_offset,
        frozen.next_offset,
        files.high_watermark,
        readable if selection.isolation == READ_COMMITTED else None,
        start,
        end,
        files.foreign,
    )
    planner = _PartitionPlanner(files, frozen, selection, split_bytes, start, end)
    return planned, planner.cut(aborted)


def replan(files: PartitionFiles, split: Split, low: int, high: int) -> tuple[list[Split], int]:
    """Return (current splits for a split's offsets [low, high), end of the log)."""
    frozen = freeze(files)
    selection = Selection(
        paths=(files.directory,),
        start_timestamp_ms=split.start_timestamp_ms,
        end_timestamp_ms=split.end_timestamp_ms,
        isolation=READ_COMMITTED if split.read_committed else READ_UNCOMMITTED,
        fail_on_data_loss=split.fail_on_data_loss,
    )
    low, high = max(low, files.log_start_offset), min(high, frozen.next_offset)
    planner = _PartitionPlanner(files, frozen, selection, DEFAULT_SPLIT_BYTES, low, high)
    return planner.cut(split.aborted), frozen.next_offset


def _readable_end(
    files: PartitionFiles, frozen: FrozenEnd, selection: Selection
) -> tuple[int, TransactionState | None]:
    """Return (exclusive end by the requested bound and isolation, what is committed; None for
    read_uncommitted).
    """
    end = frozen.next_offset
    if selection.end_bound == HIGH_WATERMARK and files.high_watermark is not None:
        end = min(end, files.high_watermark)
    if selection.isolation != READ_COMMITTED:
        return end, None
    state = transaction_state(files, frozen.position, frozen.next_offset, end)
    return state.last_stable_offset, state


def _resolve(files: PartitionFiles, readable: int, selection: Selection) -> tuple[int, int]:
    """Return the offsets to read, of those that exist. Raises OffsetsGone if a requested one does
    not exist (with `fail_on_data_loss`), or if the start is after the end and the selection has
    both.
    """
    low, high = files.log_start_offset, max(readable, files.log_start_offset)
    start = _offset_of(selection.start_offsets, files, EARLIEST, low, high)
    end = _offset_of(selection.end_offsets, files, LATEST, low, high)
    if start > end and None not in (selection.start_offsets, selection.end_offsets):
        raise OffsetsGone(f"start offset {start} of {files} is after the end offset {end}")
    if selection.fail_on_data_loss:
        for what, offset in (("start", start), ("end", end)):
            if not low <= offset <= high:
                raise OffsetsGone(
                    f"{what} offset {offset} of {files} does not exist: its offsets are "
                    f"{low} to {high} in {files.directory}"
                )
    return min(max(start, low), high), min(max(end, low), high)


def _offset_of(offsets: Offsets, files: PartitionFiles, default: int, low: int, high: int) -> int:
    offset = offsets
    if isinstance(offset, Mapping):
        offset = offset.get(files.topic, {}).get(files.partition, default)
    if offset is None:
        offset = default
    return low if offset == EARLIEST else high if offset == LATEST else offset


class _Part(NamedTuple):
    """A segment up to position `end`; all of its offsets are below `behind`."""

    segment: SegmentFiles
    is_last: bool
    end: int
    behind: int


class _PartitionPlanner:
    """Plans the splits of one partition."""

    def __init__(
        self,
        files: PartitionFiles,
        frozen: FrozenEnd,
        selection: Selection,
        split_bytes: int,
        start: int,
        end: int,
    ) -> None:
        self.files = files
        self.frozen = frozen
        self.selection = selection
        self.split_bytes = max(1, split_bytes)
        self.start = start
        self.end = end

    def cut(self, aborted: Sequence[AbortedRange]) -> list[Split]:
        ranges = AbortedByOffset(aborted)
        return [
            split
            for part in self._parts()
            for split in self._of_part(part, ranges.within(part.segment.base_offset, part.behind))
        ]

    def _parts(self) -> Iterator[_Part]:
        """Yield the segments that may contain wanted records, judged by their names; closed ones
        also by their time index and last batches.
        """
        segments = self.files.segments
        low_ms = self.selection.start_timestamp_ms
        for segment, next_segment in itertools.zip_longest(segments, segments[1:]):
            if self.start >= self.end or segment.base_offset >= self.end:
                return
            if next_segment is None:
                if self.frozen.position:
                    yield _Part(segment, True, self.frozen.position, self.frozen.next_offset)
                return
            behind = next_segment.base_offset
            if behind <= self.start or not segment.size_bytes:
                continue
            if low_ms is None or not is_older(segment, behind, low_ms):
                yield _Part(segment, False, segment.size_bytes, behind)

    def _of_part(self, part: _Part, aborted: tuple[AbortedRange, ...]) -> list[Split]:
        segment, is_last, end, behind = part
        with open_listed(segment, end) as opened:
            if not is_last and opened.size != segment.size_bytes:
                raise FileNotFoundError(segment.path)  # replaced since it was listed
            identity = identity_of(opened)
            cuts = SegmentCuts(opened, segment, end)
            positions = self._positions(opened, cuts, end)
            heads = [opened.read(HEAD_BYTES, position) for position in positions[:-1]]
        # From what the headers at the cuts say; nothing of a segment is below or above its names.
        firsts = [segment.base_offset]
        for head in heads[1:]:
            firsts.append(min(max(int.from_bytes(head[:8]), firsts[-1]), behind))
        firsts.append(behind)
        whole = replace(self._whole(part), aborted=aborted, file_identity=identity)
        return [
            replace(
                whole,
                start_position=low,
                end_position=high,
                first_offset=firsts[number],
                behind_offset=min(firsts[number + 1], self.end),
                last_offset_before=cuts.last_before.get(low),
                head=(low, heads[number][: high - low]),
            )
            for number, (low, high) in enumerate(itertools.pairwise(positions))
            if firsts[number + 1] > self.start  # without an index there are pieces before the start
        ]

    def _positions(self, opened: SegmentFile, cuts: SegmentCuts, end: int) -> list[int]:
        if begins_old(opened, 0):  # the starts of its messages are unknown: read as a whole
            return [0, end]
        start = cuts.start(self.start, self.selection.start_timestamp_ms)
        stop = cuts.stop(self.end) if self.end < self.frozen.next_offset else end
        return [start, *cuts.between(start, stop, self.split_bytes), stop]

    def _whole(self, part: _Part) -> Split:
        """Return a whole segment as one split."""
        segment, selection = part.segment, self.selection
        return Split(
            path=segment.path,
            topic=self.files.topic,
            partition=self.files.partition,
            segment_base_offset=segment.base_offset,
            start_position=0,
            end_position=part.end,
            start_offset=self.start,
            end_offset=self.end,
            start_timestamp_ms=selection.start_timestamp_ms,
            end_timestamp_ms=selection.end_timestamp_ms,
            index_path=segment.index_path,
            read_committed=selection.isolation == READ_COMMITTED,
            file_bytes=None if part.is_last else segment.size_bytes,
            fail_on_data_loss=selection.fail_on_data_loss,
            next_base_offset=END_OF_TIME if part.is_last else part.behind,
            topic_id=self.files.topic_id,
        )


def pack_splits(
    splits: Sequence[Split], target_bytes: int, at_least: int = 1
) -> list[tuple[Split, ...]]:
    """Group consecutive splits into tasks of about the same size: `target_bytes` on average, or
    less, if the splits are small enough.

    The number of tasks is a multiple of `at_least`, so that as many workers end together. There are
    fewer if there are too few splits, or if large ones leave tasks empty.
    """
    total = sum(split.size_bytes for split in splits)
    at_least = max(1, at_least)
    rounds = -(-total // (max(1, target_bytes) * at_least))
    wanted = max(1, rounds) * at_least
    tasks: list[list[Split]] = [[] for _ in range(min(wanted, len(splits)))]
    before = 0
    for split in splits:  # by where its middle lies
        tasks[(2 * before + split.size_bytes) * len(tasks) // (2 * total + 1)].append(split)
        before += split.size_bytes
    return [tuple(task) for task in tasks if task]
