"""What to read and how: values that the planner passes to the readers, in Spark by pickle.

Selection     which topics, partitions, offsets, times; which transactions; how far
ReadOptions   which columns, by which decoder, and what happens to corrupt batches
Split         a run of whole batches of one segment, with all that a reader must know
Corruption    a row of the side table: bytes that were skipped
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Final

import pyarrow as pa

from pykbroker.offline.columns import KAFKA_COLUMNS, schema_of
from pykbroker.offline.faults import (
    BadOption,
    CorruptSegment,
    NotALogDirectory,
    UnknownTopic,
)
from pykbroker.protocol.record_batch import BatchHeader
from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple

READ_UNCOMMITTED: Final = "read_uncommitted"
READ_COMMITTED: Final = "read_committed"
FAILFAST: Final = "FAILFAST"
PERMISSIVE: Final = "PERMISSIVE"
DROPMALFORMED: Final = "DROPMALFORMED"
HIGH_WATERMARK: Final = "hw"
LOG_END: Final = "leo"
NUMPY: Final = "numpy"
PLAIN: Final = "plain"

#: In `start_offsets` and `end_offsets`, as in Spark's JSON.
EARLIEST: Final = -2
LATEST: Final = -1
END_OF_TIME: Final = 0x7FFF_FFFF_FFFF_FFFF
MAX_SEGMENT_OFFSETS: Final = 1 << 31

DEFAULT_SPLIT_BYTES: Final = 256 << 20
DEFAULT_CHUNK_BYTES: Final = 4 << 20
DEFAULT_MAX_DECOMPRESSED_BYTES: Final = 128 << 20
#: The side table keeps so many rows and, of each with PERMISSIVE, so many bytes; it counts all.
MAX_CORRUPTIONS: Final = 10_000
MAX_RAW_BYTES: Final = 64 << 10
MAX_RAW_TOTAL: Final = 16 << 20

#: Kafka's own topics, left out where none is named.
INTERNAL_TOPICS: Final = frozenset(
    {"__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata"}
)

#: Topic -> partition -> offset, or one offset for all.
Offsets = Mapping[str, Mapping[int, int]] | int | None


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise BadOption unless an option has one of its values."""
    if value not in allowed:
        raise BadOption(f"{name} must be one of {', '.join(allowed)}, not {value!r}")


#: A set that contains an unescaped bracket.
_NESTED_SET: Final = re.compile(r"(?<!\\)(?:\\\\)*\[\^?\]?(?:\\.|[^\]\\\[])*\[")


def topic_pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern that must match whole topic names; raises UnknownTopic if it is invalid.

    Also refuses what Java reads as nested sets or intersections: `[[a]b]`, `[a[b]]`, `[a&&b]`.
    Topic names contain no brackets, so no valid pattern needs them.
    """
    if _NESTED_SET.search(text):
        raise UnknownTopic(
            f"topic pattern {text!r} has a set in a set (patterns have Python's syntax, not Java's)"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            return re.compile(text)
    except (re.error, FutureWarning) as fault:
        raise UnknownTopic(
            f"topic pattern {text!r} (patterns have Python's syntax, not Java's): {fault}"
        ) from None


def _check_offsets(name: str, offsets: object) -> None:
    """Raise BadOption unless it is an Offsets."""
    if offsets is None or _is_number(offsets):
        return
    if isinstance(offsets, Mapping) and all(map(_are_of_partitions, offsets.values())):
        return
    raise BadOption(
        f"{name} must be an offset or {{topic: {{partition: offset}}}}, not {offsets!r}"
    )


def _check_time(name: str, time_ms: object) -> None:
    if time_ms is not None and not _is_number(time_ms):
        raise BadOption(f"{name} must be milliseconds since 1970, not {time_ms!r}")


def _are_of_partitions(offsets: object) -> bool:
    return isinstance(offsets, Mapping) and all(
        _is_number(number) for pair in offsets.items() for number in pair
    )


def _is_number(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


@dataclass(frozen=True)
class Selection:
    """Which records to read: `end` bounds are exclusive, timestamps in ms."""

    paths: tuple[str, ...]
    topics: tuple[str, ...] | None = None
    topic_pattern: str | None = None
    partitions: frozenset[int] | None = None
    #: Exactly these partitions, instead of topics, topic_pattern and partitions.
    only: frozenset[TopicPartition] | None = None
    start_offsets: Offsets = None
    end_offsets: Offsets = None
    start_timestamp_ms: int | None = None
    end_timestamp_ms: int | None = None
    isolation: str = READ_UNCOMMITTED
    end_bound: str = LOG_END
    fail_on_data_loss: bool = True
    #: Whether damage that may be the marker of an open transaction ends the planning; else the
    #: records of transactions of unknown outcome are left out.
    is_strict: bool = True

    def __post_init__(self) -> None:
        if not self.paths:
            raise NotALogDirectory("no path is given")
        one_of("isolation", self.isolation, (READ_UNCOMMITTED, READ_COMMITTED))
        one_of("end_bound", self.end_bound, (HIGH_WATERMARK, LOG_END))
        _check_offsets("start_offsets", self.start_offsets)
        _check_offsets("end_offsets", self.end_offsets)
        _check_time("start_timestamp_ms", self.start_timestamp_ms)
        _check_time("end_timestamp_ms", self.end_timestamp_ms)
        for name in ("topics", "partitions", "only"):
            if getattr(self, name) in ((), frozenset()):
                raise UnknownTopic(f"{name} is empty: omit it to read all")
        others = (self.topics, self.topic_pattern, self.partitions)
        if self.only is not None and others != (None, None, None):
            raise BadOption("only excludes topics, topic_pattern and partitions")
        if self.topics is not None and self.topic_pattern is not None:
            raise BadOption("topics and topic_pattern exclude each other: give one of them")


@dataclass(frozen=True)
class ReadOptions:
    """How records are read."""

    columns: tuple[str, ...] = KAFKA_COLUMNS
    mode: str = FAILFAST
    verify_checksums: bool = True
    decoder: str = NUMPY
    chunk_bytes: int = DEFAULT_CHUNK_BYTES
    max_decompressed_bytes: int = DEFAULT_MAX_DECOMPRESSED_BYTES
    verify_offsets: bool = True

    def __post_init__(self) -> None:
        schema_of(self.columns)
        one_of("mode", self.mode, (FAILFAST, PERMISSIVE, DROPMALFORMED))
        one_of("decoder", self.decoder, (NUMPY, PLAIN))
        if not 0 < self.max_decompressed_bytes <= 1 << 30:
            raise BadOption("max_decompressed_bytes must be between 1 and 2**30")
        if self.chunk_bytes < 1:
            raise BadOption("chunk_bytes must be at least 1")


class AbortedRange(NamedTuple):
    """The batches of an aborted transaction: of this producer, from first to last offset."""

    producer_id: int
    first_offset: int
    last_offset: int


@dataclass(frozen=True)
class Split:
    """Whole batches [start_position, end_position) of a segment, and which of their records are
    wanted.
    """

    path: str
    topic: str
    partition: int
    segment_base_offset: int
    start_position: int
    end_position: int
    start_offset: int = 0
    end_offset: int = END_OF_TIME
    start_timestamp_ms: int | None = None
    end_timestamp_ms: int | None = None
    aborted: tuple[AbortedRange, ...] = ()
    index_path: str | None = None
    read_committed: bool = False
    #: Size of the whole file at planning; None for a segment that may still grow.
    file_bytes: int | None = None
    fail_on_data_loss: bool = True
    #: Where the next segment begins, if there is one: no offset of this one is there or above.
    next_base_offset: int = END_OF_TIME
    #: The part of the partition's offsets that this split gives, should its file be replaced:
    #: from its first batch to that of the next split. None: it is of that very file, or nothing.
    first_offset: int = 0
    behind_offset: int | None = None
    #: Of the batch before its first one; None: it begins the segment, or that is not known.
    last_offset_before: int | None = None
    #: Of the file that it was planned on: machine, st_dev, st_ino; and some bytes of it.
    file_identity: tuple[str, int, int] | None = None
    head: tuple[int, bytes] = (0, b"")
    topic_id: bytes | None = None

    @property
    def size_bytes(self) -> int:
        return self.end_position - self.start_position

    @property
    def segment_end_offset(self) -> int:
        """Return the offset above all those that the segment may have: the next base offset, but at
        most 31 bits above its own.
        """
        return min(self.next_base_offset, self.segment_base_offset + MAX_SEGMENT_OFFSETS)

    def is_wanted(self, header: BatchHeader) -> bool:
        """Return whether an intact batch has records that may reach the start time; False for a
        control batch. Used by the plain decoder.
        """
        if header.is_control:
            return False
        return self.start_timestamp_ms is None or header.max_timestamp >= self.start_timestamp_ms


@dataclass(frozen=True)
class Corruption:
    """Skipped bytes, or (`size_bytes` 0) the place where a file ends too early. `base_offset` and
    `record_count` are as claimed, None without a header. `raw`: the first bytes (PERMISSIVE).
    """

    topic: str
    partition: int
    path: str
    segment_base_offset: int
    position: int
    size_bytes: int
    base_offset: int | None
    record_count: int | None
    reason: str
    raw: bytes | None = field(default=None, repr=False)


CORRUPTION_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("path", pa.string()),
        ("segment_base_offset", pa.int64()),
        ("position", pa.int64()),
        ("size_bytes", pa.int64()),
        ("base_offset", pa.int64()),
        ("record_count", pa.int32()),
        ("reason", pa.string()),
        ("raw", pa.binary()),
    ]
)


def corruption_table(corruptions: Iterable[Corruption]) -> Any:
    """Return the side table as an Arrow table."""
    return pa.Table.from_pylist([vars(each) for each in corruptions], schema=CORRUPTION_SCHEMA)


OnCorruption = Callable[[Corruption], None]


class FaultReporter:
    """Handles bytes that cannot be read, according to the mode."""

    __slots__ = ("keeps_raw", "on_corruption", "split", "strict")

    def __init__(self, split: Split, mode: str, on_corruption: OnCorruption | None) -> None:
        self.split = split
        self.strict = mode == FAILFAST
        self.keeps_raw = mode == PERMISSIVE
        self.on_corruption = on_corruption

    def report(
        self,
        position: int,
        size_bytes: int,
        reason: str,
        header: BatchHeader | None = None,
        raw: bytes | memoryview | None = None,
    ) -> None:
        """Raise CorruptSegment with FAILFAST; otherwise pass a Corruption to `on_corruption`, if
        there is one.
        """
        split = self.split
        if self.strict:
            raise CorruptSegment(split.path, position, reason)
        if self.on_corruption is None:
            return
        self.on_corruption(
            Corruption(
                split.topic,
                split.partition,
                split.path,
                split.segment_base_offset,
                position,
                size_bytes,
                header.base_offset if header is not None else None,
                header.record_count if header is not None else None,
                reason,
                bytes(raw[:MAX_RAW_BYTES]) if self.keeps_raw and raw is not None else None,
            )
        )
