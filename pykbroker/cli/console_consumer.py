"""`pykbroker console-consumer`: kafka-console-consumer.sh."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from typing import Any, Final

from pykbroker.cli.client_library import (
    client_errors,
    make_consumer,
    servers_of,
    stop_by_signal,
)
from pykbroker.cli.client_settings import file_settings, key_values
from pykbroker.cli.command import CommandError, CommandParser, is_number, whole_number
from pykbroker.cli.connection_flags import DEFAULT_BOOTSTRAP
from pykbroker.cli.console_deserializers import DeserializerError
from pykbroker.cli.console_formatters import PACKAGE, Formatter, formatter_of
from pykbroker.cli.console_producer import add_config, add_properties
from pykbroker.cli.output_reader import reader_watched

DESCRIPTION: Final = "Print the records of topics to standard output."

LONG_POLL_MS: Final = 24 * 3_600_000
_MOST_RECORDS: Final = 500  # of one poll


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help=f"brokers to connect to, comma separated (default {DEFAULT_BOOTSTRAP})",
    )
    topics = parser.add_mutually_exclusive_group(required=True)
    topics.add_argument("--topic", help="the topic to consume from")
    topics.add_argument("--include", metavar="REGEX", help="topics to consume from, as a pattern")
    parser.add_argument(
        "--partition", type=whole_number(32), metavar="N", help="the partition to consume from"
    )
    parser.add_argument(
        "--offset", metavar="OFFSET", help="where to begin: a number, earliest or latest (default)"
    )
    parser.add_argument(
        "--from-beginning",
        action="store_true",
        help="begin with the earliest record if the group has no committed offset",
    )
    parser.add_argument(
        "--max-messages", type=whole_number(32), metavar="N", help="exit after this many records"
    )
    parser.add_argument(
        "--timeout-ms",
        type=whole_number(64),
        metavar="N",
        help="exit if no record arrives for this many ms; joining a group takes some seconds of it",
    )
    parser.add_argument(
        "--skip-message-on-error", action="store_true", help="skip records that cannot be printed"
    )
    parser.add_argument("--group", metavar="ID", help="the consumer group")
    parser.add_argument(
        "--isolation-level",
        choices=("read_committed", "read_uncommitted"),
        help="read_committed leaves records of open and aborted transactions out",
    )
    parser.add_argument(
        "--formatter", default=f"{PACKAGE}DefaultMessageFormatter", metavar="CLASS",
        help="the formatter: Default-, Logging-, NoOp-, Offsets-, GroupMetadata- or "
        "TransactionLogMessageFormatter",
    )  # fmt: skip
    known = "print.timestamp, print.key, print.offset, print.partition, print.headers, "
    known += "print.value, key.separator, line.separator, headers.separator, null.literal, "
    known += "key.deserializer, value.deserializer, headers.deserializer"
    add_properties(parser, "formatter-property", "property", f"of the formatter: {known}")
    parser.add_argument(
        "--formatter-config", metavar="FILE", help="properties file of the formatter"
    )
    parser.add_argument("--key-deserializer", metavar="CLASS", help="deserializer of keys")
    parser.add_argument("--value-deserializer", metavar="CLASS", help="deserializer of values")
    parser.add_argument(
        "--enable-systest-events", action="store_true", help="print shutdown_complete at the end"
    )
    add_properties(parser, "command-property", "consumer-property", "of the consumer")
    add_config(parser, "consumer.config", "consumer")


def run(options: argparse.Namespace) -> int:
    _check(options)
    formatter = formatter_of(options.formatter, _formatter_properties(options))
    settings = consumer_settings(options)
    consumer = make_consumer(servers_of(options, settings), settings)
    receiver = Receiver(consumer)
    printed = RecordPrinter(formatter, options.skip_message_on_error)
    with stop_by_signal():
        try:
            with client_errors():
                _subscribe(consumer, options)
                with reader_watched():
                    for record in receiver.records(options.max_messages, options.timeout_ms):
                        printed.print(record)
                if not printed.count and options.max_messages != 0:
                    print(_hint(options), file=sys.stderr)
        finally:
            with client_errors():
                receiver.rewind()
                consumer.close()
            print(f"Processed a total of {printed.count} messages", file=sys.stderr)
            if options.enable_systest_events:
                print("shutdown_complete")
    return 0


def _hint(options: argparse.Namespace) -> str:
    """Return why no record may have arrived within --timeout-ms."""
    reasons = []
    if options.partition is None:
        reasons.append("joining a group takes some seconds of that (--partition does not join one)")
    if not options.from_beginning and options.offset is None:
        reasons.append("only new records are read (--from-beginning reads all)")
    message = f"No record came within {options.timeout_ms} ms"
    return f"{message}: {'; '.join(reasons)}" if reasons else message


def _check(options: argparse.Namespace) -> None:
    if options.partition is None:
        if options.offset is not None:
            raise CommandError("The partition is required when offset is specified.")
        return
    if options.topic is None:
        raise CommandError("The topic is required when partition is specified.")
    if options.from_beginning and options.offset is not None:
        raise CommandError("Options from-beginning and offset cannot be specified together.")
    offset = (options.offset or "latest").lower()
    if offset not in ("earliest", "latest") and not is_number(offset):
        raise CommandError(
            f"The provided offset value '{options.offset}' is incorrect. Valid values are "
            "'earliest', 'latest', or a non-negative long."
        )


def _formatter_properties(options: argparse.Namespace) -> dict[str, str]:
    properties = file_settings(options.formatter_config)
    if options.key_deserializer:
        properties["key.deserializer"] = options.key_deserializer
    if options.value_deserializer:
        properties["value.deserializer"] = options.value_deserializer
    return properties | key_values(options.formatter_property)


def consumer_settings(options: argparse.Namespace) -> dict[str, str]:
    """Return settings of the consumer: from the file, then the properties, then flags."""
    from_file = file_settings(options.command_config)
    from_flags = key_values(options.command_property)
    places = (from_file.get("group.id"), from_flags.get("group.id"), options.group)
    groups = dict.fromkeys(each for each in places if each is not None)
    if len(groups) > 1:
        raise CommandError(
            "The group ids provided in different places (directly using '--group', via "
            "'--command-property', or via '--command-config') do not match. Detected group ids: "
            + ", ".join(f"'{group}'" for group in groups)
        )
    if groups and options.partition is not None:
        raise CommandError("Options group and partition cannot be specified together.")
    settings = from_file | from_flags
    reset = settings.get("auto.offset.reset")
    if options.from_beginning and reset not in (None, "earliest"):
        raise CommandError(
            "Can't simultaneously specify --from-beginning and "
            f"'auto.offset.reset={reset}', please remove one option"
        )
    if options.isolation_level is not None:
        settings["isolation.level"] = options.isolation_level
    if not groups:
        # A group for a single run commits no offsets.
        settings = {"enable.auto.commit": "false"} | settings
    defaults = {
        "auto.offset.reset": "earliest" if options.from_beginning else "latest",
        "client.id": "console-consumer",
    }
    group = next(iter(groups), f"console-consumer-{random.randrange(100_000)}")
    return defaults | settings | {"group.id": group}


def _subscribe(consumer: Any, options: argparse.Namespace) -> None:
    from kafka import TopicPartition

    if options.topic is None:
        consumer.subscribe(pattern=f"(?:{options.include})$")
    elif options.partition is None:
        consumer.subscribe([options.topic])
    else:
        partition = TopicPartition(options.topic, options.partition)
        consumer.assign([partition])
        offset = (options.offset or ("earliest" if options.from_beginning else "latest")).lower()
        if offset == "earliest":
            consumer.seek_to_beginning(partition)
        elif offset == "latest":
            consumer.seek_to_end(partition)
        else:
            consumer.seek(partition, int(offset))


class Receiver:
    """Yields records as they arrive, and tracks the fetched ones that it has not yielded yet."""

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self._next_offsets: dict[Any, int] = {}

    def records(self, most: int | None, timeout_ms: int | None) -> Iterator[Any]:
        """Yield at most `most` records (None, below 0: any number), until none arrives for
        `timeout_ms` (None, below 0: for ever).

        A poll that ends while the group is being joined would leave kafka-python 3.0 without an
        assignment and without heartbeats: it returns with records, or not before the end.
        """
        has_end = timeout_ms is not None and timeout_ms >= 0
        left = -1 if most is None else most
        while left:
            size = _MOST_RECORDS if left < 0 else min(left, _MOST_RECORDS)
            wait_ms = timeout_ms if has_end else LONG_POLL_MS
            polled = self._consumer.poll(timeout_ms=wait_ms, max_records=size)
            if has_end and not polled:
                return
            self._next_offsets = {each: records[0].offset for each, records in polled.items()}
            for partition, records in polled.items():
                for record in records:
                    self._next_offsets[partition] = record.offset + 1
                    yield record
                self._next_offsets.pop(partition)
                left -= len(records) if left > 0 else 0
            sys.stdout.flush()

    def rewind(self) -> None:
        """Go back to the fetched records that were not yielded, so that a commit does not skip
        them.
        """
        assigned = self._consumer.assignment()
        for partition, offset in self._next_offsets.items():
            if partition in assigned:
                self._consumer.seek(partition, offset)


class RecordPrinter:
    """Writes records to standard output; `count` includes those that were skipped."""

    def __init__(self, formatter: Formatter, skip_errors: bool) -> None:
        self._formatter = formatter
        self._skip_errors = skip_errors
        self._write = sys.stdout.buffer.write
        self.count = 0

    def print(self, record: Any) -> None:
        """Write one record."""
        self.count += 1
        try:
            self._write(self._formatter.format(record))
        except (DeserializerError, CommandError) as error:
            where = f"{record.topic}-{record.partition} at offset {record.offset}"
            if not self._skip_errors:
                raise CommandError(f"{where}: {error}") from error
            print(f"{where} is skipped: {error}", file=sys.stderr)
