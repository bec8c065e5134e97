"""`pykbroker reassign`: kafka-reassign-partitions.sh."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Final

from pykbroker.cli.admin import AdminClient
from pykbroker.cli.command import CommandError, CommandParser, add_json, print_json, whole_number
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.cli.reassignment_directories import (
    current_directories,
    describe_moves,
    find_places,
    is_moving,
    start_moves,
)
from pykbroker.cli.reassignment_plan import (
    Partition,
    Plan,
    Replica,
    as_json,
    comma,
    duplicates,
    executable,
    partition_name,
    read_plan,
    read_topics,
)
from pykbroker.cli.reassignment_throttles import (
    clear_throttles,
    plan_moves,
    throttle_brokers,
    throttle_directories,
)
from pykbroker.cli.reassignments import (
    alter_reassignments,
    check_topics,
    describe_ongoing,
    describe_targets,
    existing_replicas,
    list_reassignments,
    topic_replicas,
)
from pykbroker.errors import KafkaError

DESCRIPTION: Final = """\
Move partitions between brokers and log directories. The plan is JSON:

  {"version": 1, "partitions": [
    {"topic": "foo", "partition": 1, "replicas": [1, 2], "log_dirs": ["any", "/data"]}]}

"log_dirs" may be left out. --generate reads {"version": 1, "topics": [{"topic": "foo"}]}."""

_TIMEOUT_MS: Final = 10_000
_VERIFY_THROTTLES: Final = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the "
    "throttle is removed."
)
_ALREADY_MOVING: Final = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to "
    "override this and create a new partition assignment in addition to the existing one. The "
    "--additional flag can also be used to change the throttle by resubmitting the current "
    "reassignment."
)

# Action -> (the flags that it needs, those that it allows).
_FLAGS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "generate": (("topics_to_move_json_file", "broker_list"), ("disable_rack_aware",)),
    "execute": (
        ("reassignment_json_file",),
        (
            "additional",
            "throttle",
            "replica_alter_log_dirs_throttle",
            "timeout",
            "disallow_replication_factor_change",
        ),
    ),
    "verify": (("reassignment_json_file",), ("preserve_throttles",)),
    "cancel": (
        ("reassignment_json_file",),
        ("preserve_throttles", "timeout", "bootstrap_controller"),
    ),
    "list": ((), ("bootstrap_controller", "json")),
}


def add_arguments(parser: CommandParser) -> None:
    add_connection(parser, controllers=True)
    for name, text in (
        ("generate", "propose a plan that spreads topics over brokers, without moving anything"),
        ("execute", "carry out a plan"),
        ("verify", "report the progress of a plan, and remove throttles once it is complete"),
        ("cancel", "cancel the moves of a plan that are in progress"),
        ("list", "list all reassignments in progress"),
    ):
        parser.add_argument(f"--{name}", action="store_true", help=text)
    for name, word, text in (
        ("reassignment-json-file", "FILE", "the plan"),
        ("topics-to-move-json-file", "FILE", "topics for --generate, as JSON"),
        ("broker-list", "N,N", "brokers over which --generate spreads the topics"),
    ):
        parser.add_argument(f"--{name}", metavar=word, help=text)
    for name, text in (
        ("throttle", "maximum bytes per second between brokers; pykbroker's brokers reject it"),
        (
            "replica-alter-log-dirs-throttle",
            "maximum bytes per second between directories of a broker",
        ),
        ("timeout", f"ms to wait for moves between directories to begin (default {_TIMEOUT_MS})"),
    ):
        parser.add_argument(f"--{name}", type=whole_number(64), metavar="N", help=text)
    for name, text in (
        ("disable-rack-aware", "make --generate ignore racks"),
        ("additional", "execute even if other reassignments are in progress"),
        ("preserve-throttles", "do not change throttles"),
        ("disallow-replication-factor-change", "reject a plan that changes the number of replicas"),
    ):
        parser.add_argument(f"--{name}", action="store_true", help=text)
    add_json(parser)
    parser.set_defaults(parser=parser)


def run(options: argparse.Namespace) -> int:
    action = _checked_action(options)
    with connect(options) as client:
        _RUN[action](client, options)
    return 0


def _checked_action(options: argparse.Namespace) -> str:
    actions = [name for name in _FLAGS if getattr(options, name)]
    if len(actions) != 1:
        options.parser.error(
            "Command must include exactly one action: --generate, --execute, --verify, --cancel, "
            "--list"
        )
    (action,) = actions
    needed, allowed = _FLAGS[action]
    for name in needed:
        if getattr(options, name) is None:
            options.parser.error(f'Missing required argument "[{_flag(name)}]"')
    every = {name for those in _FLAGS.values() for names in those for name in names}
    for name in sorted(every.difference(needed, allowed)):
        given = getattr(options, name)
        if given is not None and given is not False:
            options.parser.error(
                f'Option "[{_flag(name)}]" can\'t be used with action "[{action}]"'
            )
    return action


def _flag(name: str) -> str:
    return name.replace("_", "-")


# --- list, verify -----------------------------------------------------------------------------


def _list(client: AdminClient, options: argparse.Namespace) -> None:
    ongoing = list_reassignments(client)
    if not options.json:
        print("\n".join(describe_ongoing(ongoing)))
        return
    print_json(
        [
            {
                "topic": topic,
                "partition": number,
                "replicas": each.replicas,
                "adding": each.adding_replicas,
                "removing": each.removing_replicas,
            }
            for (topic, number), each in ongoing.items()
        ]
    )


def _verify(client: AdminClient, options: argparse.Namespace) -> None:
    plan = read_plan(options.reassignment_json_file)
    ongoing = list_reassignments(client)
    settled = {topic for (topic, number), _ in plan.partitions if (topic, number) not in ongoing}
    current = topic_replicas(client, settled)
    print("\n".join(describe_targets(plan.partitions, ongoing, current)))
    places = find_places(client, plan.directories)
    print("\n".join(describe_moves(plan.directories, places)))
    unfinished = any(
        each not in places or is_moving(places[each]) or places[each].current is None
        for each in plan.directories
    )
    if not ongoing and not unfinished and not options.preserve_throttles:
        clear_throttles(client, dict(plan.partitions))


# --- execute, cancel --------------------------------------------------------------------------


def _execute(client: AdminClient, options: argparse.Namespace) -> None:
    plan = read_plan(options.reassignment_json_file)
    wanted = executable(plan)
    ongoing = list_reassignments(client)
    if ongoing and not options.additional:
        raise CommandError(_ALREADY_MOVING)
    live = client.nodes()
    unknown = sorted({each for replicas in wanted.values() for each in replicas} - set(live))
    if unknown:
        raise CommandError(f"Unknown broker id {unknown[0]}")
    current = existing_replicas(client, wanted)
    directories = current_directories(client, _replicas(current))
    print(f"Current partition replica assignment\n\n{as_json(current, directories)}\n")
    print("Save this to use as the --reassignment-json-file option during rollback")
    between_brokers, between_directories = _rates(options)
    if max(between_brokers, between_directories) >= 0:
        print(_VERIFY_THROTTLES)
    if between_brokers >= 0:
        throttle_brokers(client, plan_moves(ongoing, wanted, current), between_brokers)
    if between_directories >= 0:
        moving = {broker for _, _, broker in plan.directories}
        throttle_directories(client, moving, between_directories)
    errors = alter_reassignments(
        client,
        wanted,
        allow_replication_factor_change=not options.disallow_replication_factor_change,
    )
    if errors:
        raise CommandError("Error reassigning partition(s):\n" + _lines(errors))
    names = comma(map(partition_name, sorted(wanted)))
    print(f"Successfully started partition reassignment{'s' * (len(wanted) > 1)} for {names}")
    if plan.directories:
        start_moves(client, plan.directories, _timeout_ms(options))


def _replicas(assignment: Mapping[Partition, Iterable[int]]) -> list[Replica]:
    return [(*partition, broker) for partition, those in assignment.items() for broker in those]


def _rates(options: argparse.Namespace) -> tuple[int, int]:
    """Return the throttles between brokers and between directories; below 0 means none."""
    given = options.throttle, options.replica_alter_log_dirs_throttle
    first, second = (-1 if each is None else each for each in given)
    return first, second


def _timeout_ms(options: argparse.Namespace) -> int:
    given: int | None = options.timeout
    return _TIMEOUT_MS if given is None else given


def _lines(errors: Mapping[Partition, str]) -> str:
    return "\n".join(f"{partition_name(each)}: {message}" for each, message in errors.items())


def _cancel(client: AdminClient, options: argparse.Namespace) -> None:
    plan = read_plan(options.reassignment_json_file)
    _cancel_partitions(client, plan)
    places = find_places(client, plan.directories)
    moving = {each: str(place.current) for each, place in places.items() if is_moving(place)}
    if moving:
        # A move to the replica's current directory cancels the move in progress.
        start_moves(client, moving, _timeout_ms(options))
    else:
        print("None of the specified partition moves are active.")
    if not options.preserve_throttles:
        clear_throttles(client, dict(plan.partitions))


def _cancel_partitions(client: AdminClient, plan: Plan) -> None:
    partitions = dict(plan.partitions)
    active = [
        partition
        for partition, each in list_reassignments(client, partitions).items()
        if each.adding_replicas or each.removing_replicas
    ]
    if not active:
        print("None of the specified partition reassignments are active.")
        return
    errors = alter_reassignments(client, dict.fromkeys(active))
    if errors:
        plural = "s" * (len(errors) > 1)
        raise CommandError(
            f"Error cancelling partition reassignment{plural} for:\n{_lines(errors)}"
        )
    names = comma(map(partition_name, active))
    print(f"Successfully cancelled partition reassignment{'s' * (len(active) > 1)} for: {names}")


# --- generate ---------------------------------------------------------------------------------


def _generate(client: AdminClient, options: argparse.Namespace) -> None:
    brokers = _broker_ids(options.broker_list)
    topics = read_topics(options.topics_to_move_json_file)
    current = topic_replicas(client, topics)
    check_topics(current, topics)
    directories = current_directories(client, _replicas(current))
    proposed = _propose(client, current, brokers, is_rack_aware=not options.disable_rack_aware)
    print(f"Current partition replica assignment\n{as_json(current, directories)}\n")
    print(f"Proposed partition reassignment configuration\n{as_json(proposed, {})}")


def _broker_ids(text: str) -> list[int]:
    ids = []
    for each in text.split(","):
        try:
            ids.append(int(each))
        except ValueError as error:
            raise CommandError(f'For input string: "{each}"') from error
    twice = duplicates(ids)
    if twice:
        raise CommandError(f"Broker list contains duplicate entries: {twice}")
    return ids


def _propose(
    client: AdminClient,
    current: Mapping[Partition, list[int]],
    brokers: Iterable[int],
    *,
    is_rack_aware: bool,
) -> dict[Partition, list[int]]:
    """Return as many replicas as each topic's first partition has, placed as for a new topic."""
    from pykbroker.environment.real.randomness import Entropy
    from pykbroker.kraft.controller.placement import place_replicas
    from pykbroker.kraft.registration import BrokerRegistration

    nodes = [client.nodes()[each] for each in sorted(brokers) if each in client.nodes()]
    racks = {node.id: node.rack if is_rack_aware else None for node in nodes}
    if None in racks.values() and any(racks.values()):
        raise CommandError(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to "
            "make replica assignment without rack information."
        )
    usable = [
        BrokerRegistration(broker, -1, b"", {}, {}, rack=rack, fenced=False)
        for broker, rack in racks.items()
    ]
    proposed: dict[Partition, list[int]] = {}
    for topic in sorted({topic for topic, _ in current}):
        replicas = [those for (name, _), those in sorted(current.items()) if name == topic]
        try:
            placed = place_replicas(usable, len(replicas), len(replicas[0]), Entropy())
        except KafkaError as error:
            raise CommandError(error.message) from error
        proposed |= {(topic, number): those for number, those in enumerate(placed)}
    return proposed


_RUN: Final = {
    "generate": _generate,
    "execute": _execute,
    "verify": _verify,
    "cancel": _cancel,
    "list": _list,
}
