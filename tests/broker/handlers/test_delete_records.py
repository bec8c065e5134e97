"""DeleteRecords: the log start moves, or why it does not."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.delete_records import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.broker.handlers.data_plane import Broker, Call
from tests.replication.node import NOW_MS


def request(*asked: tuple[int, int], topic: str = "t", timeout_ms: int = 500) -> Any:
    return DeleteRecordsRequest(
        timeout_ms=timeout_ms,
        topics=[
            DeleteRecordsTopic(
                name=topic,
                partitions=[
                    DeleteRecordsPartition(partition_index=p, offset=offset) for p, offset in asked
                ],
            )
        ],
    )


def answers(call: Call) -> list[tuple[int, int, int]]:
    return [
        (p.partition_index, p.error_code, p.low_watermark)
        for t in call.answer.topics
        for p in t.partitions
    ]


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    broker.node.append(broker.node.create_topic(), b"a", b"b", b"c", b"d")
    return broker


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("offset, low_watermark", [(0, 0), (3, 3), (4, 4), (-1, 4)])
def test_up_to_the_high_watermark(
    broker: Broker, version: int, offset: int, low_watermark: int
) -> None:
    call = Call(broker, HANDLER, request((0, offset)), version)
    assert answers(call) == [(0, 0, low_watermark)]
    partition = broker.node.manager.find("t", 0)
    assert partition is not None
    assert partition.log.log_start_offset == low_watermark


@pytest.mark.parametrize(
    "partition, offset, code",
    [
        (0, 5, ErrorCode.OFFSET_OUT_OF_RANGE),
        (0, -2, ErrorCode.OFFSET_OUT_OF_RANGE),
        (9, 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_refusals(broker: Broker, partition: int, offset: int, code: int) -> None:
    call = Call(broker, HANDLER, request((partition, offset), (0, 2)), 2)
    assert answers(call) == [(partition, code, -1), (0, 0, 2)]


def test_an_internal_topic_is_refused_by_any_broker(broker: Broker) -> None:
    """Otherwise a client looks for its leader first."""
    broker.node.create_topic("__consumer_offsets", number=8, replicas=(2,), leader=2)
    for partition, code in (
        (0, ErrorCode.INVALID_TOPIC_EXCEPTION),
        (1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ):
        asked = request((partition, 0), topic="__consumer_offsets")
        assert answers(Call(broker, HANDLER, asked, 2)) == [(partition, code, -1)]


def test_topics_that_keep_their_records(broker: Broker) -> None:
    broker.node.create_topic("__consumer_offsets", number=8)
    broker.node.create_topic("compacted", number=9, cleanup_policy="compact")
    for topic, code in (
        ("__consumer_offsets", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("compacted", ErrorCode.POLICY_VIOLATION),
    ):
        assert answers(Call(broker, HANDLER, request((0, 0), topic=topic), 2)) == [(0, code, -1)]


def follower_fetches(broker: Broker, log_start_offset: int) -> None:
    partition = broker.node.manager.find("f", 0)
    assert partition is not None
    broker.node.follower_fetch(partition, 1, log_start_offset=log_start_offset)


def test_it_waits_for_the_followers() -> None:
    broker = Broker()
    broker.node.register(2)
    partition = broker.node.create_topic("f", replicas=(1, 2))
    broker.node.append(partition, b"a")
    follower_fetches(broker, 0)
    waiting, late = (Call(broker, HANDLER, request((0, 1), topic="f"), 2) for _ in range(2))
    assert waiting.is_waiting
    follower_fetches(broker, 1)
    assert answers(waiting) == answers(late) == [(0, 0, 1)]


def test_it_waits_for_no_follower_that_is_fenced() -> None:
    broker = Broker()
    broker.node.register(2)
    partition = broker.node.create_topic("f", replicas=(1, 2))
    broker.node.append(partition, b"a")
    follower_fetches(broker, 0)
    broker.node.register(2, epoch=11, fenced=True)
    assert answers(Call(broker, HANDLER, request((0, 1), topic="f"), 2)) == [(0, 0, 1)]


def test_it_does_not_wait_for_ever() -> None:
    broker = Broker()
    broker.node.register(2)
    partition = broker.node.create_topic("f", replicas=(1, 2))
    broker.node.append(partition, b"a")
    follower_fetches(broker, 0)
    call = Call(broker, HANDLER, request((0, 1), topic="f"), 2)
    broker.purgatory.advance(NOW_MS + 500)
    assert answers(call) == [(0, ErrorCode.REQUEST_TIMED_OUT, 0)]
    lost = Call(broker, HANDLER, request((0, 1), topic="f"), 2)
    broker.node.delete_topic()
    assert answers(lost) == [(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)]


def test_error_reply(broker: Broker) -> None:
    call = Call(broker, HANDLER, request((3, 0)), 2)
    reply: Any = HANDLER.error_reply(call.request, 42, None)
    assert [
        (p.partition_index, p.error_code, p.low_watermark)
        for t in reply.topics
        for p in t.partitions
    ] == [(3, 42, -1)]
