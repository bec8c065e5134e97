"""`pykbroker produce`: produces records from the command line or standard input, for people."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterable, Iterator
from typing import Final

from pykbroker.cli.client_library import make_producer, servers_of, stop_by_signal
from pykbroker.cli.client_settings import file_settings, key_values
from pykbroker.cli.command import CommandError, CommandParser, whole_number
from pykbroker.cli.connection_flags import DEFAULT_BOOTSTRAP
from pykbroker.cli.progress import Progress, counted
from pykbroker.cli.record_sender import Headers, OutgoingRecord, RecordSender
from pykbroker.cli.record_text import FORMATS, parse_json_line, parse_text

DESCRIPTION: Final = """Produce records: one for each --value, or for each line of standard input.

  pykbroker produce orders --key 7 --value '{"paid": true}' --header source=shell
  cat orders.tsv | pykbroker produce orders --key-separator '\\t'
  pykbroker consume orders --json | pykbroker produce copies --json"""


def add_arguments(parser: CommandParser) -> None:
    add_people_connection(parser, "producer")
    parser.add_argument("topic", metavar="TOPIC", help="the topic to produce to")
    parser.add_argument(
        "--value",
        action="append",
        metavar="TEXT",
        help="value of a record, instead of standard input; may be repeated",
    )
    parser.add_argument(
        "--tombstone", action="store_true", help="produce one record with --key and a null value"
    )
    parser.add_argument("--key", metavar="TEXT", help="key of all records")
    parser.add_argument(
        "--key-separator", metavar="TEXT", help="separator of key and value in each line"
    )
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="header to add to all records; may be repeated",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="read lines of JSON as `pykbroker consume --json` prints them",
    )
    add_formats(parser)
    parser.add_argument(
        "--partition", type=whole_number(32), metavar="N", help="partition to produce to"
    )
    parser.add_argument(
        "--compression",
        choices=("none", "gzip", "snappy", "lz4", "zstd"),
        help="compression codec (default none)",
    )
    parser.add_argument(
        "--acks",
        choices=("0", "1", "all"),
        help="wait for no replica, the leader, or all in-sync replicas (default all)",
    )
    parser.add_argument("--quiet", action="store_true", help="print no counts and no progress")


def add_people_connection(parser: CommandParser, what: str) -> None:
    """Add --bootstrap-server, --command-config, --command-property."""
    parser.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help=f"brokers to connect to, comma separated (default {DEFAULT_BOOTSTRAP})",
    )
    parser.add_argument("--command-config", metavar="FILE", help=f"properties of the {what}")
    parser.add_argument(
        "--command-property",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"a property of the {what}, by Kafka's name",
    )


def add_formats(parser: CommandParser) -> None:
    """Add --key-format and --value-format."""
    for part in ("key", "value"):
        parser.add_argument(
            f"--{part}-format",
            choices=FORMATS,
            default="text",
            help=f"format of {part}s (default text)",
        )


def run(options: argparse.Namespace) -> int:
    _check(options)
    settings = file_settings(options.command_config) | key_values(options.command_property)
    settings = {"client.id": "pykbroker-produce", "linger.ms": "5", "acks": "all"} | settings
    flags = {"acks": options.acks, "compression.type": options.compression}
    settings |= {key: value for key, value in flags.items() if value is not None}
    records = _records(options)
    producer = make_producer(servers_of(options, settings), settings)
    sender = RecordSender(producer)
    is_typed = not options.value and not options.tombstone and sys.stdin.isatty()
    progress = Progress(quiet=options.quiet or is_typed)  # not into a line that is being typed
    with stop_by_signal():
        try:
            for number, record in enumerate(records, 1):
                sender.send(record)
                progress.show(number)
        finally:
            sender.close()
            progress.clear()
            if not options.quiet:
                where = counted(len(sender.partitions), "partition")
                print(
                    f"{counted(sender.acknowledged, 'record')} to {where} of {options.topic}",
                    file=sys.stderr,
                )
    sender.check()
    return 0


def _check(options: argparse.Namespace) -> None:
    """Reject flags that contradict each other."""
    if options.tombstone and (options.key is None or options.value or options.json):
        raise CommandError("--tombstone takes --key, and neither --value nor --json")
    if options.json:
        for name in ("value", "key", "key_separator", "header"):
            if getattr(options, name):
                flag = "--" + name.replace("_", "-")
                raise CommandError(f"--json takes records as they are: leave {flag} out")
    if options.key is not None and options.key_separator is not None:
        raise CommandError("Give either --key or --key-separator, not both")
    if options.key_separator is not None:
        _unescaped(options.key_separator)


def _records(options: argparse.Namespace) -> Iterator[OutgoingRecord]:
    """Check the command line, then return the records; lines are read on demand."""
    headers = [_header(each) for each in options.header]
    key = None if options.key is None else parse_text(options.key, options.key_format)
    if options.tombstone:
        return iter([OutgoingRecord(options.topic, key, None, headers, options.partition)])
    if options.value:
        values = [parse_text(each, options.value_format) for each in options.value]
        return (
            OutgoingRecord(options.topic, key, value, headers, options.partition)
            for value in values
        )
    return _of_lines(options, key, headers, _input_lines(options.quiet))


def _of_lines(
    options: argparse.Namespace, key: bytes | None, headers: Headers, lines: Iterable[str]
) -> Iterator[OutgoingRecord]:
    separator = options.key_separator
    if separator is not None:
        separator = _unescaped(separator)
    for number, line in enumerate(lines, 1):
        text = line.removesuffix("\n")
        try:
            if options.json:
                record = parse_json_line(text, options.topic)
                yield record._replace(partition=options.partition)
                continue
            if separator is not None:
                before, found, text = text.partition(separator)
                if not found:
                    raise CommandError(f"no {options.key_separator!r} between a key and a value")
                key = parse_text(before, options.key_format)
            value = parse_text(text, options.value_format)
        except CommandError as error:
            raise CommandError(f"line {number}: {error}") from error
        yield OutgoingRecord(options.topic, key, value, headers, options.partition)


def _unescaped(separator: str) -> str:
    r"""`\t` and its like as they are written on a command line."""
    try:
        found = separator.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except UnicodeDecodeError:
        found = ""
    if not found:
        raise CommandError(f"--key-separator {separator!r} is no text to look for")
    return found


def _header(text: str) -> tuple[str, bytes]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise CommandError(f"--header {text}: expected NAME=VALUE")
    return name, value.encode("utf-8", "surrogateescape")


def _input_lines(quiet: bool) -> Iterator[str]:
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    if sys.stdin.isatty() and not quiet:
        print("One record a line; Ctrl-D ends.", file=sys.stderr)
    return iter(sys.stdin.readline, "")
