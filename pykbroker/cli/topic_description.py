"""The output of `pykbroker topics --describe`: topics, their configuration, their partitions."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, ServerError, check
from pykbroker.cli.command import print_json
from pykbroker.cli.reassignment_plan import Partition
from pykbroker.cli.reassignments import LIST_REASSIGNMENTS, list_reassignments
from pykbroker.coordinator.partitioning import java_hash_order
from pykbroker.errors import ErrorCode
from pykbroker.protocol.primitives import uuid_to_str
from pykbroker.values import NamedTuple

_TOPIC: Final = 2  # resource type
_DEFAULT_CONFIG: Final = 5


class Topic(NamedTuple):
    """A topic with everything printed about it; partitions sorted, reassignments by partition."""

    described: Any
    overrides: Mapping[str, str]
    min_isr: int
    partitions: Sequence[Any]
    reassignments: Mapping[int, Any]

    def replication_factor(self, partition: Any) -> int:
        """Return the replica count; of a partition being reassigned, that without the replicas
        that are being added, as Apache's tool does.
        """
        ongoing = self.reassignments.get(partition.partition_index)
        if ongoing is not None:
            changing = {*ongoing.adding_replicas, *ongoing.removing_replicas}
            if changing.intersection(partition.replica_nodes):
                return len(ongoing.replicas) - len(ongoing.adding_replicas)
        return len(partition.replica_nodes)


def describe(client: AdminClient, options: argparse.Namespace, topics: Sequence[str]) -> None:
    """Print them, as the flags of `topics --describe` specify."""
    descriptions = describe_topics(client, topics, options.partition_size_limit_per_response)
    configs = describe_configs(client, [each.name for each in descriptions])
    live = {each.broker_id for each in client.describe_cluster().brokers}
    ongoing = _reassignments(client, descriptions)
    shown = []
    for each in descriptions:
        topic = _topic(each, configs[each.name], ongoing)
        if not options.topics_with_overrides:
            topic = topic._replace(
                partitions=[at for at in topic.partitions if _wanted(options, topic, at, live)]
            )
        if options.json:
            shown.append(_as_json(topic, live))
        else:
            _print_topic(options, topic, live)
    if options.json:
        print_json(shown)


def _topic(described: Any, configs: Sequence[Any], ongoing: Mapping[Partition, Any]) -> Topic:
    values = {each.name: each.value for each in configs}
    changed = {each.name for each in configs if each.config_source != _DEFAULT_CONFIG}
    return Topic(
        described,
        # In the order of the HashMap from which Apache's tool prints them.
        {name: values[name] for name in java_hash_order(values) if name in changed},
        int(values.get("min.insync.replicas", "1")),
        sorted(described.partitions, key=lambda each: each.partition_index),
        {number: each for (name, number), each in ongoing.items() if name == described.name},
    )


def _reassignments(client: AdminClient, descriptions: Sequence[Any]) -> Mapping[Partition, Any]:
    """Return those in progress; none if the broker does not report any."""
    partitions = [
        (topic.name, each.partition_index) for topic in descriptions for each in topic.partitions
    ]
    if not partitions or not client.any_broker.supports(LIST_REASSIGNMENTS):
        return {}
    try:
        return list_reassignments(client, partitions)
    except ServerError as error:
        if error.code != ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            raise
        return {}


def describe_topics(client: AdminClient, names: Sequence[str], limit: int) -> list[Any]:
    """Return topics with their partitions, by as many requests as needed."""
    from pykbroker.protocol.messages.describe_topic_partitions_request import (
        Cursor,
        DescribeTopicPartitionsRequest,
        TopicRequest,
    )

    result: dict[str, Any] = {}
    cursor = None
    while names:
        request = DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name=name) for name in names],
            response_partition_limit=limit,
            cursor=cursor,
        )
        response = client.any_broker.send(request)
        for topic in response.topics:
            check(topic.error_code)
            if topic.name in result:
                result[topic.name].partitions.extend(topic.partitions)
            else:
                result[topic.name] = topic
        following = response.next_cursor
        if following is None:
            break
        names = [name for name in names if name >= following.topic_name]
        cursor = Cursor(topic_name=following.topic_name, partition_index=following.partition_index)
    return list(result.values())


def describe_configs(client: AdminClient, topics: Sequence[str]) -> Mapping[str, list[Any]]:
    from pykbroker.protocol.messages.describe_configs_request import (
        DescribeConfigsRequest,
        DescribeConfigsResource,
    )

    if not topics:
        return {}
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(
                resource_type=_TOPIC, resource_name=topic, configuration_keys=None
            )
            for topic in topics
        ]
    )
    results = client.any_broker.send(request).results
    for result in results:
        check(result.error_code, result.error_message)
    return {result.resource_name: result.configs for result in results}


def _wanted(options: argparse.Namespace, topic: Topic, partition: Any, live: set[int]) -> bool:
    """Return whether the flags select this partition; without a flag, all are selected."""
    in_sync = len(partition.isr_nodes)
    has_leader = partition.leader_id in live
    reports = (
        (options.under_replicated_partitions, topic.replication_factor(partition) > in_sync),
        (options.unavailable_partitions, not has_leader),
        (options.under_min_isr_partitions, not has_leader or in_sync < topic.min_isr),
        (options.at_min_isr_partitions, in_sync == topic.min_isr),
    )
    asked = [holds for flag, holds in reports if flag]
    return any(asked) if asked else True


def _reports(options: argparse.Namespace) -> bool:
    return bool(
        options.under_replicated_partitions
        or options.unavailable_partitions
        or options.under_min_isr_partitions
        or options.at_min_isr_partitions
    )


def _print_topic(options: argparse.Namespace, topic: Topic, live: set[int]) -> None:
    described, overrides = topic.described, topic.overrides
    if not _reports(options) and (overrides or not options.topics_with_overrides):
        configs = ",".join(f"{name}={value}" for name, value in overrides.items())
        print(
            f"Topic: {described.name}\tTopicId: {uuid_to_str(described.topic_id)}"
            f"\tPartitionCount: {len(described.partitions)}"
            f"\tReplicationFactor: {topic.replication_factor(topic.partitions[0])}"
            f"\tConfigs: {configs}"
        )
    if options.topics_with_overrides:
        return
    for each in topic.partitions:
        leader = each.leader_id if each.leader_id in live else "none"
        print(
            f"\tTopic: {described.name}\tPartition: {each.partition_index}\tLeader: {leader}"
            f"\tReplicas: {_ids(each.replica_nodes)}\tIsr: {_ids(each.isr_nodes)}"
            f"{_moves(topic.reassignments.get(each.partition_index))}"
            f"\tElr: {_ids(each.eligible_leader_replicas)}"
            f"\tLastKnownElr: {_ids(each.last_known_elr)}"
        )


def _moves(ongoing: Any) -> str:
    if ongoing is None:
        return ""
    return (
        f"\tAdding Replicas: {_ids(ongoing.adding_replicas)}"
        f"\tRemoving Replicas: {_ids(ongoing.removing_replicas)}"
    )


def _ids(nodes: Sequence[int] | None) -> str:
    return "N/A" if nodes is None else ",".join(map(str, nodes))


def _as_json(topic: Topic, live: set[int]) -> object:
    return {
        "topic": topic.described.name,
        "topicId": uuid_to_str(topic.described.topic_id),
        "internal": topic.described.is_internal,
        "configs": dict(topic.overrides),
        "partitions": [
            _partition_as_json(each, topic.reassignments.get(each.partition_index), live)
            for each in topic.partitions
        ],
    }


def _partition_as_json(partition: Any, ongoing: Any, live: set[int]) -> object:
    return {
        "partition": partition.partition_index,
        "leader": partition.leader_id if partition.leader_id in live else None,
        "replicas": partition.replica_nodes,
        "isr": partition.isr_nodes,
        "elr": partition.eligible_leader_replicas,
        "lastKnownElr": partition.last_known_elr,
        "adding": [] if ongoing is None else ongoing.adding_replicas,
        "removing": [] if ongoing is None else ongoing.removing_replicas,
    }
