"""Reassignments in progress, and the status of those in a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, BrokerConnection, by_topic, check
from pykbroker.cli.command import CommandError
from pykbroker.cli.reassignment_plan import Partition, comma, partition_name
from pykbroker.errors import ErrorCode, error_message

LIST_REASSIGNMENTS: Final = 46
"""The key of ListPartitionReassignments."""

_TIMEOUT_MS: Final = 60_000


def list_reassignments(
    client: AdminClient, partitions: Collection[Partition] | None = None
) -> dict[Partition, Any]:
    """Return the OngoingPartitionReassignment of each partition that has one, sorted."""
    from pykbroker.protocol.messages.list_partition_reassignments_request import (
        ListPartitionReassignmentsRequest,
        ListPartitionReassignmentsTopics,
    )

    topics = None
    if partitions is not None:
        topics = [
            ListPartitionReassignmentsTopics(name=topic, partition_indexes=numbers)
            for topic, numbers in by_topic(partitions).items()
        ]
    request = ListPartitionReassignmentsRequest(topics=topics, timeout_ms=_TIMEOUT_MS)

    def ask(connection: BrokerConnection) -> dict[Partition, Any]:
        response = connection.send(request)
        check(response.error_code, response.error_message)
        found = {
            (topic.name, each.partition_index): each
            for topic in response.topics
            for each in topic.partitions
        }
        return dict(sorted(found.items()))

    return client.at_controller(ask)


def alter_reassignments(
    client: AdminClient,
    targets: Mapping[Partition, list[int] | None],
    *,
    allow_replication_factor_change: bool = True,
) -> dict[Partition, str]:
    """Request these replicas, or cancel (None); return the errors by partition, sorted."""
    from pykbroker.protocol.messages.alter_partition_reassignments_request import (
        AlterPartitionReassignmentsRequest,
        ReassignablePartition,
        ReassignableTopic,
    )

    request = AlterPartitionReassignmentsRequest(
        timeout_ms=_TIMEOUT_MS,
        allow_replication_factor_change=allow_replication_factor_change,
        topics=[
            ReassignableTopic(
                name=topic,
                partitions=[
                    ReassignablePartition(partition_index=n, replicas=targets[topic, n])
                    for n in numbers
                ],
            )
            for topic, numbers in by_topic(targets).items()
        ],
    )

    def ask(connection: BrokerConnection) -> dict[Partition, str]:
        response = connection.send(request)
        check(response.error_code, response.error_message)
        errors = {
            (topic.name, each.partition_index): each.error_message
            or str(error_message(each.error_code))
            for topic in response.responses
            for each in topic.partitions
            if each.error_code != ErrorCode.NONE
        }
        return dict(sorted(errors.items()))

    return client.at_controller(ask)


def topic_replicas(client: AdminClient, topics: Iterable[str]) -> dict[Partition, list[int]]:
    """Return the replicas of all partitions of these topics, without those that do not exist."""
    wanted = sorted(set(topics))
    if not wanted:
        return {}
    found: dict[Partition, list[int]] = {}
    for topic in client.metadata(wanted).topics:
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            continue
        check(topic.error_code)
        for each in topic.partitions:
            found[topic.name, each.partition_index] = each.replica_nodes
    return found


def existing_replicas(
    client: AdminClient, partitions: Collection[Partition]
) -> dict[Partition, list[int]]:
    """Return the replicas of these partitions; raises CommandError if one does not exist."""
    found = topic_replicas(client, (topic for topic, _ in partitions))
    check_topics(found, (topic for topic, _ in partitions))
    missing = [each for each in sorted(partitions) if each not in found]
    if missing:
        raise CommandError(f"Unable to find partition: {', '.join(map(partition_name, missing))}")
    return {each: found[each] for each in partitions}


def check_topics(found: Collection[Partition], topics: Iterable[str]) -> None:
    """Raise CommandError if none of the partitions found belongs to a topic."""
    known = {topic for topic, _ in found}
    for topic in topics:
        if topic not in known:
            raise CommandError(f"Topic {topic} not found.")


def describe_ongoing(ongoing: Mapping[Partition, Any]) -> list[str]:
    """Return what --list prints."""
    if not ongoing:
        return ["No partition reassignments found."]
    lines = ["Current partition reassignments:"]
    for partition, each in ongoing.items():
        line = f"{partition_name(partition)}: replicas: {comma(each.replicas)}."
        if each.adding_replicas:
            line += f" adding: {comma(each.adding_replicas)}."
        if each.removing_replicas:
            line += f" removing: {comma(each.removing_replicas)}."
        lines.append(line)
    return lines


def describe_targets(
    targets: Iterable[tuple[Partition, list[int]]],
    ongoing: Collection[Partition],
    current: Mapping[Partition, list[int]],
) -> list[str]:
    """Return what --verify prints about each partition; one that does not exist has no replicas."""
    lines = ["Status of partition reassignment:"]
    for partition, replicas in sorted(dict(targets).items()):
        name = partition_name(partition)
        if partition in ongoing:
            lines.append(f"Reassignment of partition {name} is still in progress.")
        elif current.get(partition, []) == replicas:
            lines.append(f"Reassignment of partition {name} is completed.")
        else:
            lines.append(
                f"There is no active reassignment of partition {name}, but replica set is "
                f"{comma(current.get(partition, []))} rather than {comma(replicas)}."
            )
    return lines
