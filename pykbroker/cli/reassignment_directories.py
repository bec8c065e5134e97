"""Moves of replicas between the log directories of their brokers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Final, NoReturn

from pykbroker.cli.admin import AdminClient, by_topic, check
from pykbroker.cli.command import CommandError
from pykbroker.cli.reassignment_plan import Replica, by_broker, comma, replica_name
from pykbroker.errors import ErrorCode, error_message
from pykbroker.values import NamedTuple

_PAUSE_S: Final = 0.1


class Place(NamedTuple):
    """The directory of a replica, and the one that it is being moved to."""

    current: str | None = None
    future: str | None = None


def find_places(client: AdminClient, replicas: Iterable[Replica]) -> dict[Replica, Place]:
    """Return the places of replicas on live brokers; those of other brokers are left out."""
    from pykbroker.protocol.messages.describe_log_dirs_request import (
        DescribableLogDirTopic,
        DescribeLogDirsRequest,
    )

    places: dict[Replica, Place] = {}
    for broker, partitions in _by_broker(replicas).items():
        if broker not in client.nodes():
            continue
        topics = [
            DescribableLogDirTopic(topic=topic, partitions=numbers)
            for topic, numbers in by_topic(partitions).items()
        ]
        response = client.node(broker).send(DescribeLogDirsRequest(topics=topics))
        check(response.error_code)
        places |= {(*partition, broker): Place() for partition in partitions}
        for directory in response.results:
            for topic in directory.topics:
                for each in topic.partitions:
                    replica = topic.name, each.partition_index, broker
                    field = "future" if each.is_future_key else "current"
                    place = places.get(replica, Place())
                    places[replica] = place._replace(**{field: directory.log_dir})
    return places


def _by_broker(replicas: Iterable[Replica]) -> dict[int, list[tuple[str, int]]]:
    result: dict[int, list[tuple[str, int]]] = {}
    for topic, number, broker in by_broker(replicas):
        result.setdefault(broker, []).append((topic, number))
    return result


def current_directories(client: AdminClient, replicas: Iterable[Replica]) -> dict[Replica, str]:
    """Return the directories of these replicas, as far as they are known."""
    places = find_places(client, replicas)
    return {each: place.current for each, place in places.items() if place.current is not None}


def is_moving(place: Place) -> bool:
    return place.current is not None and place.future is not None


def describe_moves(targets: Mapping[Replica, str], places: Mapping[Replica, Place]) -> list[str]:
    """Return what --verify prints about each move to a directory."""
    return [_describe(each, targets[each], places.get(each)) for each in by_broker(targets)]


def _describe(replica: Replica, target: str, place: Place | None) -> str:
    topic, number, broker = replica
    subject = f"Partition {topic}-{number}"
    if place is None:
        return f"{subject} cannot be found in any live log directory on broker {broker}."
    if place.current is None:
        return (
            f"{subject} is not found in any live log dir on broker {broker}. There is likely an "
            "offline log directory on the broker."
        )
    if place.future is None:
        if place.current == target:
            return f"Reassignment of replica {replica_name(replica)} completed successfully."
        return (
            f"{subject} on broker {broker} is not being moved from log dir {place.current} to "
            f"{target}."
        )
    if place.future == target:
        return f"Reassignment of replica {replica_name(replica)} is still in progress."
    return (
        f"{subject} on broker {broker} is being moved to log dir {place.future} instead of "
        f"{target}."
    )


def start_moves(client: AdminClient, targets: Mapping[Replica, str], timeout_ms: int) -> None:
    """Let brokers move replicas; retry for those that do not exist yet. Raises CommandError if some
    do not after `timeout_ms`.
    """
    pending = dict(targets)
    deadline = time.monotonic() + timeout_ms / 1000
    while True:
        for replica in by_broker(_start(client, pending)):
            topic, number, broker = replica
            print(
                f"Successfully started moving log directory to {pending.pop(replica)} for replica "
                f"{topic}-{number} with broker {broker} "
            )
        if not pending:
            return
        if time.monotonic() >= deadline:
            raise CommandError(
                f"Timed out before log directory move{'' if len(pending) == 1 else 's'} could be "
                f"started for: {comma(map(replica_name, by_broker(pending)))}"
            )
        time.sleep(_PAUSE_S)


def _start(client: AdminClient, targets: Mapping[Replica, str]) -> list[Replica]:
    """Return those that have started; a replica that a broker does not have yet is not an error."""
    from pykbroker.protocol.messages.alter_replica_log_dirs_request import (
        AlterReplicaLogDir,
        AlterReplicaLogDirsRequest,
        AlterReplicaLogDirTopic,
    )

    started = []
    for broker, partitions in _by_broker(targets).items():
        by_path: dict[str, list[tuple[str, int]]] = {}
        for partition in partitions:
            by_path.setdefault(targets[*partition, broker], []).append(partition)
        request = AlterReplicaLogDirsRequest(
            dirs=[
                AlterReplicaLogDir(
                    path=path,
                    topics=[
                        AlterReplicaLogDirTopic(name=topic, partitions=numbers)
                        for topic, numbers in by_topic(those).items()
                    ],
                )
                for path, those in by_path.items()
            ]
        )
        for topic in client.node(broker).send(request).results:
            for each in topic.partitions:
                replica = topic.topic_name, each.partition_index, broker
                if each.error_code == ErrorCode.NONE:
                    started.append(replica)
                elif each.error_code != ErrorCode.REPLICA_NOT_AVAILABLE:
                    _fail(replica, each.error_code)
    return started


def _fail(replica: Replica, code: int) -> NoReturn:
    raise CommandError(f"Failed to alter dir for {replica_name(replica)}: {error_message(code)}")
