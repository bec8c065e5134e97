"""`pykbroker topics`: kafka-topics.sh."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from typing import Final

from pykbroker.cli.admin import AdminClient, check
from pykbroker.cli.command import CommandError, CommandParser, add_json, print_json
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.cli.topic_description import describe
from pykbroker.errors import ErrorCode
from pykbroker.protocol.primitives import ZERO_UUID, uuid_from_str

DESCRIPTION: Final = "Create, delete, describe or change topics."

_ACTIONS: Final = ("list", "describe", "create", "alter", "delete")
_TIMEOUT_MS: Final = 60_000

# Flag -> the actions that allow it (TopicCommandOptions.checkInvalidArgs).
_BELONGS_TO: Final[dict[str, tuple[str, ...]]] = {
    "config": ("create",),
    "partitions": ("create", "alter"),
    "replication_factor": ("create",),
    "replica_assignment": ("create", "alter"),
    "under_replicated_partitions": ("describe",),
    "unavailable_partitions": ("describe",),
    "under_min_isr_partitions": ("describe",),
    "at_min_isr_partitions": ("describe",),
    "topics_with_overrides": ("describe",),
    "if_exists": ("alter", "delete", "describe"),
    "if_not_exists": ("create",),
    "exclude_internal": ("list", "describe"),
}


def add_arguments(parser: CommandParser) -> None:
    add_connection(parser)
    for name, text in (
        ("list", "list all topics"),
        ("describe", "describe topics"),
        ("create", "create a topic"),
        ("alter", "add partitions to topics"),
        ("delete", "delete topics"),
    ):
        parser.add_argument(f"--{name}", action="store_true", help=text)
    parser.add_argument(
        "--topic", metavar="NAME", help="topic name; except with --create, a pattern for names"
    )
    parser.add_argument("--topic-id", metavar="ID", help="id of the topic to describe")
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="configuration of the new topic; may be repeated",
    )
    parser.add_argument("--partitions", type=int, metavar="N", help="number of partitions")
    parser.add_argument("--replication-factor", type=int, metavar="N", help="number of replicas")
    parser.add_argument(
        "--replica-assignment",
        metavar="B1:B2,B1:B2",
        help="brokers of each partition, instead of --partitions and --replication-factor",
    )
    for name, text in (
        ("under-replicated-partitions", "describe only under-replicated partitions"),
        ("unavailable-partitions", "describe only partitions without a live leader"),
        ("under-min-isr-partitions", "describe only partitions below min.insync.replicas"),
        ("at-min-isr-partitions", "describe only partitions exactly at min.insync.replicas"),
        ("topics-with-overrides", "describe only topics with configuration overrides"),
        ("if-exists", "do nothing when the topic does not exist"),
        ("if-not-exists", "do nothing when the topic exists"),
        ("exclude-internal", "exclude internal topics"),
    ):
        parser.add_argument(f"--{name}", action="store_true", help=text)
    parser.add_argument(
        "--partition-size-limit-per-response",
        type=int,
        default=2000,
        metavar="N",
        help="maximum number of partitions in one response (default 2000)",
    )
    add_json(parser)
    parser.set_defaults(parser=parser)


def run(options: argparse.Namespace) -> int:
    action = _checked_action(options)
    with connect(options) as client:
        try:
            _RUN[action](client, options)
        except CommandError as error:
            # The script prints this to standard output; an error belongs on standard error.
            print(f"Error while executing topic command : {error}", file=sys.stderr)
            return 1
    return 0


def _checked_action(options: argparse.Namespace) -> str:
    actions = [name for name in _ACTIONS if getattr(options, name)]
    if len(actions) != 1:
        options.parser.error(
            "Command must include exactly one action: --list, --describe, --create, --alter or "
            "--delete"
        )
    (action,) = actions
    for name, allowed in _BELONGS_TO.items():
        if getattr(options, name) and action not in allowed:
            flag = name.replace("_", "-")
            options.parser.error(f'Option "[{flag}]" can\'t be used with option "[{action}]"')
    if action not in ("list", "describe") and options.topic is None:
        options.parser.error('Missing required argument "[topic]"')
    if action == "alter" and options.partitions is None:
        options.parser.error('Missing required argument "[partitions]"')
    if action == "create" and options.replica_assignment:
        for name in ("partitions", "replication_factor"):
            if getattr(options, name) is not None:
                flag = name.replace("_", "-")
                options.parser.error(
                    f'Option "[replica-assignment]" can\'t be used with option "[{flag}]"'
                )
    return action


# --- create, alter, delete --------------------------------------------------------------------


def _create(client: AdminClient, options: argparse.Namespace) -> None:
    from pykbroker.protocol.messages.create_topics_request import (
        CreatableReplicaAssignment,
        CreatableTopic,
        CreatableTopicConfig,
        CreateTopicsRequest,
    )

    topic = options.topic
    if "." in topic or "_" in topic:
        print(
            "WARNING: Due to limitations in metric names, topics with a period ('.') or "
            "underscore ('_') could collide. To avoid issues it is best to use either, but not "
            "both."
        )
    factor, partitions = options.replication_factor, options.partitions
    if factor is not None and not 1 <= factor <= 32767:
        raise CommandError("The replication factor must be between 1 and 32767 inclusive")
    if partitions is not None and partitions < 1:
        raise CommandError("The partitions must be greater than 0")
    assignment = parse_assignment(options.replica_assignment)
    creatable = CreatableTopic(
        name=topic,
        num_partitions=-1 if partitions is None or assignment else partitions,
        replication_factor=-1 if factor is None or assignment else factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=number, broker_ids=brokers)
            for number, brokers in enumerate(assignment)
        ],
        configs=[
            CreatableTopicConfig(name=name, value=value)
            for name, value in parse_configs(options.config).items()
        ],
    )
    request = CreateTopicsRequest(topics=[creatable], timeout_ms=_TIMEOUT_MS)
    (result,) = client.any_broker.send(request).topics
    if result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS and options.if_not_exists:
        return
    check(result.error_code, result.error_message)
    print(f"Created topic {topic}.")


def parse_configs(pairs: Iterable[str]) -> dict[str, str]:
    """Parse `name=value` of --config, with the checks of the script."""
    from pykbroker.config.definition import ConfigError
    from pykbroker.config.topic_keys import TOPIC_KEYS

    result: dict[str, str] = {}
    for pair in pairs:
        parts = re.split(r"\s*=\s*", pair)
        while parts and not parts[-1]:  # String.split drops empty parts at the end
            parts.pop()
        if len(parts) != 2:
            raise CommandError(
                "requirement failed: Invalid topic config: all configs to be added must be in the "
                'format "key=val".'
            )
        name, value = parts[0].strip(), parts[1].strip()
        if name not in TOPIC_KEYS:
            raise CommandError(f"Unknown topic config name: {name}")
        try:
            TOPIC_KEYS[name].parse(value)
        except ConfigError as error:
            raise CommandError(error.message) from error
        result[name] = value
    return result


def parse_assignment(text: str | None) -> list[list[int]]:
    """Parse `1:2,2:3` as the brokers of each partition."""
    result: list[list[int]] = []
    for entry in text.split(",") if text else ():
        try:
            brokers = [int(each) for each in entry.split(":")]
        except ValueError as error:
            raise CommandError(f'For input string: "{entry}"') from error
        duplicates = sorted({each for each in brokers if brokers.count(each) > 1})
        if duplicates:
            shown = ",".join(map(str, duplicates))
            raise CommandError(
                f"Partition replica lists may not contain duplicate entries: {shown}"
            )
        if result and len(brokers) != len(result[0]):
            raise CommandError(
                f"Partition {len(result)} has different replication factor: {brokers}"
            )
        result.append(brokers)
    return result


def _alter(client: AdminClient, options: argparse.Namespace) -> None:
    from pykbroker.protocol.messages.create_partitions_request import (
        CreatePartitionsAssignment,
        CreatePartitionsRequest,
        CreatePartitionsTopic,
    )

    topics = _existing(client, options)
    if not topics:
        return
    assignment = parse_assignment(options.replica_assignment)
    counts = {each.name: len(each.partitions) for each in client.metadata(topics).topics}
    wanted = []
    for topic in topics:
        added = [
            CreatePartitionsAssignment(broker_ids=brokers)
            for brokers in assignment[counts[topic] :]
        ]
        wanted.append(
            CreatePartitionsTopic(
                name=topic, count=options.partitions, assignments=added if assignment else None
            )
        )
    request = CreatePartitionsRequest(topics=wanted, timeout_ms=_TIMEOUT_MS, validate_only=False)
    for result in client.any_broker.send(request).results:
        check(result.error_code, result.error_message)


def _delete(client: AdminClient, options: argparse.Namespace) -> None:
    from pykbroker.protocol.messages.delete_topics_request import (
        DeleteTopicsRequest,
        DeleteTopicState,
    )

    topics = _existing(client, options)
    if not topics:
        return
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=topic) for topic in topics], timeout_ms=_TIMEOUT_MS
    )
    for result in client.any_broker.send(request).responses:
        check(result.error_code, result.error_message)


# --- list, describe ---------------------------------------------------------------------------


def _list(client: AdminClient, options: argparse.Namespace) -> None:
    names = _matching(client, options.topic, exclude_internal=options.exclude_internal)
    if options.json:
        print_json(names)
    else:
        print("\n".join(names))


def _matching(client: AdminClient, pattern: str | None, *, exclude_internal: bool) -> list[str]:
    chosen = None if pattern is None else include_list(pattern)
    names = client.topic_names(internal=not exclude_internal)
    return names if chosen is None else [name for name in names if chosen.fullmatch(name)]


def include_list(pattern: str) -> re.Pattern[str]:
    """Return a pattern that matches whole topic names (IncludeList): `,` means "or"."""
    text = pattern.strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        return re.compile(text)
    except re.error as error:
        raise CommandError(f"{pattern} is an invalid regex.") from error


def _existing(client: AdminClient, options: argparse.Namespace) -> list[str]:
    topics = _matching(client, options.topic, exclude_internal=options.exclude_internal)
    if options.topic and not topics and not options.if_exists:
        raise CommandError(f"Topic '{options.topic}' does not exist as expected")
    return topics


def _describe(client: AdminClient, options: argparse.Namespace) -> None:
    describe(client, options, _describable(client, options))


def _describable(client: AdminClient, options: argparse.Namespace) -> list[str]:
    if options.topic_id is None:
        return _existing(client, options)
    try:
        wanted = uuid_from_str(options.topic_id)
    except ValueError as error:
        raise CommandError(f"Input string `{options.topic_id}` is not a topic id") from error
    if wanted == ZERO_UUID:
        return _existing(client, options)
    names = [each.name for each in client.metadata(None).topics if each.topic_id == wanted]
    if not names and not options.if_exists:
        raise CommandError(f"TopicId '{options.topic_id}' does not exist as expected")
    return names


_RUN: Final = {
    "list": _list,
    "describe": _describe,
    "create": _create,
    "alter": _alter,
    "delete": _delete,
}
