"""DescribeProducers: what a partition remembers of its idempotent producers."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.describe_producers import HANDLER
from pykbroker.broker.transactions.transaction_markers import write_markers
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from pykbroker.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
)
from pykbroker.types import TopicPartition
from tests.broker.handlers.data_plane import Broker, Call
from tests.replication.node import NOW_MS


def describe(broker: Broker, topic: str, *partitions: int) -> list[Any]:
    message = DescribeProducersRequest(
        topics=[TopicRequest(name=topic, partition_indexes=list(partitions))]
    )
    (answer,) = Call(broker, HANDLER, message, 0).answer.topics
    assert answer.name == topic
    return list(answer.partitions)


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    partition = broker.node.create_topic(partitions=2)
    broker.node.append(partition, b"a", b"b", producer_id=9, producer_epoch=1, base_sequence=0)
    broker.node.append(partition, b"c", producer_id=9, producer_epoch=1, base_sequence=2)
    return broker


def test_producers(broker: Broker) -> None:
    with_one, without = describe(broker, "t", 0, 1)
    (producer,) = with_one.active_producers
    assert (producer.producer_id, producer.producer_epoch, producer.last_sequence) == (9, 1, 2)
    assert (producer.last_timestamp, producer.current_txn_start_offset) == (NOW_MS, -1)
    assert (without.error_code, without.active_producers) == (0, [])


def test_an_open_transaction_and_its_end(broker: Broker) -> None:
    partition = broker.node.manager.partition(TopicPartition("t", 1))
    fields: dict[str, Any] = {"producer_id": 5, "producer_epoch": 3}
    broker.node.append(partition, b"before")
    broker.node.append(partition, b"x", base_sequence=0, is_transactional=True, **fields)
    ((open_one,),) = [answer.active_producers for answer in describe(broker, "t", 1)]
    assert (open_one.current_txn_start_offset, open_one.coordinator_epoch) == (1, -1)
    marker = WritableTxnMarker(
        coordinator_epoch=7,
        transaction_result=True,
        topics=[WritableTxnMarkerTopic(name="t", partition_indexes=[1])],
        **fields,
    )
    write_markers(broker, [marker])  # type: ignore[arg-type]
    broker.node.end_turn()
    ((ended,),) = [answer.active_producers for answer in describe(broker, "t", 1)]
    assert (ended.current_txn_start_offset, ended.coordinator_epoch) == (-1, 7)
    assert (ended.producer_epoch, ended.last_sequence) == (3, 0)


@pytest.mark.parametrize(
    "topic, partition, code",
    [
        ("t", 7, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("missing", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("not a topic", 0, ErrorCode.INVALID_TOPIC_EXCEPTION),
    ],
)
def test_refusals(broker: Broker, topic: str, partition: int, code: int) -> None:
    (answer,) = describe(broker, topic, partition)
    assert (answer.error_code, answer.active_producers) == (code, [])


def test_error_reply(broker: Broker) -> None:
    message = DescribeProducersRequest(topics=[TopicRequest(name="t", partition_indexes=[3])])
    reply: Any = HANDLER.error_reply(Call(broker, HANDLER, message, 0).request, 42, "why")
    (answer,) = reply.topics[0].partitions
    assert (answer.partition_index, answer.error_code, answer.error_message) == (3, 42, "why")


def test_a_partition_is_described_once(broker: Broker) -> None:
    message = DescribeProducersRequest(
        topics=[TopicRequest(name="t", partition_indexes=[1, 0, 1])] * 1000
    )
    (topic,) = Call(broker, HANDLER, message, 0).answer.topics
    assert [each.partition_index for each in topic.partitions] == [1, 0]
