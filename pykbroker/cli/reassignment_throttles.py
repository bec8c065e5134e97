"""Throttles of reassignments: settings of brokers and topics, set and removed by `reassign`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, BrokerConnection, check
from pykbroker.cli.command import CommandError
from pykbroker.cli.reassignment_plan import Partition, comma
from pykbroker.values import NamedTuple

_RATES: Final = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
_DIRECTORY_RATE: Final = "replica.alter.log.dirs.io.max.bytes.per.second"
_LEADERS: Final = "leader.replication.throttled.replicas"
_FOLLOWERS: Final = "follower.replication.throttled.replicas"

# Resource types and operations of IncrementalAlterConfigs.
_TOPIC, _BROKER = 2, 4
_SET, _DELETE = 0, 1


class Move(NamedTuple):
    """The brokers that send records, and those that receive them."""

    sources: frozenset[int]
    destinations: frozenset[int]


def plan_moves(
    ongoing: Mapping[Partition, Any],
    wanted: Mapping[Partition, Collection[int]],
    current: Mapping[Partition, Collection[int]],
) -> dict[Partition, Move]:
    """Return all moves that are in progress once `wanted` has started."""
    moves = {
        partition: Move(
            frozenset(each.replicas) - frozenset(each.adding_replicas),
            frozenset(each.adding_replicas),
        )
        for partition, each in ongoing.items()
    }
    for partition, replicas in wanted.items():
        at_work = moves.get(partition)
        sources = frozenset(current[partition]) if at_work is None else at_work.sources
        moves[partition] = Move(sources, frozenset(replicas) - sources)
    return moves


def throttle_brokers(client: AdminClient, moves: Mapping[Partition, Move], rate: int) -> None:
    """Limit what the brokers of these moves send and receive for them, in bytes per second."""
    topics: dict[str, tuple[set[str], set[str]]] = {}
    for (topic, number), move in moves.items():
        leaders, followers = topics.setdefault(topic, (set(), set()))
        leaders.update(f"{number}:{broker}" for broker in move.sources)
        followers.update(f"{number}:{broker}" for broker in move.destinations)
    _alter(
        client,
        _TOPIC,
        {
            topic: {_LEADERS: comma(sorted(leaders)), _FOLLOWERS: comma(sorted(followers))}
            for topic, (leaders, followers) in topics.items()
        },
    )
    brokers = sorted({broker for move in moves.values() for each in move for broker in each})
    _alter(client, _BROKER, {str(broker): dict.fromkeys(_RATES, str(rate)) for broker in brokers})
    print(f"The inter-broker throttle limit was set to {rate} B/s")


def throttle_directories(client: AdminClient, brokers: Iterable[int], rate: int) -> None:
    """Limit moves between directories of these brokers, in bytes per second."""
    _alter(
        client, _BROKER, {str(broker): {_DIRECTORY_RATE: str(rate)} for broker in sorted(brokers)}
    )
    print(f"The replica-alter-dir throttle limit was set to {rate} B/s")


def clear_throttles(client: AdminClient, targets: Mapping[Partition, Collection[int]]) -> None:
    """Remove all throttles of brokers, and those of the topics of a plan.

    Raises CommandError afterwards if brokers that are not running keep their throttles.
    """
    brokers = sorted({*client.nodes(), *(each for those in targets.values() for each in those)})
    print(f"Clearing broker-level throttles on broker{_s(brokers)} {comma(brokers)}")
    absent = [each for each in brokers if not client.of_controllers and each not in client.nodes()]
    settings = dict.fromkeys((*_RATES, _DIRECTORY_RATE))
    _alter(client, _BROKER, {str(each): settings for each in brokers if each not in absent})
    topics = sorted({topic for topic, _ in targets})
    print(f"Clearing topic-level throttles on topic{_s(topics)} {comma(topics)}")
    _alter(client, _TOPIC, {topic: dict.fromkeys((_LEADERS, _FOLLOWERS)) for topic in topics})
    if absent:
        raise CommandError(
            f"The throttles of broker{_s(absent)} {comma(absent)} were not cleared: not there"
        )


def _s(values: Collection[object]) -> str:
    return "" if len(values) == 1 else "s"


def _alter(
    client: AdminClient, kind: int, resources: Mapping[str, Mapping[str, str | None]]
) -> None:
    """Set these values, or remove them (None)."""
    from pykbroker.protocol.messages.incremental_alter_configs_request import (
        AlterableConfig,
        AlterConfigsResource,
        IncrementalAlterConfigsRequest,
    )

    requests = [
        IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=kind,
                    resource_name=name,
                    configs=[
                        AlterableConfig(
                            name=key,
                            config_operation=_DELETE if value is None else _SET,
                            value=value,
                        )
                        for key, value in settings.items()
                    ],
                )
            ]
        )
        for name, settings in resources.items()
    ]

    def apply(request: IncrementalAlterConfigsRequest, connection: BrokerConnection) -> None:
        for result in connection.send(request).responses:
            check(result.error_code, result.error_message)

    for request in requests:
        # A broker accepts changes to its own configuration only; a controller those of all.
        if kind == _BROKER and not client.of_controllers:
            apply(request, client.node(int(request.resources[0].resource_name)))
        else:
            client.at_controller(partial(apply, request))
