"""The options of a read, checked and typed: `parse_options`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final
from urllib.parse import urlencode

from pyspark.sql.datasource import Filter

from pykbroker.offline import ALL_COLUMNS, KAFKA_COLUMNS, UnknownTopic
from pykbroker.offline.split import (
    DEFAULT_CHUNK_BYTES,
    DEFAULT_MAX_DECOMPRESSED_BYTES,
    DEFAULT_SPLIT_BYTES,
    DROPMALFORMED,
    FAILFAST,
    HIGH_WATERMARK,
    INTERNAL_TOPICS,
    LOG_END,
    NUMPY,
    PERMISSIVE,
    PLAIN,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    topic_pattern,
)
from pykbroker.offline.storage import is_remote, local_path
from pykbroker.spark.bounds import (
    EARLIEST,
    LATEST,
    Bound,
    parse_assign,
    parse_offsets,
    parse_partition_values,
)
from pykbroker.spark.faults import OptionError
from pykbroker.spark.option_names import (
    CANONICAL,
    REFUSED_OPTIONS,
    STORAGE_PREFIX,
    is_ignored,
)
from pykbroker.spark.where import parse_where
from pykbroker.types import TopicPartition

RECORDS: Final = "records"
VIEWS: Final = (RECORDS, "batches", "segments", "transactions")
BATCH_COLUMNS: Final = (
    "batch_base_offset",
    "batch_position",
    "segment_base_offset",
    "batch_size",
    "codec",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "leader_epoch",
    "is_transactional",
    "is_control",
    "key_size",
    "value_size",
)
_SIZE: Final = re.compile(r"(\d+)\s*([kmgt]?)i?b?", re.IGNORECASE)
_SIZE_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DURATION: Final = re.compile(r"(\d+)\s*(us|ms|s|m|min|h|d)?", re.IGNORECASE)
_DURATION_UNITS: Final = {
    "us": 0.001,
    "ms": 1,
    "s": 1000,
    "m": 60_000,
    "min": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
}
_FLAGS: Final = re.compile(r"\(\?[aimsux]+\)")
_INTERNAL: Final = "|".join(sorted(INTERNAL_TOPICS))
_SECRET: Final = ("access_key", "secret_key", "session_token", "password")


@dataclass(frozen=True)
class SourceOptions:
    """The options of a read."""

    paths: tuple[str, ...]
    view: str = RECORDS
    topics: tuple[str, ...] | None = None
    topic_pattern: str | None = None
    assigned: frozenset[TopicPartition] | None = None
    #: None: the default, which is not the same in batches (earliest) and streams (latest).
    start: Bound | None = None
    end: Bound | None = None
    start_latest_without_match: bool = False
    isolation: str = READ_UNCOMMITTED
    end_bound: str = LOG_END
    fail_on_data_loss: bool = True
    columns: tuple[str, ...] = KAFKA_COLUMNS
    where: tuple[Filter, ...] = ()
    mode: str = FAILFAST
    corrupt_sink: str | None = None
    corrupt_format: str = "json"
    verify_checksums: bool = True
    decoder: str = NUMPY
    pushdown: bool = False
    split_bytes: int = DEFAULT_SPLIT_BYTES
    chunk_bytes: int = DEFAULT_CHUNK_BYTES
    max_decompressed_bytes: int = DEFAULT_MAX_DECOMPRESSED_BYTES
    min_partitions: int | None = None
    max_records_per_partition: int | None = None
    max_offsets_per_trigger: int | None = None
    min_offsets_per_trigger: int | None = None
    max_bytes_per_trigger: int | None = None
    max_trigger_delay_ms: int = 15 * 60_000

    def check_batch(self) -> None:
        """Raise OptionError for bounds that the connector rejects in batches."""
        if self.start is not None and not self.start.is_time:
            if self.start.is_latest:
                raise OptionError(
                    self.start.option, "a batch cannot start at latest: use earliest, or JSON"
                )
            if LATEST in (self.start.by_partition or {}).values():
                raise OptionError(self.start.option, "a batch cannot start a partition at latest")
        if self.end is not None and not self.end.is_time:
            if self.end.all_at == EARLIEST:
                raise OptionError(
                    self.end.option, "a batch cannot end at earliest: use latest, or JSON"
                )
            if EARLIEST in (self.end.by_partition or {}).values():
                raise OptionError(self.end.option, "a batch cannot end a partition at earliest")

    def check_stream(self) -> None:
        """Raise OptionError for what a stream does not support: an end, another view than records,
        a minimum above the maximum.
        """
        if self.end is not None:
            raise OptionError(self.end.option, "a stream has no end; use it with batch queries")
        if self.view != RECORDS:
            raise OptionError("view", f"{self.view} can only be read in batch queries")
        low, high = self.min_offsets_per_trigger, self.max_offsets_per_trigger
        if low is not None and high is not None and low > high:
            raise OptionError("minOffsetsPerTrigger", f"{low} is more than maxOffsetsPerTrigger")


_NAMES: Final = ", ".join(CANONICAL.values())


def _meant(low: str) -> str:
    found = get_close_matches(low, CANONICAL, n=1, cutoff=0.75)
    return f" did you mean {CANONICAL[found[0]]}?" if found else ""


class _Given:
    """The given options, looked up by name."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self._values: dict[str, str] = {}
        self.storage: dict[str, str] = {}
        for name, value in given.items():
            self._take(name, _as_text(value))

    def _take(self, name: str, value: str) -> None:
        low = name.lower()
        if low.startswith(STORAGE_PREFIX):
            key = name[len(STORAGE_PREFIX) :].lower()
            if any(secret in key for secret in _SECRET):
                raise OptionError(
                    name,
                    "credentials must be set in the environment of the workers, not in options",
                )
            self.storage[key] = value
        elif low in CANONICAL:
            self._values[low] = value
        elif low in REFUSED_OPTIONS:
            raise OptionError(name, f"is not supported: {REFUSED_OPTIONS[low]}")
        elif not is_ignored(low):
            raise OptionError(name, f"is unknown;{_meant(low)} the options are {_NAMES}")

    def text(self, name: str) -> str | None:
        return self._values.get(name.lower())

    def one_of(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.text(name)
        if value is None:
            return default
        for each in allowed:
            if each.lower() == value.lower():
                return each
        raise OptionError(name, f"must be one of {', '.join(allowed)}, not {value!r}")

    def flag(self, name: str, default: bool) -> bool:
        return self.one_of(name, ("true", "false"), "true" if default else "false") == "true"

    def number(self, name: str, least: int = 1) -> int | None:
        value = self.text(name)
        if value is None:
            return None
        try:
            number = int(value)
        except ValueError:
            number = least - 1
        if number < least:
            raise OptionError(name, f"must be a whole number of at least {least}, not {value!r}")
        return number

    def size(self, name: str, most: int = 1 << 62) -> int | None:
        value = self.text(name)
        if value is None:
            return None
        match = _SIZE.fullmatch(value.strip())
        size = int(match[1]) * _SIZE_UNITS[match[2].lower()] if match is not None else 0
        if not 0 < size <= most:
            raise OptionError(name, f"must be a size such as 256m, at most {most}, not {value!r}")
        return size

    def duration_ms(self, name: str, default: int) -> int:
        value = self.text(name)
        if value is None:
            return default
        match = _DURATION.fullmatch(value.strip())
        if match is None:
            raise OptionError(name, f"must be a duration such as 500ms or 15m, not {value!r}")
        return int(int(match[1]) * _DURATION_UNITS[(match[2] or "ms").lower()])


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def parse_options(given: Mapping[str, object], view: str | None = None) -> SourceOptions:
    """Check and type all options, whose names may be in any case; raises OptionError, which names
    the option. `view` when the name of the format has chosen it.
    """
    options = _Given(given)
    default = SourceOptions  # its fields' defaults are those of the options
    topics, pattern, assigned = _strategy(options)
    sink, sink_format = _corrupt_sink(options)
    chosen_view = view or options.one_of("view", VIEWS, default.view)
    strategy = options.one_of("startingOffsetsByTimestampStrategy", ("error", "latest"), "error")
    checks = options.flag("kafka.check.crcs", default.verify_checksums)
    return SourceOptions(
        paths=_paths(options),
        view=chosen_view,
        topics=topics,
        topic_pattern=pattern,
        assigned=assigned,
        start=_bound(options, "starting"),
        end=_bound(options, "ending"),
        start_latest_without_match=strategy == "latest",
        isolation=_isolation(options),
        end_bound=options.one_of("endBound", (LOG_END, HIGH_WATERMARK), default.end_bound),
        fail_on_data_loss=options.flag("failOnDataLoss", default.fail_on_data_loss),
        columns=_columns(options, chosen_view),
        where=_where(options, chosen_view),
        mode=options.one_of("mode", (FAILFAST, PERMISSIVE, DROPMALFORMED), default.mode),
        corrupt_sink=sink,
        corrupt_format=sink_format,
        verify_checksums=options.flag("verifyChecksums", checks),
        decoder=options.one_of("decoder", (NUMPY, PLAIN), default.decoder),
        pushdown=options.flag("pushdown", default.pushdown),
        split_bytes=options.size("splitBytes") or default.split_bytes,
        chunk_bytes=options.size("chunkBytes", 1 << 30) or default.chunk_bytes,
        max_decompressed_bytes=(
            options.size("maxDecompressedBytes", 1 << 30) or default.max_decompressed_bytes
        ),
        min_partitions=options.number("minPartitions"),
        max_records_per_partition=options.number("maxRecordsPerPartition"),
        max_offsets_per_trigger=options.number("maxOffsetsPerTrigger"),
        min_offsets_per_trigger=options.number("minOffsetsPerTrigger"),
        max_bytes_per_trigger=options.size("maxBytesPerTrigger"),
        max_trigger_delay_ms=options.duration_ms("maxTriggerDelay", default.max_trigger_delay_ms),
    )


def _corrupt_sink(options: _Given) -> tuple[str | None, str]:
    """(where, in which format)"""
    where = options.text("corruptBatchSink")
    kind = options.one_of("corruptBatchFormat", ("json", "parquet"), SourceOptions.corrupt_format)
    if where is None and options.text("corruptBatchFormat") is not None:
        raise OptionError("corruptBatchFormat", "requires corruptBatchSink")
    return absolute(where) if where is not None else None, kind


def _paths(options: _Given) -> tuple[str, ...]:
    listed = options.text("paths") or options.text("path") or ""
    if listed.lstrip().startswith("["):
        try:
            found = [str(each) for each in json.loads(listed)]
        except ValueError:
            raise OptionError("path", f"is not a JSON list: {listed!r}") from None
    else:
        found = [each.strip() for each in listed.split(",") if each.strip()]
    if not found:
        raise OptionError("path", "must name one or more log directories, separated by commas")
    return tuple(_with_storage(absolute(each), options.storage) for each in found)


def absolute(path: str) -> str:
    """Return an absolute path, because workers may run in another directory; a URI of another file
    system as it is.
    """
    return path if is_remote(path) else os.path.abspath(local_path(path))


def _with_storage(path: str, storage: Mapping[str, str]) -> str:
    """A URI with the storage options behind it, as pyarrow.fs takes them."""
    if not storage:
        return path
    if not is_remote(path):
        raise OptionError(
            STORAGE_PREFIX + next(iter(storage)), f"applies to object store URIs, not to {path}"
        )
    return f"{path}{'&' if '?' in path else '?'}{urlencode(sorted(storage.items()))}"


def _strategy(
    options: _Given,
) -> tuple[tuple[str, ...] | None, str | None, frozenset[TopicPartition] | None]:
    given = [
        name
        for name in ("subscribe", "subscribePattern", "assign")
        if options.text(name) is not None
    ]
    if len(given) > 1:
        raise OptionError(given[1], f"cannot be combined with {given[0]}: use one of them")
    text = options.text(given[0]) if given else None
    if text is None:
        return None, None, None
    if given[0] == "assign":
        assigned = parse_assign(text)
        return tuple(sorted({each.topic for each in assigned})), None, assigned
    if given[0] == "subscribePattern":
        try:
            topic_pattern(text)
        except UnknownTopic as fault:
            raise OptionError("subscribePattern", str(fault)) from None
        return None, _without_internal(text), None
    topics = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    if not topics:
        raise OptionError("subscribe", "must name one or more topics, separated by commas")
    return topics, None, None


def _without_internal(pattern: str) -> str:
    """As consumers do: a pattern matches no internal topic. Flags stay at the front."""
    flags = _FLAGS.match(pattern)
    front = flags[0] if flags is not None else ""
    return f"{front}(?!(?:{_INTERNAL})$)(?:{pattern[len(front) :]})"


def _bound(options: _Given, side: str) -> Bound | None:
    """...Timestamp before ...OffsetsByTimestamp before ...Offsets, as the connector has it."""
    name = f"{side}Timestamp"
    if options.text(name) is not None:
        return Bound(name, all_at=options.number(name, 0), is_time=True)
    name = f"{side}OffsetsByTimestamp"
    text = options.text(name)
    if text is not None:
        return Bound(name, by_partition=parse_partition_values(name, text), is_time=True)
    name = f"{side}Offsets"
    text = options.text(name)
    return parse_offsets(name, text) if text is not None else None


def _isolation(options: _Given) -> str:
    levels = (READ_UNCOMMITTED, READ_COMMITTED)
    connector = options.one_of("kafka.isolation.level", levels, SourceOptions.isolation)
    own = options.one_of("isolation", levels, connector)
    if options.text("kafka.isolation.level") is not None and own != connector:
        raise OptionError("isolation", "contradicts kafka.isolation.level")
    return own


def _columns(options: _Given, view: str) -> tuple[str, ...]:
    text = options.text("columns")
    with_headers = options.flag("includeHeaders", False)
    with_batches = options.flag("includeBatchMetadata", False)
    if view != RECORDS:
        for name, is_given in (
            ("columns", text is not None),
            ("includeHeaders", with_headers),
            ("includeBatchMetadata", with_batches),
        ):
            if is_given:
                raise OptionError(
                    name, f"applies to records; choose the columns of {view} with select"
                )
    columns = SourceOptions.columns
    if text is not None:
        columns = tuple(each.strip() for each in text.split(",") if each.strip())
        for name in columns:
            if name not in ALL_COLUMNS:
                raise OptionError(
                    "columns", f"unknown column {name!r}; the columns are {', '.join(ALL_COLUMNS)}"
                )
        if not columns or len(set(columns)) < len(columns):
            raise OptionError("columns", f"must name columns without duplicates, not {text!r}")
    more = (("headers",) if with_headers else ()) + (BATCH_COLUMNS if with_batches else ())
    return tuple(dict.fromkeys((*columns, *more)))


def _where(options: _Given, view: str) -> tuple[Filter, ...]:
    text = options.text("where")
    if text is None:
        return ()
    if view != RECORDS:
        raise OptionError("where", f"applies to records, not to {view}")
    return parse_where(text)
