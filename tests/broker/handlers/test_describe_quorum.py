"""DescribeQuorum: the quorum of one as its leader sees it."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.describe_quorum import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from tests.broker.handlers.admin_broker import AdminBroker


def ask(
    broker: AdminBroker,
    version: int,
    topic: str = "__cluster_metadata",
    at: int = 0,
    on_controller: bool = False,
) -> Any:
    request = DescribeQuorumRequest(
        topics=[TopicData(topic_name=topic, partitions=[PartitionData(partition_index=at)])]
    )
    return broker.call(HANDLER, request, version, on_controller=on_controller)


@pytest.mark.parametrize("version", range(3))
def test_every_version(version: int) -> None:
    broker = AdminBroker()
    answer = ask(broker, version)
    assert (answer.error_code, answer.error_message) == (0, "")
    (partition,) = answer.topics[0].partitions
    assert (partition.leader_id, partition.leader_epoch) == (1, 1)
    assert partition.high_watermark == broker.node.raft.log.log.log_end_offset
    (voter,) = partition.current_voters
    assert (voter.replica_id, voter.log_end_offset) == (1, partition.high_watermark)
    assert partition.observers == []
    if version >= 1:
        assert voter.last_caught_up_timestamp == broker.now_ms()
    if version >= 2:
        assert voter.replica_directory_id == broker.quorum.raft.local.key.directory_id
        (node,) = answer.nodes
        assert [(at.name, at.port) for at in node.listeners] == [("CONTROLLER", 9093)]


@pytest.mark.parametrize(("topic", "number"), [("t", 0), ("__cluster_metadata", 1)])
def test_another_partition(topic: str, number: int) -> None:
    (partition,) = ask(AdminBroker(), 2, topic, number).topics[0].partitions
    assert partition.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_node_that_does_not_lead() -> None:
    broker = AdminBroker()
    broker.node.close()
    (partition,) = ask(broker, 2, on_controller=True).topics[0].partitions
    assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
