"""DescribeTopicPartitions: pages and cursors."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.describe_topic_partitions import HANDLER
from pykbroker.decision import Decision, MetadataRecord
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from tests.broker.handlers.admin_broker import AdminBroker


@pytest.fixture
def broker() -> AdminBroker:
    broker = AdminBroker()
    broker.create("a", 3)
    broker.create("b", 4)
    return broker


def ask(
    broker: AdminBroker, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None
) -> Any:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    return broker.call(HANDLER, request, 0)


def pages(answer: Any) -> list[tuple[str, list[int]]]:
    return [
        (topic.name, [partition.partition_index for partition in topic.partitions])
        for topic in answer.topics
    ]


def test_all_topics(broker: AdminBroker) -> None:
    answer = ask(broker)
    assert pages(answer) == [("a", [0, 1, 2]), ("b", [0, 1, 2, 3])]
    assert answer.next_cursor is None
    topic = answer.topics[0]
    assert (topic.error_code, topic.topic_authorized_operations) == (0, 3576)
    partition = topic.partitions[0]
    assert (partition.leader_id, partition.leader_epoch) == (1, 0)
    assert (partition.replica_nodes, partition.isr_nodes) == ([1], [1])
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([], [])


def test_eligible_leaders(broker: AdminBroker) -> None:
    change = PartitionChangeRecord(
        topic_id=broker.image.topics_by_name["a"].id,
        partition_id=1,
        isr=[],
        leader=-1,
        eligible_leader_replicas=[1, 2],
        last_known_elr=[2],
    )
    broker.world.controller.run(lambda controller, now_ms: Decision([MetadataRecord(change, 2)]))
    partition = ask(broker, "a").topics[0].partitions[1]
    assert (partition.leader_id, partition.isr_nodes) == (-1, [])
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([1, 2], [2])


def test_pages_follow_the_cursor_to_the_end(broker: AdminBroker) -> None:
    seen: list[tuple[str, list[int]]] = []
    cursor = None
    while True:
        answer = ask(broker, limit=2, cursor=cursor)
        seen += pages(answer)
        if answer.next_cursor is None:
            break
        cursor = (answer.next_cursor.topic_name, answer.next_cursor.partition_index)
    assert seen == [("a", [0, 1]), ("a", [2]), ("b", [0]), ("b", [1, 2]), ("b", [3])]


def test_a_full_page_points_at_the_next_topic(broker: AdminBroker) -> None:
    answer = ask(broker, limit=3)
    assert pages(answer) == [("a", [0, 1, 2])]
    assert (answer.next_cursor.topic_name, answer.next_cursor.partition_index) == ("b", 0)


def test_names_that_are_not_there(broker: AdminBroker) -> None:
    answer = ask(broker, "b", "x", "a b")
    assert {topic.name: ErrorCode(topic.error_code).name for topic in answer.topics} == {
        "a b": "INVALID_TOPIC_EXCEPTION",
        "b": "NONE",
        "x": "UNKNOWN_TOPIC_OR_PARTITION",
    }


@pytest.mark.parametrize("cursor", [("c", 0), ("b", -1)])
def test_cursors_that_make_no_sense(broker: AdminBroker, cursor: tuple[str, int]) -> None:
    (topic,) = ask(broker, "b", cursor=cursor).topics
    assert topic.error_code == ErrorCode.INVALID_REQUEST


def test_the_brokers_limit_holds() -> None:
    broker = AdminBroker(max_request_partition_size_limit="2")
    broker.create("a", 3)
    assert pages(ask(broker)) == [("a", [0, 1])]
