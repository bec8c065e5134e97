"""`open_log`: topics of log directories as one stream of Arrow record batches.

    log = open_log("/var/kafka-logs", "orders")      plans, and freezes the ends
    log.read_all()                                   pyarrow.Table
    log.to_pandas()                                  pandas.DataFrame
    polars.DataFrame(log)                            by __arrow_c_stream__
    duckdb.sql("select count(*) from log")           likewise

State   the plan, and the side table of the batches skipped so far.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from numbers import Integral
from typing import Any

import pyarrow as pa

from pykbroker.offline.columns import KAFKA_COLUMNS, schema_of
from pykbroker.offline.fast_decoder import read_fast
from pykbroker.offline.faults import BadOption
from pykbroker.offline.left_out import LeftOut
from pykbroker.offline.plain_decoder import read_plain
from pykbroker.offline.planning import Plan, PlannedPartition, plan
from pykbroker.offline.split import (
    DEFAULT_CHUNK_BYTES,
    DEFAULT_MAX_DECOMPRESSED_BYTES,
    DEFAULT_SPLIT_BYTES,
    FAILFAST,
    LOG_END,
    NUMPY,
    PLAIN,
    READ_UNCOMMITTED,
    FaultReporter,
    Offsets,
    OnCorruption,
    ReadOptions,
    Selection,
    Split,
    corruption_table,
)

#: One name or path, or many.
Names = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def read_split(
    split: Split, options: ReadOptions, on_corruption: OnCorruption | None = None
) -> Iterator[Any]:
    """Yield the rows of a split as record batches of `schema_of(options.columns)`.

    A corrupt batch raises CorruptSegment with FAILFAST; otherwise it is passed to `on_corruption`
    and skipped. Raises SegmentGone as `open_parts` does.
    """
    reporter = FaultReporter(split, options.mode, on_corruption)
    read = read_plain if options.decoder == PLAIN else read_fast
    return read(split, options, reporter)


class LogScan:
    """Records of a plan. Every read starts again, and ends at the ends frozen at opening.

    `corruptions`, `corrupt_batches` and `corrupt_bytes` belong to the most recently started read.
    """

    def __init__(self, planned: Plan, options: ReadOptions) -> None:
        self._plan = planned
        self.options = options
        self.schema = schema_of(options.columns)
        self._left_out = LeftOut()

    @property
    def splits(self) -> list[Split]:
        return self._plan.splits

    @property
    def partitions(self) -> list[PlannedPartition]:
        return self._plan.partitions

    @property
    def corruptions(self) -> Any:
        """Return the side table: the skipped batches (the first 10,000), and why."""
        return corruption_table(self._left_out.kept)

    @property
    def corrupt_batches(self) -> int:
        """Return the number of skipped batches, including those that the side table has no room
        for.
        """
        return self._left_out.batches

    @property
    def corrupt_bytes(self) -> int:
        return self._left_out.bytes

    def __repr__(self) -> str:
        names = ", ".join(f"{each.topic}-{each.partition}" for each in self.partitions)
        return f"LogScan({names}; {len(self.splits)} splits, {self._plan.size_bytes} bytes)"

    def __iter__(self) -> Iterator[Any]:
        left_out = self._left_out = LeftOut()
        for split in self.splits:
            yield from read_split(split, self.options, left_out.note)

    def to_reader(self) -> Any:
        """Return a pyarrow.RecordBatchReader."""
        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def read_all(self) -> Any:
        """Return all rows as a pyarrow.Table."""
        return pa.Table.from_batches(iter(self), schema=self.schema)

    def to_pandas(self) -> Any:
        """Return all rows as a pandas.DataFrame."""
        return self.read_all().to_pandas()

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a LogScan is not an array; use to_pandas() or read_all()")

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_reader().__arrow_c_stream__(requested_schema)


def names_of(names: Names | None) -> tuple[str, ...] | None:
    """Return one name or path, or many, as a tuple; None for None. Raises BadOption for others."""
    if names is None:
        return None
    given: object = names
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        return tuple(map(_name_of, given))
    return (_name_of(given),)


def _name_of(name: object) -> str:
    found = os.fspath(name) if isinstance(name, os.PathLike) else name
    if not isinstance(found, str):
        raise BadOption(f"{name!r} is neither a name nor a path")
    return found


def numbers_of(partitions: Collection[int] | None) -> frozenset[int] | None:
    """Return partition numbers as a set; None, for all, stays None. Raises BadOption for others."""
    if partitions is None:
        return None
    listed: object = partitions
    if not isinstance(listed, Collection) or not all(isinstance(each, Integral) for each in listed):
        raise BadOption(f"partitions must be a list of numbers, not {partitions!r}")
    return frozenset(partitions)


def open_log(
    paths: Names,
    topics: str | Iterable[str] | None = None,
    *,
    topic_pattern: str | None = None,
    partitions: Collection[int] | None = None,
    start_offsets: Offsets = None,
    end_offsets: Offsets = None,
    start_timestamp_ms: int | None = None,
    end_timestamp_ms: int | None = None,
    columns: str | Iterable[str] | None = None,
    headers: bool = False,
    isolation: str = READ_UNCOMMITTED,
    mode: str = FAILFAST,
    verify_checksums: bool = True,
    end_bound: str = LOG_END,
    decoder: str = NUMPY,
    fail_on_data_loss: bool = True,
    split_bytes: int = DEFAULT_SPLIT_BYTES,
    chunk_bytes: int = DEFAULT_CHUNK_BYTES,
    max_decompressed_bytes: int = DEFAULT_MAX_DECOMPRESSED_BYTES,
) -> LogScan:
    """Plan to read topics of log directories (paths or URIs); all but internal ones by default.

    paths, topics       one or many; a path may also be the directory of one partition
    start/end_offsets   {topic: {partition: offset}} or one offset for all; -2 earliest, -1 latest;
                        ends are exclusive
    start/end_timestamp_ms   of the records; the end is exclusive
    columns             names of `ALL_COLUMNS`; Spark's seven by default, plus `headers` if asked
    isolation           read_uncommitted | read_committed (no aborted records, nothing behind the
                        last stable offset)
    mode                FAILFAST raises CorruptSegment at the first corrupt batch; DROPMALFORMED
                        leaves it out and lists it in `corruptions`; PERMISSIVE keeps its bytes
                        there, too (the first 64 KiB, 16 MiB in all)
    end_bound           leo (all that is written) | hw (the high watermark, if there is a checkpoint
                        of it)
    decoder             numpy | plain (record by record, to check the other)
    fail_on_data_loss   OffsetsGone when offsets that were asked for are not there; else
                        less is read
    """
    chosen = KAFKA_COLUMNS if columns is None else names_of(columns) or ()
    if headers and "headers" not in chosen:
        chosen = (*chosen, "headers")
    options = ReadOptions(
        chosen, mode, verify_checksums, decoder, chunk_bytes, max_decompressed_bytes
    )
    selection = Selection(
        paths=names_of(paths) or (),
        topics=names_of(topics),
        topic_pattern=topic_pattern,
        partitions=numbers_of(partitions),
        start_offsets=start_offsets,
        end_offsets=end_offsets,
        start_timestamp_ms=start_timestamp_ms,
        end_timestamp_ms=end_timestamp_ms,
        isolation=isolation,
        end_bound=end_bound,
        fail_on_data_loss=fail_on_data_loss,
        is_strict=mode == FAILFAST,
    )
    return LogScan(plan(selection, split_bytes), options)
