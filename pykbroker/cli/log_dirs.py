"""`pykbroker log-dirs`: kafka-log-dirs.sh."""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, check, exception_name
from pykbroker.cli.command import CommandError, CommandParser, is_number
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.errors import ErrorCode

DESCRIPTION: Final = "Describe the log directories of brokers, as JSON."


def add_arguments(parser: CommandParser) -> None:
    add_connection(parser)
    parser.add_argument(
        "--describe", action="store_true", required=True, help="describe the directories"
    )
    parser.add_argument("--topic-list", default="", metavar="T,T", help="topics; all by default")
    parser.add_argument("--broker-list", default="", metavar="N,N", help="brokers; all by default")
    parser.add_argument("--json", action="store_true", help="print only the JSON")


def run(options: argparse.Namespace) -> int:
    topics = {each for each in options.topic_list.split(",") if each}
    asked = _broker_ids(options.broker_list)
    with connect(options) as client:
        live = sorted(client.nodes())
        unknown = sorted(asked - set(live))
        if unknown:
            raise CommandError(
                f"ERROR: The given brokers do not exist from --broker-list: {_comma(unknown)}. "
                f"Current existent brokers: {_comma(live)}"
            )
        brokers = sorted(asked) or live
        if not options.json:
            print("Querying brokers for log directories information")
        described = [
            {"broker": each, "logDirs": _describe(client, each, topics)} for each in brokers
        ]
    if not options.json:
        print(f"Received log directory information from brokers {_comma(brokers)}")
    print(json.dumps({"brokers": described, "version": 1}, separators=(",", ":")))
    return 0


def _broker_ids(text: str) -> set[int]:
    ids = [each for each in text.split(",") if each]
    for each in ids:
        if not is_number(each.strip()):
            raise CommandError(f'For input string: "{each}"')
    return set(map(int, ids))


def _comma(numbers: Collection[int]) -> str:
    return ",".join(map(str, numbers))


def _describe(client: AdminClient, broker: int, topics: Collection[str]) -> list[Any]:
    from pykbroker.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest

    response = client.node(broker).send(DescribeLogDirsRequest(topics=None))
    check(response.error_code)
    return [
        {
            "partitions": [
                {
                    "partition": f"{topic.name}-{each.partition_index}",
                    "size": each.partition_size,
                    "offsetLag": each.offset_lag,
                    "isFuture": each.is_future_key,
                }
                for topic in directory.topics
                if not topics or topic.name in topics
                for each in topic.partitions
            ],
            "error": _error(directory.error_code),
            "logDir": directory.log_dir,
        }
        for directory in response.results
    ]


def _error(code: int) -> str | None:
    return None if code == ErrorCode.NONE else exception_name(code)
