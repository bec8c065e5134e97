"""Splits a read into tasks, in the driver; task_reader.py reads them in workers.

    plan_tasks   options + filters -> LogTasks of about `splitBytes` (few and big: a Python task
                 costs 17 to 58 ms before its first row)

Invariants
    Planning freezes the ends of a read of records or batches; a task of another view reads its
    partition to the end at that time.
    Offsets of options must be there (failOnDataLoss); those of filters only narrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql.datasource import Filter, InputPartition

from pykbroker.offline import (
    ALL_COLUMNS,
    ReadOptions,
    Selection,
    Split,
    log_ends,
    pack_splits,
    plan,
)
from pykbroker.offline.split import FAILFAST
from pykbroker.offline.time_lookup import offset_of_time
from pykbroker.spark.bounds import (
    EARLIEST,
    LATEST,
    Bound,
    Ends,
    OffsetsByPartition,
    by_topic,
    check_order,
    clamp,
    resolve,
)
from pykbroker.spark.filters import Pushdown, columns_of
from pykbroker.spark.options import SourceOptions
from pykbroker.types import TopicPartition

#: Views whose rows are of whole logs, whatever offsets are asked for.
WHOLE_LOGS: Final = ("segments", "transactions")
_FINEST_CUT: Final = 32 << 20


@dataclass(frozen=True)
class LogTask(InputPartition):  # type: ignore[misc]
    """The work of one task: splits in order, or (views segments and transactions) a partition."""

    splits: tuple[Split, ...]
    #: Its columns are those that are wanted, then those that only the filters look at.
    read_options: ReadOptions
    columns: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    view: str = "records"
    selection: Selection | None = None
    corrupt_sink: str | None = None
    corrupt_format: str = "json"

    @property
    def size_bytes(self) -> int:
        return sum(split.size_bytes for split in self.splits)


def base_selection(options: SourceOptions, pushed: Pushdown | None = None) -> Selection:
    """Return the selection that these options describe, without offsets; times are those pushed."""
    return Selection(
        paths=options.paths,
        topics=options.topics if options.assigned is None else None,
        topic_pattern=options.topic_pattern,
        only=options.assigned,
        start_timestamp_ms=None if pushed is None else pushed.start_timestamp_ms,
        end_timestamp_ms=None if pushed is None else pushed.end_timestamp_ms,
        isolation=options.isolation,
        end_bound=options.end_bound,
        fail_on_data_loss=options.fail_on_data_loss,
        is_strict=options.mode == FAILFAST,
    )


def _only(selection: Selection, partitions: Iterable[TopicPartition]) -> Selection:
    chosen = frozenset(partitions)
    return replace(selection, topics=None, topic_pattern=None, partitions=None, only=chosen)


def current_ends(options: SourceOptions) -> Ends:
    """Return the current (log start, readable end) of each partition that is read."""
    return log_ends(base_selection(options))


def offset_at(options: SourceOptions, partition: TopicPartition, timestamp_ms: int) -> int | None:
    """Return the offset of the first record at or after a time; None if there is none."""
    selection = _only(base_selection(options), [partition])
    return offset_of_time(selection, timestamp_ms, options.mode)


def resolve_bound(
    options: SourceOptions, bound: Bound | None, default: int, ends: Ends, is_start: bool
) -> OffsetsByPartition:
    """Return the offsets of one end, by the connector's rules."""
    chosen = bound if bound is not None else Bound("offsets", all_at=default)
    return resolve(
        chosen,
        ends,
        lambda partition, timestamp_ms: offset_at(options, partition, timestamp_ms),
        latest_without_match=options.start_latest_without_match or not is_start,
    )


def plan_tasks(
    options: SourceOptions,
    pushed: Pushdown | None = None,
    *,
    columns: Sequence[str] | None = None,
    at_least: int = 1,
) -> list[LogTask]:
    """Return the tasks of a batch read."""
    options.check_batch()
    ends = current_ends(options)
    pushed = narrowing(options, pushed)
    if options.view in WHOLE_LOGS:  # of empty logs, too
        return tasks_of_ranges(options, ends, pushed, columns=columns, at_least=at_least)
    start = resolve_bound(options, options.start, EARLIEST, ends, is_start=True)
    end = resolve_bound(options, options.end, LATEST, ends, is_start=False)
    check_order(start, end)
    start = clamp(start, ends, "start", options.fail_on_data_loss)
    end = clamp(end, ends, "end", options.fail_on_data_loss)
    narrowed = narrowed_ranges(start, end, pushed)
    return tasks_of_ranges(options, narrowed, pushed, columns=columns, at_least=at_least)


def narrowing(options: SourceOptions, pushed: Pushdown | None = None) -> Pushdown:
    """Return the pushed filters together with those of option `where`."""
    found = replace(pushed, rows=list(pushed.rows)) if pushed is not None else Pushdown()
    for _ in found.push(options.where, tuple(ALL_COLUMNS)):
        pass  # times: they come back to be looked at again, which reading does
    return found


def narrowed_ranges(
    start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], pushed: Pushdown
) -> dict[TopicPartition, tuple[int, int]]:
    """Return offset ranges within the pushed filters; empty partitions are omitted."""
    found = {
        each: (
            max(start[each], pushed.low_offset or 0),
            end[each] if pushed.high_offset is None else min(end[each], pushed.high_offset),
        )
        for each in end
        if (pushed.topics is None or each.topic in pushed.topics)
        and (pushed.partitions is None or each.partition in pushed.partitions)
    }
    return {each: (low, high) for each, (low, high) in found.items() if low < high}


def tasks_of_ranges(
    options: SourceOptions,
    ranges: Mapping[TopicPartition, tuple[int, int]],
    pushed: Pushdown | None = None,
    *,
    columns: Sequence[str] | None = None,
    at_least: int = 1,
) -> list[LogTask]:
    """Return tasks that read these [start, end) offsets of these partitions, without the records
    that `pushed` excludes; the views segments and transactions are of whole partitions.
    """
    if not ranges:
        return []
    pattern = _pattern(options, columns, tuple(pushed.rows) if pushed is not None else ())
    selection = base_selection(options, pushed)
    if options.view in WHOLE_LOGS:
        return [replace(pattern, selection=_only(selection, [each])) for each in sorted(ranges)]
    splits = _splits(options, selection, ranges)
    tasks = pack_splits(splits, options.split_bytes, max(at_least, _wanted_tasks(options, ranges)))
    return [replace(pattern, splits=_joined(task)) for task in tasks]


def task_of_split(options: SourceOptions, split: Split) -> LogTask:
    """Return a task that reads one split, with the columns of the options and no conditions."""
    return replace(_pattern(options), splits=(split,))


def _pattern(
    options: SourceOptions,
    columns: Sequence[str] | None = None,
    filters: tuple[Filter, ...] = (),
) -> LogTask:
    """A task without anything to read yet."""
    wanted = tuple(columns) if columns is not None else options.columns
    read_options = ReadOptions(
        columns=tuple(dict.fromkeys((*wanted, *columns_of(filters)))),
        mode=options.mode,
        verify_checksums=options.verify_checksums,
        decoder=options.decoder,
        chunk_bytes=options.chunk_bytes,
        max_decompressed_bytes=options.max_decompressed_bytes,
    )
    return LogTask(
        (),
        read_options,
        columns=wanted,
        filters=filters,
        view=options.view,
        corrupt_sink=options.corrupt_sink,
        corrupt_format=options.corrupt_format,
    )


def _splits(
    options: SourceOptions,
    selection: Selection,
    ranges: Mapping[TopicPartition, tuple[int, int]],
) -> list[Split]:
    """Finely cut, to be packed evenly; not finer than what reading a piece costs, unless asked."""
    chosen = replace(
        _only(selection, ranges),
        start_offsets=by_topic({each: low for each, (low, _) in ranges.items()}),
        end_offsets=by_topic({each: high for each, (_, high) in ranges.items()}),
    )
    cut = min(options.split_bytes, max(_FINEST_CUT, options.split_bytes // 8))
    splits = plan(chosen, cut).splits
    wanted = _wanted_tasks(options, ranges)
    if len(splits) < wanted:
        cut = max(1, sum(split.size_bytes for split in splits) // wanted)
        splits = plan(chosen, cut).splits
    return splits


def _wanted_tasks(options: SourceOptions, ranges: Mapping[TopicPartition, tuple[int, int]]) -> int:
    wanted = options.min_partitions or 1
    if options.max_records_per_partition is not None:
        total = sum(high - low for low, high in ranges.values())
        wanted = max(wanted, -(-total // options.max_records_per_partition))
    return wanted


def _joined(splits: tuple[Split, ...]) -> tuple[Split, ...]:
    """Join adjacent splits of one file, for a single opening and full chunks."""
    joined: list[Split] = []
    for split in splits:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.path == split.path
            and last.end_position == split.start_position
        ):
            joined[-1] = replace(
                last, end_position=split.end_position, behind_offset=split.behind_offset
            )
        else:
            joined.append(split)
    return tuple(joined)
