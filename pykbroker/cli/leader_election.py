"""`pykbroker leader-election`: kafka-leader-election.sh."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from typing import Final

from pykbroker.cli.admin import AdminClient, BrokerConnection, by_topic, check, exception_name
from pykbroker.cli.command import (
    CommandError,
    CommandParser,
    add_json,
    print_json,
    whole_number,
)
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.cli.json_files import entries, read_json_object
from pykbroker.errors import ErrorCode, error_message

DESCRIPTION: Final = """\
Elect leaders of partitions. A preferred election makes the first replica the leader where another
replica leads. An unclean election makes any live replica the leader of a partition that has none;
records may be lost. The file is JSON:

  {"partitions": [{"topic": "foo", "partition": 1}]}"""

_TYPES: Final = {"PREFERRED": 0, "UNCLEAN": 1}
_TIMEOUT_MS: Final = 30_000

Partition = tuple[str, int]
# (code, message) by partition.
Results = Mapping[Partition, tuple[int, str | None]]


def add_arguments(parser: CommandParser) -> None:
    add_connection(parser)
    parser.add_argument(
        "--election-type",
        required=True,
        type=str.upper,
        choices=tuple(_TYPES),
        metavar="TYPE",
        help="preferred or unclean",
    )
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--topic", metavar="NAME", help="the topic of --partition")
    chosen.add_argument(
        "--all-topic-partitions", action="store_true", help="all partitions that need an election"
    )
    chosen.add_argument("--path-to-json-file", metavar="FILE", help="the partitions, as JSON")
    parser.add_argument(
        "--partition", type=whole_number(32), metavar="N", help="the partition of --topic"
    )
    add_json(parser)
    parser.set_defaults(parser=parser)


def run(options: argparse.Namespace) -> int:
    if options.topic is not None and options.partition is None:
        options.parser.error("Missing required option(s): partition")
    if options.topic is None and options.partition is not None:
        options.parser.error("Option partition is only allowed if topic is used")
    wanted: list[Partition] | None = None
    if options.topic is not None:
        wanted = [(options.topic, options.partition)]
    elif options.path_to_json_file is not None:
        wanted = read_partitions(options.path_to_json_file)
    with connect(options) as client:
        results = elect_leaders(client, options.election_type, wanted)
    failed = [
        code for code, _ in results.values() if code not in (0, ErrorCode.ELECTION_NOT_NEEDED)
    ]
    if options.json:
        print_json(
            [
                {"topic": topic, "partition": number, "error": message if code else None}
                for (topic, number), (code, message) in results.items()
            ]
        )
    else:
        _print(options.election_type, results)
    if failed:
        raise CommandError(f"{len(failed)} replica(s) could not be elected")
    return 0


def read_partitions(file: str) -> list[Partition]:
    """Return the partitions in a JSON file."""
    root = read_json_object(file)
    if "partitions" not in root:
        raise CommandError('Replica election data is missing "partitions" field')
    found = [
        (each["topic"], each["partition"])
        for each in entries(root, "partitions", {"topic": str, "partition": int})
    ]
    duplicates = sorted({each for each in found if found.count(each) > 1})
    if duplicates:
        raise CommandError(
            f"Replica election data contains duplicate partitions: [{_joined(duplicates)}]"
        )
    return found


def elect_leaders(
    client: AdminClient, election_type: str, partitions: Collection[Partition] | None
) -> Results:
    """Return the result of each partition; of all that need an election if `partitions` is None."""
    from pykbroker.protocol.messages.elect_leaders_request import (
        ElectLeadersRequest,
        TopicPartitions,
    )

    topics = None
    if partitions is not None:
        topics = [
            TopicPartitions(topic=topic, partitions=numbers)
            for topic, numbers in by_topic(partitions).items()
        ]
    request = ElectLeadersRequest(
        election_type=_TYPES[election_type], topic_partitions=topics, timeout_ms=_TIMEOUT_MS
    )

    def ask(connection: BrokerConnection) -> Results:
        response = connection.send(request)
        if response.error_code == ErrorCode.REQUEST_TIMED_OUT:
            raise CommandError("Timeout waiting for election results")
        check(response.error_code)
        results = {
            (topic.topic, each.partition_id): (
                each.error_code,
                each.error_message or error_message(each.error_code),
            )
            for topic in response.replica_election_results
            for each in topic.partition_result
        }
        return dict(sorted(results.items()))

    return client.at_controller(ask)


def _print(election_type: str, results: Results) -> None:
    elected = [key for key, (code, _) in results.items() if code == ErrorCode.NONE]
    if elected:
        print(
            f"Successfully completed leader election ({election_type}) for partitions "
            f"{_joined(elected)}"
        )
    unneeded = [key for key, (code, _) in results.items() if code == ErrorCode.ELECTION_NOT_NEEDED]
    if unneeded:
        print(f"Valid replica already elected for partitions {_joined(unneeded)}")
    for (topic, number), (code, message) in results.items():
        if code not in (ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED):
            print(
                f"Error completing leader election ({election_type}) for partition: "
                f"{topic}-{number}: {exception_name(code)}: {message}"
            )


def _joined(partitions: Collection[Partition]) -> str:
    return ", ".join(f"{topic}-{number}" for topic, number in partitions)
