"""What `pykbroker topics --describe` shows: topics, their configuration, their partitions."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, check
from pykbroker.cli.command import print_json
from pykbroker.protocol.primitives import uuid_to_str

_TOPIC: Final = 2  # resource type
_DEFAULT_CONFIG: Final = 5


def describe(client: AdminClient, options: argparse.Namespace, topics: Sequence[str]) -> None:
    """Print them, as the flags of `topics --describe` ask for it."""
    descriptions = describe_topics(client, topics, options.partition_size_limit_per_response)
    configs = describe_configs(client, [each.name for each in descriptions])
    live = set(client.nodes())
    shown = []
    for topic in descriptions:
        overrides = {
            each.name: each.value
            for each in configs[topic.name]
            if each.config_source != _DEFAULT_CONFIG
        }
        partitions = sorted(topic.partitions, key=lambda each: each.partition_index)
        min_isr = next(
            (int(each.value) for each in configs[topic.name] if each.name == "min.insync.replicas"),
            1,
        )
        if not options.topics_with_overrides:
            partitions = [each for each in partitions if _wanted(options, each, live, min_isr)]
        if options.json:
            shown.append(_as_json(topic, overrides, partitions))
        else:
            _print_topic(options, topic, overrides, partitions)
    if options.json:
        print_json(shown)


def describe_topics(client: AdminClient, names: Sequence[str], limit: int) -> list[Any]:
    """Topics with their partitions, by DescribeTopicPartitions with as many turns as it takes."""
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


def _wanted(options: argparse.Namespace, partition: Any, live: set[int], min_isr: int) -> bool:
    """Whether the flags ask for this partition; without a flag, all are asked for."""
    replicas, isr = len(partition.replica_nodes), len(partition.isr_nodes)
    has_leader = partition.leader_id >= 0
    reports = (
        (options.under_replicated_partitions, replicas > isr),
        (options.unavailable_partitions, not has_leader or partition.leader_id not in live),
        (options.under_min_isr_partitions, not has_leader or isr < min_isr),
        (options.at_min_isr_partitions, isr == min_isr),
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


def _print_topic(
    options: argparse.Namespace, topic: Any, overrides: Mapping[str, str], partitions: Sequence[Any]
) -> None:
    if not _reports(options) and (overrides or not options.topics_with_overrides):
        configs = ",".join(f"{name}={value}" for name, value in overrides.items())
        print(
            f"Topic: {topic.name}\tTopicId: {uuid_to_str(topic.topic_id)}"
            f"\tPartitionCount: {len(topic.partitions)}"
            f"\tReplicationFactor: {len(topic.partitions[0].replica_nodes)}\tConfigs: {configs}"
        )
    if options.topics_with_overrides:
        return
    for each in partitions:
        leader = each.leader_id if each.leader_id >= 0 else "none"
        print(
            f"\tTopic: {topic.name}\tPartition: {each.partition_index}\tLeader: {leader}"
            f"\tReplicas: {_ids(each.replica_nodes)}\tIsr: {_ids(each.isr_nodes)}"
            f"\tElr: {_ids(each.eligible_leader_replicas)}"
            f"\tLastKnownElr: {_ids(each.last_known_elr)}"
        )


def _ids(nodes: Sequence[int] | None) -> str:
    return "N/A" if nodes is None else ",".join(map(str, nodes))


def _as_json(topic: Any, overrides: Mapping[str, str], partitions: Sequence[Any]) -> object:
    return {
        "topic": topic.name,
        "topicId": uuid_to_str(topic.topic_id),
        "internal": topic.is_internal,
        "configs": dict(overrides),
        "partitions": [
            {
                "partition": each.partition_index,
                "leader": each.leader_id if each.leader_id >= 0 else None,
                "replicas": list(each.replica_nodes),
                "isr": list(each.isr_nodes),
                "elr": each.eligible_leader_replicas,
                "lastKnownElr": each.last_known_elr,
            }
            for each in partitions
        ],
    }
