"""`read_cached`: records as Parquet, converted once, read by Spark's own vectorised reader.

    read_cached(spark, {"path": "/var/kafka-logs", "subscribe": "orders"}, "/var/cache/orders")

In      options of a batch read, without bounds and conditions; a directory (or URI) for the cache.
Out     a DataFrame of the current contents of the logs. Records that are not in the cache are added
        first, by the workers.
Layout  CACHE/SHAPE/TOPIC-PARTITION/PIECE, see cache_pieces.py; a shape is a choice of columns, an
        isolation level, and whether checksums are verified.
Invariants
    The rows are those of a plain read at the same moment; damage since they were cached is not
    noticed.
    Jobs may use one cache at the same time: a piece appears only when complete, its name says what
    it was made from, and a piece of another job is equally valid.
    An outdated piece is deleted by the first read that is more than a day after its creation,
    because a DataFrame may still be reading it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from pykbroker.offline import OfflineError, Split, plan
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.offline.selecting import look_at_each
from pykbroker.offline.split import FAILFAST
from pykbroker.offline.storage import is_remote
from pykbroker.spark.bounds import Ends
from pykbroker.spark.cache_pieces import Piece, cover, gaps, piece_of, true_pieces
from pykbroker.spark.columns import arrow_schema, spark_schema
from pykbroker.spark.faults import OptionError
from pykbroker.spark.in_worker import map_items
from pykbroker.spark.options import SourceOptions, absolute, parse_options
from pykbroker.spark.target import Target
from pykbroker.spark.task_reader import read_task
from pykbroker.spark.tasks import base_selection, current_ends, task_of_split
from pykbroker.types import TopicPartition

#: In every shape: other files than those of this version are not looked at.
_VERSION: Final = "1"
_MOST_ROUNDS: Final = 5
_ROW_GROUP_BYTES: Final = 64 << 20
_KEPT_S: Final = 86_400
_WRITTEN: Final = pa.schema([("name", pa.string())])


def read_cached(
    spark: Any, options: Mapping[str, object], cache: str, *, compression: str = "snappy"
) -> Any:
    """Return a DataFrame of the records through a cache; raises OptionError
    for options that cannot be used with it.
    """
    parsed = parse_options(options)
    _refuse_what_a_cache_cannot_do(parsed)
    shape = _shape_directory(absolute(cache), parsed)
    ends = current_ends(parsed)
    for _ in range(_MOST_ROUNDS):
        state = _look(parsed, shape, ends)
        missing = _plan_gaps(parsed, state, ends)
        if not missing:
            return _frame(spark, parsed, shape, state)
        _convert(spark, parsed, shape, compression, missing)
    raise OfflineError("the logs are rewritten faster than they can be cached")


def _refuse_what_a_cache_cannot_do(options: SourceOptions) -> None:
    for bound in (options.start, options.end):
        if bound is not None:
            raise OptionError(
                bound.option, "cannot be used with a cache: filter the DataFrame by offset"
            )
    if options.where:
        raise OptionError("where", "cannot be used with a cache: filter the DataFrame instead")
    if options.view != "records":
        raise OptionError("view", "only records can be cached")
    if options.mode != FAILFAST:
        raise OptionError(
            "mode", f"must be {FAILFAST} with a cache, because damage would be cached"
        )


def _shape_directory(cache: str, options: SourceOptions) -> str:
    # Records that were read without a look at their checksums are apart: they may be damaged.
    unchecked = () if options.verify_checksums else ("unchecked",)
    shape = "\n".join((_VERSION, options.isolation, *options.columns, *unchecked))
    return f"{cache.rstrip('/')}/{sha256(shape.encode()).hexdigest()[:16]}"


def _directory(shape: str, partition: TopicPartition) -> str:
    return f"{shape}/{partition.topic}-{partition.partition}"


# -- what is there ------------------------------------------------------------------------------


_State = dict[TopicPartition, list[Piece]]


def _look(options: SourceOptions, shape: str, ends: Ends) -> _State:
    """Return the valid pieces of each partition in order, and delete old ones that are not used."""

    def of_partition(files: PartitionFiles) -> tuple[TopicPartition, list[Piece]]:
        partition = TopicPartition(files.topic, files.partition)
        low, high = ends.get(partition, (0, 0))
        directory = Target(_directory(shape, partition))
        names = directory.names()
        chosen = cover(true_pieces(files, names), low, high)
        kept = {piece.name for piece in chosen}
        directory.delete_older([each for each in names if each not in kept], time.time() - _KEPT_S)
        return partition, chosen

    return dict(look_at_each(base_selection(options), of_partition))


def _plan_gaps(options: SourceOptions, state: _State, ends: Ends) -> list[Split]:
    """Return what has to be read for the offsets that no piece covers."""
    found: list[Split] = []
    left = {
        partition: gaps(pieces, *ends[partition])
        for partition, pieces in state.items()
        if partition in ends
    }
    while left := {each: ranges for each, ranges in left.items() if ranges}:
        starts: dict[str, dict[int, int]] = {}
        stops: dict[str, dict[int, int]] = {}
        for partition, ranges in left.items():
            low, high = ranges.pop(0)
            starts.setdefault(partition.topic, {})[partition.partition] = low
            stops.setdefault(partition.topic, {})[partition.partition] = high
        selection = replace(
            base_selection(options),
            topics=None,
            topic_pattern=None,
            only=frozenset(left),
            start_offsets=starts,
            end_offsets=stops,
        )
        found += plan(selection, options.split_bytes).splits
    return found


def _frame(spark: Any, options: SourceOptions, shape: str, state: _State) -> Any:
    schema = spark_schema(options)
    paths = [
        f"{_for_spark(_directory(shape, partition))}/{piece.name}"
        for partition, pieces in state.items()
        for piece in pieces
    ]
    if not paths:
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(*paths)


def _for_spark(location: str) -> str:
    """Return a path for Spark, whose default file system may not be the local one."""
    return location if is_remote(location) else f"file://{location}"


# -- what is put there --------------------------------------------------------------------------


def _convert(
    spark: Any, options: SourceOptions, shape: str, compression: str, splits: list[Split]
) -> None:
    """Convert each split to a piece, in the workers."""
    from pyspark.sql.pandas.types import from_arrow_schema

    work = _Conversion(options, shape, arrow_schema(options), compression)
    map_items(spark, splits, work.write, from_arrow_schema(_WRITTEN)).collect()


@dataclass(frozen=True)
class _Conversion:
    """In the driver and in the workers."""

    options: SourceOptions
    shape: str
    schema: Any
    compression: str

    def write(self, split: Split) -> Iterator[Any]:
        """Write the piece of a split, in a worker. If its file was replaced, nothing is written,
        and the driver plans again.
        """
        names: list[str] = []
        piece = _piece_if_there(split)
        if piece is not None:
            directory = _directory(self.shape, TopicPartition(split.topic, split.partition))
            with (
                Target(directory).open(piece.name) as stream,
                pq.ParquetWriter(stream, self.schema, compression=self.compression) as writer,
            ):
                for table in self._tables(split):
                    writer.write_table(table, row_group_size=max(1, table.num_rows))
            names.append(piece.name)
        yield pa.RecordBatch.from_pydict({"name": names}, schema=_WRITTEN)

    def _tables(self, split: Split) -> Iterator[Any]:
        """Yield the records in tables of about the size of a row group."""
        held: list[Any] = []
        size = 0
        for batch in read_task(task_of_split(self.options, split)):
            held.append(batch.select(self.schema.names))
            size += batch.nbytes
            if size >= _ROW_GROUP_BYTES:
                yield pa.Table.from_batches(held, self.schema)
                held, size = [], 0
        if held:
            yield pa.Table.from_batches(held, self.schema)


def _piece_if_there(split: Split) -> Piece | None:
    try:
        return piece_of(split)
    except FileNotFoundError:
        return None
