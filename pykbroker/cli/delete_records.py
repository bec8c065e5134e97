"""`pykbroker delete-records`: kafka-delete-records.sh."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Final

from pykbroker.cli.admin import AdminClient
from pykbroker.cli.command import CommandError, CommandParser, add_json, print_json
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.cli.json_files import entries, read_json_object
from pykbroker.errors import ErrorCode, error_message

DESCRIPTION: Final = """\
Delete the records of partitions before an offset. The file is JSON:

  {"partitions": [{"topic": "foo", "partition": 1, "offset": 1}], "version": 1}

An offset of -1 deletes all records up to the high watermark."""


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
    """Return offsets by partition, from the JSON file."""
    root = read_json_object(file)
    if "partitions" not in root:
        raise CommandError("Missing partitions field")
    wanted: dict[tuple[str, int], int] = {}
    duplicates: list[str] = []
    for each in entries(root, "partitions", {"topic": str, "partition": int, "offset": int}):
        key = each["topic"], each["partition"]
        if key in wanted:
            duplicates.append(f"{key[0]}-{key[1]}")
        wanted[key] = each["offset"]
    if duplicates:
        shown = ",".join(duplicates)
        raise CommandError(f"Offset json file contains duplicate topic partitions: {shown}")
    return wanted


def delete_records(
    client: AdminClient, wanted: dict[tuple[str, int], int]
) -> dict[tuple[str, int], tuple[int, str | None]]:
    """Return (low watermark, error or None) by partition; -1 without a low watermark."""
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
