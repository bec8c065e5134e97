"""The log of a coordinator over a node's partitions, and its errors as clients see them."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.coordinator_log import ReplicaLog, coordinator_error
from pykbroker.errors import ErrorCode
from pykbroker.protocol.record_batch import build_batch
from pykbroker.types import TopicPartition
from tests.replication.node import Node, batch

TP = TopicPartition("t", 0)


class Listener:
    def __init__(self) -> None:
        self.heard: list[tuple[TopicPartition, int]] = []

    def on_high_watermark(self, topic_partition: TopicPartition, high_watermark: int) -> None:
        self.heard.append((topic_partition, high_watermark))

    def on_failed(self, topic_partition: TopicPartition, code: int) -> None:
        raise AssertionError(f"{topic_partition} failed with {code}")


@pytest.fixture
def node() -> Node:
    return Node()


def log_of(node: Node, topic: str = "t") -> ReplicaLog:
    return ReplicaLog(topic, node.manager, lambda: None)


def test_batches_get_their_offsets_and_are_heard_of(node: Node) -> None:
    node.create_topic()
    log = log_of(node)
    listener = Listener()
    log.watch(0, listener)
    appended = [log.append(0, bytearray(batch(b"a", b"b")), 0, node.now_ms) for _ in range(2)]
    assert appended == [(0, 2, 0), (2, 4, 0)]
    assert listener.heard == []
    node.end_turn()
    assert listener.heard == [(TP, 4)]
    log.unwatch(0, listener)
    log.append(0, bytearray(batch()), 0, node.now_ms)
    node.end_turn()
    assert len(listener.heard) == 1


@pytest.mark.parametrize(
    "topic, epoch, code",
    [
        ("t", 1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ("missing", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_refusals(node: Node, topic: str, epoch: int, code: int) -> None:
    node.create_topic()
    refused = log_of(node, topic).append(0, bytearray(batch()), epoch, node.now_ms)
    assert refused == (-1, -1, code)


def test_too_few_replicas(node: Node) -> None:
    node.create_topic(replicas=(1, 2), isr=(1,), min_insync_replicas="2")
    refused = log_of(node).append(0, bytearray(batch()), 0, node.now_ms)
    assert refused == (-1, -1, ErrorCode.NOT_ENOUGH_REPLICAS)


def test_plain_and_other_batches_follow_each_other(node: Node) -> None:
    node.create_topic(cleanup_policy="compact")
    log = log_of(node)
    keyed = build_batch([(b"key", b"v", node.now_ms, [])] * 2)
    compressed = build_batch([(b"key", b"v", node.now_ms, [])], codec=1)
    appended = [
        log.append(0, bytearray(each), 0, node.now_ms) for each in (keyed, compressed, keyed)
    ]
    assert appended == [(0, 2, 0), (2, 3, 0), (3, 5, 0)]
    node.end_turn()
    assert node.manager.partition(TP).high_watermark == 5
    assert log.bounds(0) == (0, 5, 5, 5)


@pytest.mark.parametrize(
    ("of_the_log", "told"),
    [
        ("NOT_ENOUGH_REPLICAS", "COORDINATOR_NOT_AVAILABLE"),
        ("REQUEST_TIMED_OUT", "COORDINATOR_NOT_AVAILABLE"),
        ("UNKNOWN_TOPIC_OR_PARTITION", "COORDINATOR_NOT_AVAILABLE"),
        ("NOT_LEADER_OR_FOLLOWER", "NOT_COORDINATOR"),
        ("KAFKA_STORAGE_ERROR", "NOT_COORDINATOR"),
        ("MESSAGE_TOO_LARGE", "UNKNOWN_SERVER_ERROR"),
        ("RECORD_LIST_TOO_LARGE", "UNKNOWN_SERVER_ERROR"),
        ("NOT_COORDINATOR", "NOT_COORDINATOR"),
        ("COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_LOAD_IN_PROGRESS"),
    ],
)
def test_mapping(of_the_log: str, told: str) -> None:
    assert coordinator_error(ErrorCode[of_the_log]) == ErrorCode[told]
