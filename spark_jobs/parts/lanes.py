"""Partitions to replay: their splits in order, shared among producers, and when they begin.

lanes_of     the partitions of a plan
shared       dealt out to so many producers
first_time   where the clock of a pace starts
rows_of      in a worker: the records of a partition, in order
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, Final, NamedTuple

from pyspark.sql.datasource import Filter

from pykbroker.offline import ReadOptions, Split
from pykbroker.spark.filters import columns_of
from pykbroker.spark.tasks import LogTask
from spark_jobs.parts.reading import chosen_rows

#: Enough for the first batches of a partition.
_FIRST_BYTES: Final = 256 << 10


class Lane(NamedTuple):
    """A partition to replay."""

    topic: str
    partition: int
    splits: tuple[Split, ...]


class Wanted(NamedTuple):
    """The columns and records to read."""

    read_options: ReadOptions
    filters: tuple[Filter, ...]


def lanes_of(tasks: Sequence[LogTask]) -> list[Lane]:
    """Return the partitions of a plan, each with its splits in order."""
    by_partition: dict[tuple[str, int], list[Split]] = {}
    for split in (split for task in tasks for split in task.splits):
        by_partition.setdefault((split.topic, split.partition), []).append(split)
    order = lambda split: (split.segment_base_offset, split.start_position)  # noqa: E731
    return [
        Lane(topic, partition, tuple(sorted(mine, key=order)))
        for (topic, partition), mine in sorted(by_partition.items())
    ]


def shared(lanes: list[Lane], count: int) -> list[tuple[Lane, ...]]:
    """Distribute partitions, the largest first, each to the share with the least."""
    hands: list[tuple[int, int, list[Lane]]] = [(0, number, []) for number in range(count)]
    sized = ((sum(split.size_bytes for split in lane.splits), lane) for lane in lanes)
    for size, lane in sorted(sized, key=itemgetter(0), reverse=True):
        held, number, mine = hands[0]
        mine.append(lane)
        heapq.heapreplace(hands, (held + size, number, mine))
    return [tuple(mine) for _, _, mine in sorted(hands, key=itemgetter(1))]


def first_time(lanes: Sequence[Lane], wanted: Wanted) -> int:
    """Return the earliest time of the partitions' first records with a time, as they will be read;
    0 if none has one.

    It is not the smallest of all: one wrong timestamp would delay everything for years.
    """
    columns = dict.fromkeys(("timestamp_ms", *columns_of(wanted.filters)))
    options = replace(wanted.read_options, columns=tuple(columns), chunk_bytes=_FIRST_BYTES)
    firsts = (_first_of(lane, Wanted(options, wanted.filters)) for lane in lanes)
    return min((time_ms for time_ms in firsts if time_ms is not None), default=0)


def _first_of(lane: Lane, wanted: Wanted) -> int | None:
    for batch in rows_of(lane, wanted):
        for time_ms in batch.column("timestamp_ms").to_pylist():
            if time_ms >= 0:
                return int(time_ms)
    return None


def rows_of(lane: Lane, wanted: Wanted) -> Iterator[Any]:
    """Yield record batches of a partition, in order."""
    for split in lane.splits:
        yield from chosen_rows(split, wanted.read_options, wanted.filters)
