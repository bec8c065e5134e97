"""`pykbroker delete-records`: kafka-delete-records.sh."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any, Final

from pykbroker.cli.admin import AdminClient
from pykbroker.cli.command import CommandError, CommandParser, add_json, print_json
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.errors import ErrorCode, error_message

DESCRIPTION: Final = """\
Delete the records of partitions up to an offset. The file is JSON:

  {"partitions": [{"topic": "foo", "partition": 1, "offset": 1}], "version": 1}

An offset of -1 deletes all that is there."""


def add_arguments(parser: CommandParser) -> None:
    add_connection(parser)
    parser.add_argument(
        "--offset-json-file", required=True, metavar="FILE", help="the offsets, as JSON"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    wanted = read_offsets(options.offset_json_file)
    with connect(options) as client:
        if not options.json:
            print("Executing records delete operation")
        results = delete_records(client, wanted)
    if options.json:
        print_json(
            [
                {"topic": t, "partition": p, "low_watermark": low, "error": error}
                for (t, p), (low, error) in sorted(results.items())
            ]
        )
    else:
        print("Records delete operation completed:")
        for (topic, number), (low, error) in sorted(results.items()):
            outcome = f"low_watermark: {low}" if error is None else f"error: {error}"
            print(f"partition: {topic}-{number}\t{outcome}")
    return 1 if any(error is not None for _, error in results.values()) else 0


def read_offsets(file: str) -> dict[tuple[str, int], int]:
    """Offsets by partition, from the JSON file."""
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    try:
        root = json.loads(text)
    except ValueError as error:
        raise CommandError("The input string is not a valid JSON") from error
    if not isinstance(root, dict):
        raise CommandError("The input string is not a valid JSON")
    version = root.get("version", 1)
    if version != 1:
        raise CommandError(f"Not supported version field value {version}")
    if "partitions" not in root:
        raise CommandError("Missing partitions field")
    wanted: dict[tuple[str, int], int] = {}
    duplicates: list[str] = []
    for each in root["partitions"]:
        key, offset = _entry(each)
        if key in wanted:
            duplicates.append(f"{key[0]}-{key[1]}")
        wanted[key] = offset
    if duplicates:
        shown = ",".join(duplicates)
        raise CommandError(f"Offset json file contains duplicate topic partitions: {shown}")
    return wanted


def _entry(each: Any) -> tuple[tuple[str, int], int]:
    names = ("topic", "partition", "offset")
    kinds = (str, int, int)
    if not isinstance(each, dict):
        raise CommandError(f"Not a partition: {json.dumps(each)}")
    for name, kind in zip(names, kinds, strict=True):
        if name not in each or type(each[name]) is not kind:
            raise CommandError(f'Missing or wrong field "{name}" in {json.dumps(each)}')
    return (each["topic"], each["partition"]), each["offset"]


def delete_records(
    client: AdminClient, wanted: dict[tuple[str, int], int]
) -> dict[tuple[str, int], tuple[int, str | None]]:
    """(low watermark, error) by partition."""
    from pykbroker.protocol.messages.delete_records_request import (
        DeleteRecordsPartition,
        DeleteRecordsRequest,
        DeleteRecordsTopic,
    )

    def request(numbers_by_topic: Mapping[str, list[int]]) -> DeleteRecordsRequest:
        topics = [
            DeleteRecordsTopic(
                name=topic,
                partitions=[
                    DeleteRecordsPartition(partition_index=n, offset=wanted[topic, n])
                    for n in numbers
                ],
            )
            for topic, numbers in numbers_by_topic.items()
        ]
        return DeleteRecordsRequest(topics=topics, timeout_ms=60_000)

    answers, leaderless = client.ask_leaders(wanted, request)
    results: dict[tuple[str, int], tuple[int, str | None]] = {
        key: (each.low_watermark, error_message(each.error_code)) for key, each in answers.items()
    }
    unknown = error_message(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return results | dict.fromkeys(leaderless, (-1, unknown))
