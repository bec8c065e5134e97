"""`pykbroker consume`: prints the records of a topic, in a form for people."""

from __future__ import annotations

import argparse
import re
import sys
from datetime import UTC, datetime
from typing import Any, Final

from pykbroker.cli.client_library import client_errors, make_consumer, servers_of, stop_by_signal
from pykbroker.cli.client_settings import file_settings, key_values
from pykbroker.cli.colours import no_colours, paint_for
from pykbroker.cli.command import CommandError, CommandParser, is_number, whole_number
from pykbroker.cli.consume_range import Bound, ConsumedRange, parse_bound
from pykbroker.cli.produce import add_formats, add_people_connection
from pykbroker.cli.progress import Progress, counted
from pykbroker.cli.record_text import json_line, show_bytes
from pykbroker.errors import ErrorCode

DESCRIPTION: Final = """Print the records of a topic: what it holds, or with --follow new ones.

  pykbroker consume orders --show key,timestamp --max 10
  pykbroker consume orders --from 1h --grep paid
  pykbroker consume orders --follow --group billing
  pykbroker consume orders --json | jq .value"""

_FIELDS: Final = ("timestamp", "partition", "offset", "headers", "key", "value")
_POLL_MS: Final = 100


def add_arguments(parser: CommandParser) -> None:
    add_people_connection(parser, "consumer")
    parser.add_argument("topic", metavar="TOPIC", help="the topic to consume")
    parser.add_argument("--partition", metavar="N,N", help="partitions to consume; all by default")
    where = "earliest, latest, an offset, a time (2026-01-31T12:00:00) or an age (5m)"
    parser.add_argument(
        "--from", dest="begin", metavar="WHERE",
        help=f"{where}; by default earliest, with --follow latest",
    )  # fmt: skip
    parser.add_argument(
        "--until",
        metavar="WHERE",
        help=f"{where}; by default the end of the log when the command starts",
    )
    parser.add_argument("--follow", action="store_true", help="wait for new records, until Ctrl-C")
    parser.add_argument("--max", type=whole_number(63), metavar="N", help="print at most N records")
    parser.add_argument(
        "--group", metavar="ID",
        help="begin at this group's committed offsets, and commit; it must have no members",
    )  # fmt: skip
    parser.add_argument("--grep", metavar="REGEX", help="only records whose value matches")
    parser.add_argument("--key", metavar="REGEX", help="only records whose key matches")
    parser.add_argument(
        "--show", default="value", metavar="FIELDS",
        help=f"columns to print: {','.join(_FIELDS)}, or all (default value)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print each record as a line of JSON")
    add_formats(parser)
    parser.add_argument(
        "--committed", action="store_true", help="leave out open and aborted transactions"
    )
    parser.add_argument("--quiet", action="store_true", help="print no counts and no progress")


def run(options: argparse.Namespace) -> int:
    _check(options)
    now = datetime.now(UTC)
    begin = parse_bound(options.begin or ("latest" if options.follow else "earliest"), now)
    until = None if options.follow else parse_bound(options.until or "latest", now)
    output = RecordOutput(options)
    settings = _settings(options, begin)
    consumer = make_consumer(servers_of(options, settings), settings)
    with stop_by_signal(), client_errors():
        try:
            if options.group is not None:
                _check_group(servers_of(options, settings), options.group)
            consumed = ConsumedRange(consumer, _partitions(consumer, options), options.group)
            _print_records(consumed, begin, until, output, options)
        finally:
            consumer.close()
    return 0


def _print_records(
    consumed: ConsumedRange,
    begin: Bound,
    until: Bound | None,
    output: RecordOutput,
    options: argparse.Namespace,
) -> None:
    progress = Progress(quiet=options.quiet)
    records = consumed.records(begin, until)
    seen = 0
    try:
        for record in records:
            seen += 1
            if output.matches(record):
                progress.clear()  # the two may be on one terminal
                output.print(record)
                if output.count == options.max:
                    break
            progress.show(seen, consumed.total)
        sys.stdout.flush()
    finally:
        progress.clear()
        consumed.commit()
        if not options.quiet:
            print(_counts(output.count, seen, progress.seconds()), file=sys.stderr)


def _check(options: argparse.Namespace) -> None:
    if options.follow and options.until is not None:
        raise CommandError("Give either --follow or --until, not both")
    if options.max is not None and options.max < 1:
        raise CommandError(f"--max {options.max}: expected at least one record")
    if options.group is not None and options.begin not in (None, "earliest", "latest"):
        raise CommandError(
            f"--from {options.begin} with --group: a group continues from its committed offsets; "
            "pykbroker groups --reset-offsets moves them"
        )
    for each in (options.partition or "0").split(","):
        if not is_number(each):
            raise CommandError(f"--partition {options.partition}: expected numbers, N,N")


def _settings(options: argparse.Namespace, begin: Bound) -> dict[str, str]:
    settings = file_settings(options.command_config) | key_values(options.command_property)
    settings = {"client.id": "pykbroker-consume"} | settings
    if options.group is not None:
        settings["group.id"] = options.group
    if options.committed:
        settings["isolation.level"] = "read_committed"
    settings["auto.offset.reset"] = "latest" if begin == "latest" else "earliest"
    settings["enable.auto.commit"] = "false"  # ConsumedRange commits what was printed
    settings["allow.auto.create.topics"] = "false"
    return settings


def _check_group(servers: str, group: str) -> None:
    """Raise CommandError if the group has members: the broker would then reject our commits."""
    from pykbroker.cli.admin import AdminClient, check
    from pykbroker.protocol.messages.describe_groups_request import DescribeGroupsRequest

    with AdminClient(servers) as client:
        request = DescribeGroupsRequest(groups=[group])
        (found,) = client.at_coordinator(group, lambda broker: broker.send(request)).groups
        if found.error_code != ErrorCode.GROUP_ID_NOT_FOUND:
            check(found.error_code, found.error_message)
        if found.members:
            raise CommandError(
                f"Group {group} has {counted(len(found.members), 'member')}: only without members "
                "can its offsets be committed; pykbroker console-consumer joins it"
            )


def _partitions(consumer: Any, options: argparse.Namespace) -> list[Any]:
    from kafka import TopicPartition

    numbers = consumer.partitions_for_topic(options.topic)
    if not numbers:
        raise CommandError(
            f"Topic {options.topic} does not exist; pykbroker topics --list shows all"
        )
    if options.partition is not None:
        wanted = {int(each) for each in options.partition.split(",")}
        if missing := wanted - numbers:
            raise CommandError(f"Topic {options.topic} has no partition {min(missing)}")
        numbers = wanted
    return [TopicPartition(options.topic, number) for number in sorted(numbers)]


def _counts(printed: int, seen: int, seconds: float) -> str:
    of = "" if printed == seen else f" of {seen:,}"
    return f"{counted(printed, 'record')}{of} in {seconds:.1f} s"


class RecordOutput:
    """Prints the records that match, as the flags specify; `count` is how many it printed."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._value_pattern = _pattern("--grep", options.grep)
        self._key_pattern = _pattern("--key", options.key)
        self._fields = _FIELDS if options.show == "all" else tuple(options.show.split(","))
        for each in self._fields:
            if each not in _FIELDS:
                raise CommandError(f"--show {each}: known are {', '.join(_FIELDS)} and all")
        self._forms = {"key": options.key_format, "value": options.value_format}
        self._is_json = options.json
        self._is_terminal = sys.stdout.isatty()
        self._paint = no_colours if self._is_json else paint_for()
        self._write = sys.stdout.buffer.write
        self.count = 0

    def matches(self, record: Any) -> bool:
        """Return whether --grep and --key want the record."""
        wanted = _matches(self._value_pattern, record.value)
        return wanted and _matches(self._key_pattern, record.key)

    def print(self, record: Any) -> None:
        """Print the record; at once on a terminal, where a line of progress may come next."""
        self.count += 1
        if self._is_json:
            self._write(json_line(record, self._forms["key"], self._forms["value"]))
        else:
            columns = [self._paint(name, self._column(name, record)) for name in self._fields]
            self._write(b"\t".join(columns) + b"\n")
        if self._is_terminal:
            sys.stdout.flush()

    def _column(self, name: str, record: Any) -> bytes:
        match name:
            case "timestamp":
                at = datetime.fromtimestamp(record.timestamp / 1000, UTC)
                return at.isoformat(timespec="milliseconds").replace("+00:00", "Z").encode()
            case "headers":
                pairs = (name.encode() + b"=" + (value or b"") for name, value in record.headers)
                return show_bytes(b",".join(pairs), "text", escaped=self._is_terminal)
            case "key" | "value":
                content = getattr(record, name)
                return show_bytes(content, self._forms[name], escaped=self._is_terminal)
            case _:
                return str(getattr(record, name)).encode()


def _pattern(flag: str, text: str | None) -> re.Pattern[bytes] | None:
    try:
        return None if text is None else re.compile(text.encode("utf-8", "surrogateescape"))
    except re.error as error:
        raise CommandError(f"{flag} {text}: not a pattern: {error}") from error


def _matches(pattern: re.Pattern[bytes] | None, content: bytes | None) -> bool:
    return pattern is None or (content is not None and pattern.search(content) is not None)
