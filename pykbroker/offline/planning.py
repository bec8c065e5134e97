"""From a Selection to Splits: which bytes of which files have to be read, frozen at this moment.

    topic, partition    by the names of directories
    offsets             by the names of segments, then by the offset index
    times               by the time index of closed segments, and to start later in one
    transactions        aborted ranges and the last stable offset (read_committed)

Splits are cut where the offset index has an entry that really begins a batch; without an index the
headers are walked.

Invariants
    An index can only make more to be read, never lose a record: what it says of offsets and
    positions is checked against the log, and a time index out of order is not used.
    Splits of a partition are in order, do not overlap, and end at its frozen end.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from pykbroker.offline.aborted_ranges import AbortedByOffset
from pykbroker.offline.faults import OffsetsGone, SegmentGone, UnknownTopic
from pykbroker.offline.file_identity import HEAD_BYTES, identity_of
from pykbroker.offline.frozen_end import FrozenEnd, freeze, open_listed
from pykbroker.offline.layout import find_partitions, read_partitions
from pykbroker.offline.partition_files import PartitionFiles, SegmentFiles
from pykbroker.offline.segment_index import (
    Entries,
    entry_batch,
    is_entry_true,
    offset_entries,
    sound_batch,
    time_entries,
)
from pykbroker.offline.segment_walk import walk_headers
from pykbroker.offline.snapshot_sizes import refuse_changed
from pykbroker.offline.split import (
    DEFAULT_SPLIT_BYTES,
    EARLIEST,
    END_OF_TIME,
    HIGH_WATERMARK,
    INTERNAL_TOPICS,
    LATEST,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    AbortedRange,
    Offsets,
    Selection,
    Split,
    topic_pattern,
)
from pykbroker.offline.storage import SegmentFile, open_file
from pykbroker.offline.transaction_scan import TransactionState, transaction_state
from pykbroker.types import TopicPartition

_MOST_TRIES: Final = 10
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class PlannedPartition:
    """What a partition holds, and which offsets [start_offset, end_offset) will be read."""

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
    """The splits to read, and the partitions that they are of."""

    splits: list[Split]
    partitions: list[PlannedPartition]

    @property
    def size_bytes(self) -> int:
        return sum(split.size_bytes for split in self.splits)


def select_partitions(selection: Selection) -> list[TopicPartition]:
    """The partitions that a selection names; UnknownTopic for a name that is nowhere."""
    there = find_partitions(selection.paths)
    where = ", ".join(selection.paths)
    _check_topics(selection.topics or (), there, where)
    for offsets in (selection.start_offsets, selection.end_offsets):
        if isinstance(offsets, Mapping):
            _check_pairs(_pairs_of(offsets), there, where)
    if selection.only is not None:
        _check_pairs(selection.only, there, where)
        return sorted(selection.only)
    pattern = None if selection.topic_pattern is None else topic_pattern(selection.topic_pattern)
    chosen = [each for each in there if _is_chosen(each, selection, pattern)]
    if selection.partitions is not None and pattern is None:
        for number in sorted(selection.partitions - {each.partition for each in chosen}):
            shown = ", ".join(selection.topics or ("any topic",))
            raise UnknownTopic(f"no partition {number} of {shown} in {where}")
    return chosen


def _check_topics(topics: Iterable[str], there: Sequence[TopicPartition], where: str) -> None:
    names = {each.topic for each in there}
    for topic in topics:
        if topic not in names:
            known = ", ".join(sorted(names)[:10]) or "none"
            raise UnknownTopic(f"no topic {topic!r} in {where}; there are {known}")


def _check_pairs(
    named: Iterable[TopicPartition], there: Sequence[TopicPartition], where: str
) -> None:
    for each in sorted(set(named).difference(there)):
        raise UnknownTopic(f"no partition {each} in {where}")


def _pairs_of(offsets: Mapping[str, Mapping[int, int]]) -> Iterator[TopicPartition]:
    for topic, by_partition in offsets.items():
        for partition in by_partition:
            yield TopicPartition(topic, partition)


def _is_chosen(each: TopicPartition, selection: Selection, pattern: re.Pattern[str] | None) -> bool:
    if selection.partitions is not None and each.partition not in selection.partitions:
        return False
    if selection.topics is not None:
        return each.topic in selection.topics
    if pattern is not None:
        return pattern.fullmatch(each.topic) is not None
    return each.topic not in INTERNAL_TOPICS


def log_ends(selection: Selection) -> dict[TopicPartition, tuple[int, int]]:
    """(log start, end that may be read now) of each partition, without planning the splits."""
    found: dict[TopicPartition, tuple[int, int]] = {}
    for files in read_partitions(selection.paths, select_partitions(selection)):
        ends = while_listed(selection.paths, files, lambda each: _ends(each, selection))
        if ends is not None:
            found[TopicPartition(files.topic, files.partition)] = ends
    return found


def _ends(files: PartitionFiles, selection: Selection) -> tuple[int, int]:
    end, transactions = _readable_end(files, freeze(files), selection)
    if transactions is not None and selection.is_strict:
        transactions.refuse_open()
    return files.log_start_offset, max(end, files.log_start_offset)


def plan(selection: Selection, split_bytes: int = DEFAULT_SPLIT_BYTES) -> Plan:
    """Freeze the ends, resolve the offsets, cut the splits."""
    splits: list[Split] = []
    partitions: list[PlannedPartition] = []
    for files in read_partitions(selection.paths, select_partitions(selection)):
        planned = while_listed(
            selection.paths, files, lambda each: plan_partition(each, selection, split_bytes)
        )
        if planned is not None:
            partitions.append(planned[0])
            splits += planned[1]
    return Plan(splits, partitions)


def while_listed(
    paths: Iterable[str],
    files: PartitionFiles,
    look: Callable[[PartitionFiles], _Found],
    *,
    may_be_changed: bool = False,
) -> _Found | None:
    """What `look` finds in a partition; None: it was deleted meanwhile.

    FileNotFoundError and SegmentGone are taken for compaction or retention: it is listed again.
    OfflineError for a partition of a snapshot that is not what it was, unless it `may_be_changed`.
    """
    wanted = [TopicPartition(files.topic, files.partition)]
    paths = tuple(paths)
    found = [files]
    for _ in range(_MOST_TRIES):
        try:
            if not may_be_changed:
                refuse_changed(found[0])
            return look(found[0])
        except (FileNotFoundError, SegmentGone):
            found = read_partitions(paths, wanted)
            if not found:
                return None
    raise OffsetsGone(f"segments of {files} go faster than they can be listed in {files.directory}")


def plan_partition(
    files: PartitionFiles, selection: Selection, split_bytes: int = DEFAULT_SPLIT_BYTES
) -> tuple[PlannedPartition, list[Split]]:
    """What of one partition, as it was listed, has to be read."""
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
    """(splits of a split's offsets [low, high) as they lie now, end of the log)"""
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
    """(exclusive end by the bound and isolation that were asked for, what is committed)."""
    end = frozen.next_offset
    if selection.end_bound == HIGH_WATERMARK and files.high_watermark is not None:
        end = min(end, files.high_watermark)
    if selection.isolation != READ_COMMITTED:
        return end, None
    state = transaction_state(files, frozen.position, frozen.next_offset, end)
    return state.last_stable_offset, state


def _resolve(files: PartitionFiles, readable: int, selection: Selection) -> tuple[int, int]:
    """The offsets to read; OffsetsGone when some that were asked for are not there."""
    low, high = files.log_start_offset, max(readable, files.log_start_offset)
    start = _offset_of(selection.start_offsets, files, EARLIEST, low, high)
    end = _offset_of(selection.end_offsets, files, LATEST, low, high)
    if start > end and None not in (selection.start_offsets, selection.end_offsets):
        raise OffsetsGone(f"start offset {start} of {files} is behind the end offset {end}")
    if selection.fail_on_data_loss:
        for what, offset in (("start", start), ("end", end)):
            if not low <= offset <= high:
                raise OffsetsGone(
                    f"{what} offset {offset} of {files} is not there: its offsets are "
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


class _PartitionPlanner:
    """Cuts one partition."""

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
        splits: list[Split] = []
        segments = self.files.segments
        if self.start >= self.end:
            return splits
        ranges = AbortedByOffset(aborted)
        for index, segment in enumerate(segments):
            is_last = index + 1 == len(segments)
            behind = self.frozen.next_offset if is_last else segments[index + 1].base_offset
            if (behind <= self.start and not is_last) or segment.base_offset >= self.end:
                continue
            end = self.frozen.position if is_last else segment.size_bytes
            if end == 0 or (not is_last and self._is_too_old(segment, behind)):
                continue
            inside = ranges.within(segment.base_offset, behind)
            splits += self._of_segment(
                segment, end, behind, inside, END_OF_TIME if is_last else behind
            )
        return splits

    def _of_segment(
        self,
        segment: SegmentFiles,
        end: int,
        behind: int,
        aborted: tuple[AbortedRange, ...],
        next_base_offset: int,
    ) -> list[Split]:
        """The splits of one segment up to position `end`; `behind`: above all of its offsets."""
        is_last = segment is self.files.segments[-1]
        with open_listed(segment, end) as opened:
            if not is_last and opened.size != segment.size_bytes:
                raise FileNotFoundError(segment.path)  # replaced since it was listed
            identity = identity_of(opened)
            positions = self._positions(opened, segment, end)
            heads = [opened.read(HEAD_BYTES, position) for position in positions[:-1]]
        # From what the headers at the cuts say; nothing of a segment is below or above its names.
        firsts = [segment.base_offset]
        for head in heads[1:]:
            firsts.append(min(max(int.from_bytes(head[:8]), firsts[-1]), behind))
        firsts.append(behind)
        return [
            replace(
                self._split(segment, low, high, aborted, next_base_offset),
                first_offset=firsts[number],
                behind_offset=min(firsts[number + 1], self.end),
                file_identity=identity,
                head=(low, heads[number][: high - low]),
            )
            for number, (low, high) in enumerate(itertools.pairwise(positions))
        ]

    def _split(
        self,
        segment: SegmentFiles,
        low: int,
        high: int,
        aborted: tuple[AbortedRange, ...],
        next_base_offset: int,
    ) -> Split:
        selection = self.selection
        return Split(
            path=segment.path,
            topic=self.files.topic,
            partition=self.files.partition,
            segment_base_offset=segment.base_offset,
            start_position=low,
            end_position=high,
            start_offset=self.start,
            end_offset=self.end,
            start_timestamp_ms=selection.start_timestamp_ms,
            end_timestamp_ms=selection.end_timestamp_ms,
            aborted=aborted,
            index_path=segment.index_path,
            read_committed=selection.isolation == READ_COMMITTED,
            file_bytes=None if segment is self.files.segments[-1] else segment.size_bytes,
            fail_on_data_loss=selection.fail_on_data_loss,
            next_base_offset=next_base_offset,
            topic_id=self.files.topic_id,
        )

    def _is_too_old(self, segment: SegmentFiles, behind: int) -> bool:
        """Whether the time index of a closed segment says that all of it is before the start."""
        low = self.selection.start_timestamp_ms
        if low is None:
            return False
        entries = time_entries(segment.time_index_path, segment.base_offset)
        if not entries or entries[-1][1] >= behind:
            return False
        # Closing a segment adds the entry of its largest timestamp; one that is missing may be
        # any number of records short, so the last batches have the word.
        return entries[-1][0] < low and self._tail_is_older(segment, entries[-1][1], low)

    def _tail_is_older(self, segment: SegmentFiles, offset: int, low: int) -> bool:
        """Whether all batches behind the last time index entry are older than `low`, and sound."""
        with open_file(segment.path) as opened:
            position = 0
            entries = offset_entries(segment.index_path, segment.base_offset, opened.size)
            slot = bisect_right(entries, offset, key=lambda entry: entry[0]) - 1
            if slot >= 0 and is_entry_true(opened, entries[slot], opened.size):
                position = entries[slot][1]
            return all(
                header is not None
                and header.max_timestamp < low
                and sound_batch(opened, at, header.size_bytes) is not None
                for at, header in walk_headers(opened, segment, opened.size, position)
            )

    def _positions(self, opened: SegmentFile, segment: SegmentFiles, end: int) -> list[int]:
        """Where to begin, to cut, and to stop reading a segment."""
        entries = offset_entries(segment.index_path, segment.base_offset, end)

        def first_true(candidates: Iterable[tuple[int, int]], least: int = 0) -> int | None:
            """The position of the first one that names a batch of offsets >= `least`."""
            for entry in candidates:
                header = entry_batch(opened, entry, end)
                if header is not None and header.base_offset >= least:
                    return entry[1]
            return None

        low = first_true(reversed(entries[: self._floor(segment, entries)])) or 0
        above = bisect_left(entries, self.end, key=lambda entry: entry[0])
        high = None
        if self.end < self.frozen.next_offset:
            high = first_true(entries[above + 1 :], self.end)
        stop = end if high is None else high
        positions = [low]
        while stop - positions[-1] > self.split_bytes * 3 // 2:
            target = positions[-1] + self.split_bytes
            slot = bisect_left(entries, target, key=lambda entry: entry[1])
            cut = first_true(entries[slot:])
            if cut is None:
                positions += self._walked(opened, segment, positions[-1], stop)
                break
            if cut >= stop:
                break
            positions.append(cut)
        return [*positions, stop]

    def _floor(self, segment: SegmentFiles, entries: Entries) -> int:
        """How many leading index entries are at or before the first record that is wanted."""
        offset = self.start
        low = self.selection.start_timestamp_ms
        if low is not None:
            times = time_entries(segment.time_index_path, segment.base_offset)
            slot = bisect_left(times, low, key=lambda entry: entry[0]) - 1
            if slot >= 0:
                offset = max(offset, times[slot][1])
        return bisect_right(entries, offset, key=lambda entry: entry[0])

    def _walked(
        self, opened: SegmentFile, segment: SegmentFiles, start: int, stop: int
    ) -> list[int]:
        """Cuts found by walking the headers, for what no index covers."""
        cuts: list[int] = []
        last = start
        for position, header in walk_headers(opened, segment, stop, start):
            far = position - last >= self.split_bytes
            if header is not None and far and stop - position > self.split_bytes // 2:
                cuts.append(position)
                last = position
        return cuts


def pack_splits(
    splits: Sequence[Split], target_bytes: int, at_least: int = 1
) -> list[tuple[Split, ...]]:
    """Splits in order, put together into tasks of about one size, `target_bytes` or less.

    Their number is a multiple of `at_least`, so that as many workers end together; fewer tasks if
    there are not so many splits.
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
