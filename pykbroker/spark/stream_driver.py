"""Streams: log directories tailed in micro-batches, exactly once by Spark's checkpoints.

State   none that must survive: a micro-batch is two maps of offsets in Spark's checkpoint, in the
        form of the Kafka source: {"topic": {"0": 5}}. The rest (the time of the last batch, the
        target of AvailableNow) is of this run.
Invariants
    The same offsets give the same rows, however often they are asked for, as long as retention,
    compaction or truncation has not changed the log in between.
    An incomplete last batch is beyond the end, and is read with a later micro-batch.
    New partitions start at their earliest record.
    Lost data, including named topics that were deleted, raises OffsetsGone (failOnDataLoss);
    otherwise it is skipped, and partitions that vanished are logged.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from pykbroker.offline import OffsetsGone, UnknownTopic
from pykbroker.offline.layout import find_partitions
from pykbroker.spark.bounds import (
    LATEST,
    Ends,
    OffsetsByPartition,
    OffsetsNode,
    clamp,
    from_node,
    limited,
    to_node,
)
from pykbroker.spark.columns import chosen_columns, worker_schema
from pykbroker.spark.faults import told_briefly
from pykbroker.spark.options import SourceOptions
from pykbroker.spark.task_reader import conform, read_task
from pykbroker.spark.tasks import (
    LogTask,
    current_ends,
    narrowed_ranges,
    narrowing,
    resolve_bound,
    tasks_of_ranges,
)
from pykbroker.types import TopicPartition

_LOGGER = logging.getLogger(__name__)
_MOST_LOOKS: Final = 10


class LogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    """Tails the partitions of its options."""

    def __init__(self, options: SourceOptions, schema: StructType, tasks: int) -> None:
        self.options = options
        self.columns = chosen_columns(schema, options)
        self.arrow_schema = worker_schema(schema)
        self.at_least = tasks
        self.target: OffsetsByPartition | None = None
        self.last_trigger_ms: int | None = None

    # -- offsets --------------------------------------------------------------------------------

    @told_briefly
    def initialOffset(self) -> OffsetsNode:
        ends = current_ends(self.options)
        start = resolve_bound(self.options, self.options.start, LATEST, ends, is_start=True)
        return to_node(clamp(start, ends, "start", self.options.fail_on_data_loss))

    def getDefaultReadLimit(self) -> ReadLimit:
        options = self.options
        if options.max_offsets_per_trigger is not None:
            return ReadMaxRows(options.max_offsets_per_trigger)
        if options.max_bytes_per_trigger is not None:
            return ReadMaxBytes(options.max_bytes_per_trigger)
        if options.min_offsets_per_trigger is not None:
            return ReadMinRows(options.min_offsets_per_trigger)
        return ReadAllAvailable()

    @told_briefly
    def prepareForTriggerAvailableNow(self) -> None:
        self.target = {each: end for each, (_, end) in self._ends().items()}

    @told_briefly
    def reportLatestOffset(self) -> OffsetsNode:
        return to_node({each: end for each, (_, end) in self._ends().items()})

    @told_briefly
    def latestOffset(self, start: Mapping[str, Any], limit: ReadLimit) -> OffsetsNode:
        begun = from_node(start)
        ends = self._ends(begun)
        begin = self._begin(begun, ends)
        latest = {each: end for each, (_, end) in ends.items()}
        if self.target is not None:
            latest = {
                each: min(end, self.target.get(each, begin[each])) for each, end in latest.items()
            }
        elif self._should_wait(begin, latest, limit):
            return to_node(begun)
        if not isinstance(limit, ReadAllAvailable):
            latest = self._limited(begin, latest, limit)
        return to_node({each: max(end, begin[each]) for each, end in latest.items()})

    def _ends(self, begun: OffsetsByPartition | None = None) -> Ends:
        """Return where the available records of the partitions begin and end.

        failOnDataLoss, if it is known where reading has `begun`: OffsetsGone for what is gone of
        that, UnknownTopic for another name that nothing has.
        """
        options = self.options
        for _ in range(_MOST_LOOKS):
            try:
                return current_ends(options)
            except UnknownTopic:
                there = frozenset(find_partitions(options.paths))
                if begun is not None and self.options.fail_on_data_loss:
                    self._leave_out(begun.keys() - there)
                    raise
                named = frozenset(filter(self._is_named, there))
                if not named:
                    return {}
                options = replace(self.options, topics=None, assigned=named)
        raise OffsetsGone("topics are deleted faster than they can be listed")

    def _is_named(self, partition: TopicPartition) -> bool:
        if self.options.assigned is not None:
            return partition in self.options.assigned
        return partition.topic in (self.options.topics or ())

    def _leave_out(self, gone: Iterable[TopicPartition]) -> None:
        """OffsetsGone for partitions that are gone, or (failOnDataLoss=false) a warning."""
        names = ", ".join(map(str, sorted(gone)))
        if not names:
            return
        if self.options.fail_on_data_loss:
            raise OffsetsGone(
                f"no longer there: {names} (failOnDataLoss=false reads what there is)"
            )
        _LOGGER.warning("left out, as no longer there: %s", names)

    def _begin(self, start: OffsetsByPartition, ends: Ends) -> OffsetsByPartition:
        """Return where to continue in each existing partition.

        failOnDataLoss: OffsetsGone for those that vanished, got shorter, or are new and do not
        begin at 0. Otherwise the vanished ones are logged, and the others read from where they can.
        """
        self._leave_out(start.keys() - ends.keys())
        if self.options.fail_on_data_loss:
            for each in sorted(start):
                if start[each] > ends[each][1]:
                    raise OffsetsGone(
                        f"{each} ended at offset {start[each]} and now ends at {ends[each][1]} "
                        "(failOnDataLoss=false reads what there is)"
                    )
            self._check_new(ends, start)
        return {each: min(start.get(each, low), high) for each, (low, high) in ends.items()}

    def _check_new(self, ends: Ends, start: OffsetsByPartition) -> None:
        """Check a new partition: it has lost records if it does not begin at 0."""
        for each in sorted(ends.keys() - start.keys()):
            low = ends[each][0]
            if low > 0:
                raise OffsetsGone(
                    f"{each} is new and begins at offset {low}, not at 0 "
                    "(failOnDataLoss=false reads what there is)"
                )

    def _should_wait(
        self, begin: OffsetsByPartition, latest: OffsetsByPartition, limit: ReadLimit
    ) -> bool:
        """Return whether to wait for minOffsetsPerTrigger, but not longer than maxTriggerDelay."""
        least = self.options.min_offsets_per_trigger
        if least is None or isinstance(limit, ReadAllAvailable):
            return False
        now_ms = time.monotonic_ns() // 1_000_000
        last_ms = self.last_trigger_ms
        waited_enough = last_ms is None or now_ms - last_ms >= self.options.max_trigger_delay_ms
        new = sum(max(0, latest[each] - begin[each]) for each in latest)
        if new < least and not waited_enough:
            return True
        self.last_trigger_ms = now_ms
        return False

    def _limited(
        self, begin: OffsetsByPartition, latest: OffsetsByPartition, limit: ReadLimit
    ) -> OffsetsByPartition:
        """Apply each limit of the options: Spark asks only for one of them."""
        most = self.options.max_bytes_per_trigger
        if isinstance(limit, ReadMaxBytes):
            most = limit.max_bytes
        if most is not None:
            latest = self._limited_by_bytes(begin, latest, most)
        return limited(begin, latest, limit.max_rows) if isinstance(limit, ReadMaxRows) else latest

    def _limited_by_bytes(
        self, begin: OffsetsByPartition, latest: OffsetsByPartition, limit: int
    ) -> OffsetsByPartition:
        """Limit by the average size of pending records: approximate, but never zero."""
        tasks = self._tasks(begin, latest)
        size = sum(task.size_bytes for task in tasks)
        if size <= limit:
            return latest
        total = sum(max(0, latest[each] - begin[each]) for each in latest)
        return limited(begin, latest, max(1, total * limit // size))

    # -- rows -----------------------------------------------------------------------------------

    @told_briefly
    def partitions(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[InputPartition]:
        return list(self._tasks(from_node(start), from_node(end)))

    def _tasks(self, start: OffsetsByPartition, end: OffsetsByPartition) -> list[LogTask]:
        try:
            return self._planned(start, end)
        except UnknownTopic:  # deleted since it was listed
            return self._planned(start, end)

    def _planned(self, start: OffsetsByPartition, end: OffsetsByPartition) -> list[LogTask]:
        new = end.keys() - start.keys()
        ends = self._ends() if new else {}
        listed = frozenset(find_partitions(self.options.paths))
        there = [each for each in sorted(end) if each in (ends if each in new else listed)]
        self._leave_out(end.keys() - set(there))
        if self.options.fail_on_data_loss:
            self._check_new({each: ends[each] for each in new}, start)
        begin = {each: ends[each][0] if each in new else start[each] for each in there}
        pushed = narrowing(self.options)
        return tasks_of_ranges(
            self.options,
            narrowed_ranges(begin, {each: end[each] for each in there}, pushed),
            pushed,
            columns=self.columns,
            at_least=self.at_least,
        )

    def read(self, partition: InputPartition) -> Iterator[Any]:
        if not isinstance(partition, LogTask):
            return iter(())
        return conform(read_task(partition), self.arrow_schema)
