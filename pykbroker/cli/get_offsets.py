"""`pykbroker get-offsets`: kafka-get-offsets.sh."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from pykbroker.cli.admin import AdminClient
from pykbroker.cli.command import CommandError, CommandParser, add_json, is_number, print_json
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.cli.topics import include_list
from pykbroker.errors import error_message

DESCRIPTION: Final = "Print offsets of partitions, one TOPIC:PARTITION:OFFSET a line."

_SPECIAL: Final = {
    "latest": -1,
    "earliest": -2,
    "max-timestamp": -3,
    "earliest-local": -4,
    "latest-tiered": -5,
    "earliest-pending-upload": -6,
}
_RULE: Final = re.compile(r"([^:,]*)(?::(?:([0-9]*)|(?:([0-9]*)-([0-9]*))))?\Z")

Filter = Callable[[str, int], bool]


def add_arguments(parser: CommandParser) -> None:
    add_connection(parser)
    parser.add_argument(
        "--topic-partitions",
        metavar="T:1,T:0-3,T:5-",
        help="topics (patterns) and partitions: a number, a range without its end, or all",
    )
    parser.add_argument("--topic", metavar="PATTERN", help="a topic or pattern; all by default")
    parser.add_argument("--partitions", metavar="N,N", help="partition numbers; all by default")
    parser.add_argument(
        "--time",
        default="latest",
        metavar="TIME",
        help="a time in ms, or -1 or latest / -2 or earliest / -3 or max-timestamp / "
        "-4 or earliest-local / -5 or latest-tiered / -6 or earliest-pending-upload (latest)",
    )
    parser.add_argument(
        "--exclude-internal-topics", action="store_true", help="exclude internal topics"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    try:
        _print_offsets(options)
    except CommandError as error:
        raise CommandError(f"Error occurred: {error}") from error
    return 0


def _print_offsets(options: argparse.Namespace) -> None:
    if options.topic_partitions and (options.topic or options.partitions):
        raise CommandError("--topic-partitions cannot be used with --topic or --partitions")
    time_ms = parse_time(options.time)
    if options.topic_partitions:
        wanted = filter_of_rules(options.topic_partitions)
    else:
        wanted = filter_of_parts(options.topic, options.partitions)
    with connect(options) as client:
        topics = client.metadata(None).topics
        partitions = [
            (topic.name, each.partition_index)
            for topic in topics
            if not (options.exclude_internal_topics and topic.is_internal)
            for each in topic.partitions
            if wanted(topic.name, each.partition_index)
        ]
        if not partitions:
            raise CommandError("Could not match any topic-partitions with the specified filters")
        offsets, errors = list_offsets(client, dict.fromkeys(partitions, time_ms))
    for (topic, number), why in sorted(errors.items()):
        line = f"Skip getting offsets for topic-partition {topic}-{number} due to error: {why}"
        print(line, file=sys.stderr)
    known = {key: offset for key, offset in offsets.items() if offset != -1}
    ordered = sorted(known, key=lambda each: f"{each[0]}-{each[1]}")
    if options.json:
        print_json([{"topic": t, "partition": p, "offset": known[t, p]} for t, p in ordered])
        return
    for topic, number in ordered:
        print(f"{topic}:{number}:{known[topic, number]}")


def parse_time(text: str) -> int:
    if text in _SPECIAL:
        return _SPECIAL[text]
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise CommandError(
            f"Malformed time argument {text}. Please use -1 or latest / -2 or earliest / "
            "-3 or max-timestamp / -4 or earliest-local / -5 or latest-tiered / "
            "-6 or earliest-pending-upload, or a specified long format timestamp"
        )
    return int(text)


def filter_of_parts(topic: str | None, partitions: str | None) -> Filter:
    """Return the filter for --topic and --partitions."""
    numbers: set[int] = set()
    for each in partitions.split(",") if partitions else ():
        if not is_number(each):
            raise CommandError(
                "--partitions expects a comma separated list of numeric partition ids, but "
                f"received: {partitions}"
            )
        numbers.add(int(each))
    chosen = include_list(".*" if topic is None else topic)
    return lambda name, number: bool(chosen.fullmatch(name) and (not numbers or number in numbers))


def filter_of_rules(text: str) -> Filter:
    """Return the filter for --topic-partitions: any of its rules may match."""
    rules = [_rule(each) for each in text.split(",")]
    return lambda name, number: any(rule(name, number) for rule in rules)


def _rule(text: str) -> Filter:
    match = _RULE.match(text)
    if match is None:
        raise CommandError(f"Invalid rule specification: {text}")
    chosen = include_list(match[1] or ".*")
    low, high = 0, None
    if match[2]:
        low, high = int(match[2]), int(match[2]) + 1
    elif match[3] is not None:
        low = int(match[3]) if match[3] else 0
        high = int(match[4]) if match[4] else None
    return lambda name, number: bool(
        chosen.fullmatch(name) and number >= low and (high is None or number < high)
    )


def list_offsets(
    client: AdminClient, times: dict[tuple[str, int], int]
) -> tuple[dict[tuple[str, int], int], dict[tuple[str, int], str]]:
    """Return (offsets, errors) of partitions at the given times; -1 where there is no offset."""
    from pykbroker.protocol.messages.list_offsets_request import (
        ListOffsetsPartition,
        ListOffsetsRequest,
        ListOffsetsTopic,
    )

    def request(numbers_by_topic: Mapping[str, list[int]]) -> ListOffsetsRequest:
        topics = [
            ListOffsetsTopic(
                name=topic,
                partitions=[
                    ListOffsetsPartition(partition_index=n, timestamp=times[topic, n])
                    for n in numbers
                ],
            )
            for topic, numbers in numbers_by_topic.items()
        ]
        return ListOffsetsRequest(topics=topics, timeout_ms=30_000)

    answers, leaderless = client.ask_leaders(times, request)
    offsets: dict[tuple[str, int], int] = {}
    errors = dict.fromkeys(leaderless, "There is no leader for this topic-partition.")
    for key, each in answers.items():
        if each.error_code:
            errors[key] = str(error_message(each.error_code))
        else:
            offsets[key] = each.offset
    return offsets, errors


def end_offsets(
    client: AdminClient, partitions: Iterable[tuple[str, int]]
) -> dict[tuple[str, int], int]:
    """Return the end offsets; partitions with an error are left out."""
    offsets, _ = list_offsets(client, dict.fromkeys(partitions, -1))
    return offsets
