"""Topics under faults: what was acknowledged is there, on every node, and nothing is there twice.

Three administrators of librdkafka create, grow, alter and delete topics through the proxy until the
faults are over. Then every node must show the topics that the answers promise, each partition with
a leader, and the metadata logs of the nodes must be the same record by record.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from pykbroker.offline import cluster_metadata
from pykbroker.protocol.messages.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from pykbroker.testing.cluster import ClusterNode
from tests.chaos.cluster import ProxiedCluster, tracebacks
from tests.chaos.faults import Nemesis
from tests.chaos.proxy import Proxy
from tests.chaos.topic_history import TopicHistory, differing_logs
from tests.chaos.topic_load import Administrator
from tests.harness.raw_client import RawClient

ADMINISTRATORS = 3
SETTLED_S = 90.0


def run(seconds: float, seed: int, directory: Path, say: Callable[[str], None]) -> list[str]:
    """Bring faults for so long; return what was wrong."""
    dice = random.Random(seed)
    history = TopicHistory()
    with Proxy() as proxy, ProxiedCluster(directory, proxy) as cluster:
        administrators = [
            Administrator(cluster.bootstrap_servers, f"admin-{n}", history, dice.randrange(2**30))
            for n in range(ADMINISTRATORS)
        ]
        nemesis = Nemesis(cluster, proxy, dice, say, history.faults.append)
        try:
            nemesis.run(seconds)
            nemesis.calm()
        finally:
            for administrator in administrators:
                administrator.stop()
        faults = list(history.faults)
        for node in cluster.nodes:
            faults += [f"node {node.id}: {fault}" for fault in _settled(history, node)]
        high_watermark = _high_watermark(cluster.nodes)
        logs = {node.id: cluster_metadata(node.data_dir).to_pylist() for node in cluster.nodes}
        faults += differing_logs(logs, high_watermark)
        faults += history.log_faults(logs[1])
        faults += tracebacks(cluster)
        done, repeated = dict(history.requests), dict(history.repeated)
        say(
            f"{nemesis.count} faults; requests done: {done}, of which without an answer: {repeated}"
        )
    return faults


def _settled(history: TopicHistory, node: ClusterNode) -> list[str]:
    """What is still wrong with the topics of this node after some time."""
    until = time.monotonic() + SETTLED_S
    while (faults := _faults(history, node)) and time.monotonic() < until:
        time.sleep(0.5)
    return faults


def _faults(history: TopicHistory, node: ClusterNode) -> list[str]:
    """What is wrong now; a topic may be deleted there between two questions."""
    try:
        return _shown_faults(history, node)
    except KafkaException as refused:
        return [str(refused)]


def _shown_faults(history: TopicHistory, node: ClusterNode) -> list[str]:
    admin = AdminClient({"bootstrap.servers": node.bootstrap_servers})
    shown = admin.list_topics(timeout=60).topics
    found = {name: topic for name, topic in shown.items() if not name.startswith("__")}
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in found]
    configs: dict[str, str] = {}
    if resources:
        for resource, future in admin.describe_configs(resources).items():
            entries: dict[str, Any] = future.result(60)
            configs[resource.name] = entries["retention.ms"].value
    leaderless = [
        f"{name}-{index} has no leader"
        for name, topic in shown.items()
        for index, partition in topic.partitions.items()
        if partition.leader < 0
    ]
    counts = {name: len(topic.partitions) for name, topic in found.items()}
    return history.verdict(counts, configs) + leaderless


def _high_watermark(nodes: list[ClusterNode]) -> int:
    """Of the metadata log, as its leader says; every node has come so far when this returns."""
    asked = DescribeQuorumRequest(
        topics=[
            TopicData(
                topic_name="__cluster_metadata", partitions=[PartitionData(partition_index=0)]
            )
        ]
    )
    until = time.monotonic() + SETTLED_S
    while time.monotonic() < until:
        with RawClient(nodes[0].bootstrap_servers) as client:
            answer = client.ask("DescribeQuorum", 2, asked)
        if not answer.error_code and not answer.topics[0].partitions[0].error_code:
            partition = answer.topics[0].partitions[0]
            ends = [each.log_end_offset for each in partition.current_voters]
            return int(min(partition.high_watermark, *ends))
        time.sleep(0.2)
    raise AssertionError("the quorum has no leader")
