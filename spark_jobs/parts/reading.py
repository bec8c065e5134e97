"""From arguments to what is read: options of the data source, DataFrames, work in the workers.

add_arguments     --path, --topics, times, isolation, what happens to corrupt batches
source_options    the same as options of `pykbroker`
records, view     DataFrames
chosen_rows       in a worker: the records of a split that `--option where=...` wants
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pyspark.sql.datasource import Filter

from pykbroker.offline import ReadOptions, Split, UnknownTopic, read_split
from pykbroker.offline.layout import find_partitions
from pykbroker.offline.selecting import select_partitions
from pykbroker.spark.filters import keep_rows
from pykbroker.spark.options import parse_options
from pykbroker.spark.tasks import base_selection
from spark_jobs.parts.pictures import LAST_MS

MODES: Final = ("FAILFAST", "PERMISSIVE", "DROPMALFORMED")


_TOPICS: Final = ("subscribe", "subscribePattern", "assign")
#: Arguments, and the options of the source that an --option must not say beside them.
_SAID_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("path", "paths"),
    "topics": _TOPICS,
    "topic_pattern": _TOPICS,
    "since": (
        "startingTimestamp",
        "startingOffsets",
        "startingOffsetsByTimestamp",
        "startingOffsetsByTimestampStrategy",
    ),
    "until": ("endingTimestamp", "endingOffsets", "endingOffsetsByTimestamp"),
    "isolation": ("isolation", "kafka.isolation.level"),
    "mode": ("mode",),
}
#: A job itself says which view and which columns it reads.
_OF_THE_JOB: Final = {"view", "columns"}
#: Numbers below (March 1973) are years, days or seconds.
_FIRST_MS: Final = 100_000_000_000


def add_arguments(
    parser: argparse.ArgumentParser, without: Collection[str] = (), *, is_by_record: bool = False
) -> None:
    """Add the arguments of every job that reads log directories.

    `without`: which of since, until, isolation and mode a job does not have, and options of the
    source that it rejects. `is_by_record`: what the help says about since and until.
    """

    def offer(name: str, **settings: Any) -> None:
        if name in without:
            parser.set_defaults(**{name: settings.get("default")})
        else:
            chosen.add_argument(f"--{name}", **settings)

    refused = {each.lower() for name in without for each in _SAID_BY.get(name, (name,))}
    refused |= _OF_THE_JOB
    chosen = parser.add_argument_group("input")
    chosen.add_argument(
        "--path",
        required=True,
        help="log directories, comma separated; URIs (s3://...) that pyarrow supports",
    )
    topics = chosen.add_mutually_exclusive_group()
    topics.add_argument(
        "--topics", help="topic names, comma separated (default: all but internal topics)"
    )
    topics.add_argument("--topic-pattern", help="regular expression for whole topic names")
    low, high = "start at the first record of this time", "stop at the first record of this time"
    if is_by_record:
        low = "select records with this timestamp or a later one"
        high = "select records with an earlier timestamp"
    offer("since", type=time_ms, help=f"{low} (ISO 8601, or ms since 1970)")
    offer("until", type=time_ms, help=high)
    offer(
        "isolation",
        choices=("read_uncommitted", "read_committed"),
        default="read_uncommitted",
        help="whether to include records of aborted and open transactions",
    )
    offer(
        "mode",
        choices=MODES,
        default="FAILFAST",
        help="on a corrupt batch, stop (FAILFAST) or skip it (PERMISSIVE, DROPMALFORMED)",
    )
    chosen.add_argument(
        "--option",
        action="append",
        default=[],
        type=lambda text: _source_option(text, refused),
        metavar="NAME=VALUE",
        help="any other option of the data source, such as splitBytes=64m; may be repeated",
    )


def name_value(text: str) -> tuple[str, str]:
    """Parse `NAME=VALUE` as a pair."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _source_option(text: str, refused: Collection[str]) -> tuple[str, str]:
    """Parse `NAME=VALUE`; reject what a job does not support."""
    name, value = name_value(text)
    if name.lower() in refused:
        raise argparse.ArgumentTypeError(f"{name} is not an option of this job")
    return name, value


def positive(text: str) -> int:
    """Parse a number above 0."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)


def time_ms(text: str) -> int:
    """Parse a time in ms since 1970: a number, or ISO 8601 (UTC without a zone)."""
    found_ms = int(text) if text.isdecimal() else _iso_ms(text)
    if text.isdecimal() and found_ms < _FIRST_MS:
        why = "is too early for ms: write ISO 8601, or ms since 1970"
        raise argparse.ArgumentTypeError(f"{text!r} {why}")
    if found_ms < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is before 1970")
    if found_ms >= LAST_MS:
        raise argparse.ArgumentTypeError(f"{text!r} is after the year 9000")
    return found_ms


def _iso_ms(text: str) -> int:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither ISO 8601 nor ms") from None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    return int(found.timestamp() * 1000)


def source_options(
    arguments: argparse.Namespace, columns: Sequence[str] = (), **more: object
) -> dict[str, str]:
    """Return the options of the data source."""
    found: dict[str, str] = {"path": arguments.path}
    chosen: Mapping[str, object] = {
        "subscribe": arguments.topics,
        "subscribePattern": arguments.topic_pattern,
        "startingTimestamp": arguments.since,
        "endingTimestamp": arguments.until,
        "isolation": arguments.isolation,
        "mode": arguments.mode,
        "columns": ",".join(columns) or None,
        # No record of that time in a partition: nothing of it is read.
        "startingOffsetsByTimestampStrategy": "latest" if arguments.since is not None else None,
        **more,
    }
    found |= {name: str(value) for name, value in chosen.items() if value is not None}
    return found | dict(arguments.option)


def check_arguments(arguments: argparse.Namespace) -> None:
    """Raise ArgumentTypeError for contradictions: something given twice, a reversed range."""
    given: dict[str, str] = {}
    for name, _ in arguments.option:
        if name.lower() in given:
            raise argparse.ArgumentTypeError(f"--option {name} is given twice")
        given[name.lower()] = name
    for argument, options in _SAID_BY.items():
        said = [given[each.lower()] for each in options if each.lower() in given]
        if said and getattr(arguments, argument) is not None:
            flag = "--" + argument.replace("_", "-")
            raise argparse.ArgumentTypeError(f"use {flag} in place of --option {said[0]}")
    if "corruptbatchformat" in given and "corruptbatchsink" not in given:
        raise argparse.ArgumentTypeError("--option corruptBatchFormat is for corruptBatchSink")
    since, until = arguments.since, arguments.until
    if since is not None and until is not None and since > until:
        raise argparse.ArgumentTypeError(f"--since ({since} ms) is later than --until ({until} ms)")


def check_logs(arguments: argparse.Namespace, *, has_topics: bool = True) -> None:
    """Raise OfflineError for impossible options, paths and topics, by listing directories only.

    A pattern that matches no topic is rejected: otherwise a typo would always pass as intact.
    `has_topics`: whether the named topics are in these logs.
    """
    options = parse_options(source_options(arguments))
    options.check_batch()
    chosen = base_selection(options)
    if not has_topics:
        find_partitions(chosen.paths)
    elif not select_partitions(chosen) and chosen.topic_pattern is not None:
        where = ", ".join(chosen.paths)
        raise UnknownTopic(f"no topic in {where} matches the pattern {arguments.topic_pattern!r}")


def without_conditions(arguments: argparse.Namespace) -> argparse.Namespace:
    """Return the arguments without `--option where=...`, for reading headers."""
    kept = [pair for pair in arguments.option if pair[0].lower() != "where"]
    return argparse.Namespace(**vars(arguments) | {"option": kept})


def records(
    spark: Any, arguments: argparse.Namespace, columns: Sequence[str], **more: object
) -> Any:
    """Return the records as a DataFrame of these columns."""
    options = source_options(arguments, columns, **more)
    return spark.read.format("pykbroker").options(**options).load()


def view(spark: Any, arguments: argparse.Namespace, name: str) -> Any:
    """Return a view (batches, segments, transactions) as a DataFrame."""
    return spark.read.format(f"pykbroker.{name}").options(**source_options(arguments)).load()


def chosen_rows(split: Split, options: ReadOptions, filters: Sequence[Filter]) -> Iterator[Any]:
    """In the workers: yield record batches of a split without the rows that filters exclude."""
    for batch in read_split(split, options):
        kept = keep_rows(batch, filters)
        if kept.num_rows:
            yield kept
