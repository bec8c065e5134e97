"""Produce requests that name a partition more than once: the last data, one answer."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.broker.handlers.data_plane import Broker
from tests.broker.handlers.test_produce import VERSIONS, produce
from tests.replication.node import batch, topic_id_of

Entry = tuple[int, Any]


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    broker.node.create_topic(partitions=2)
    return broker


def request(*topics: list[Entry], acks: int = -1) -> ProduceRequest:
    """A request that names the topic "t" once for each list of (partition, records)."""
    return ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        topic_data=[
            TopicProduceData(
                name="t",
                topic_id=topic_id_of(7),
                partition_data=[
                    PartitionProduceData(index=index, records=records) for index, records in entries
                ],
            )
            for entries in topics
        ],
    )


def answers(broker: Broker, message: ProduceRequest, version: int) -> list[tuple[int, int, int]]:
    call = produce(broker, message, version)
    broker.node.end_turn()
    (topic,) = call.answer.responses
    return [(each.index, each.error_code, each.base_offset) for each in topic.partition_responses]


def end_offset(broker: Broker, index: int) -> int:
    partition = broker.node.manager.find("t", index)
    assert partition is not None
    return partition.log.log_end_offset


@pytest.mark.parametrize("version", VERSIONS)
def test_twice_in_one_topic(broker: Broker, version: int) -> None:
    entries: list[Entry] = [(0, batch(b"a")), (1, batch(b"b")), (0, batch(b"c", b"d"))]
    assert answers(broker, request(entries), version) == [(0, 0, 0), (1, 0, 0)]
    assert (end_offset(broker, 0), end_offset(broker, 1)) == (2, 1)
    assert broker.counters.messages_in == 3


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_that_is_named_twice(broker: Broker, version: int) -> None:
    message = request([(0, batch(b"a")), (1, batch(b"b"))], [(0, batch(b"c", b"d"))])
    assert answers(broker, message, version) == [(0, 0, 0), (1, 0, 0)]
    assert (end_offset(broker, 0), end_offset(broker, 1)) == (2, 1)


def test_the_last_entry_decides(broker: Broker) -> None:
    refused = [(0, ErrorCode.INVALID_RECORD, -1)]
    assert answers(broker, request([(0, batch(b"a")), (0, None)]), 13) == refused
    assert end_offset(broker, 0) == 0
    assert answers(broker, request([(0, None), (0, batch(b"a"))]), 13) == [(0, 0, 0)]
    assert end_offset(broker, 0) == 1


def test_refused_acks_are_answered_once(broker: Broker) -> None:
    message = request([(0, batch(b"a")), (0, batch(b"b"))], acks=5)
    assert answers(broker, message, 13) == [(0, ErrorCode.INVALID_REQUIRED_ACKS, -1)]
    assert end_offset(broker, 0) == 0
