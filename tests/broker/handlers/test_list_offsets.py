"""ListOffsets: every special timestamp, times, isolation, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.list_offsets import FIRST_VERSION_OF, HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from pykbroker.types import TopicPartition
from tests.broker.handlers.data_plane import Broker, Call
from tests.replication.node import NOW_MS


def answers(
    broker: Broker, *asked: tuple[int, int], version: int = 11, epoch: int = -1, **fields: Any
) -> list[tuple[int, int, int, int]]:
    """(error code, timestamp, offset, leader epoch) for each (partition, timestamp)."""
    message = ListOffsetsRequest(
        replica_id=fields.pop("replica_id", -1),
        topics=[
            ListOffsetsTopic(
                name=fields.pop("topic", "t"),
                partitions=[
                    ListOffsetsPartition(
                        partition_index=p, timestamp=timestamp, current_leader_epoch=epoch
                    )
                    for p, timestamp in asked
                ],
            )
        ],
        **fields,
    )
    response = Call(broker, HANDLER, message, version).answer
    return [
        (p.error_code, p.timestamp, p.offset, p.leader_epoch)
        for t in response.topics
        for p in t.partitions
    ]


@pytest.fixture
def broker() -> Broker:
    """Partition 0: offsets 0..3 with times NOW, NOW+30, NOW+10, NOW+20; partition 1 empty."""
    broker = Broker()
    partition = broker.node.create_topic(partitions=2)
    for after in (0, 30, 10, 20):
        broker.node.append(partition, b"v", timestamp_ms=NOW_MS + after)
    return broker


@pytest.mark.parametrize(
    "timestamp, expected",
    [
        (-1, (0, -1, 4, 0)),
        (-2, (0, -1, 0, 0)),
        (-3, (0, NOW_MS + 30, 1, 0)),
        (-4, (0, -1, 0, 0)),
        (-5, (0, -1, -1, -1)),
        (-6, (0, -1, -1, -1)),
        (0, (0, NOW_MS, 0, 0)),
        (NOW_MS + 1, (0, NOW_MS + 30, 1, 0)),
        (NOW_MS + 30, (0, NOW_MS + 30, 1, 0)),
        (NOW_MS + 31, (0, -1, -1, -1)),
    ],
)
def test_timestamps(broker: Broker, timestamp: int, expected: tuple[int, ...]) -> None:
    assert answers(broker, (0, timestamp)) == [expected]


@pytest.mark.parametrize("timestamp", [-1, -2, -3, 0])
def test_an_empty_partition(broker: Broker, timestamp: int) -> None:
    # Both ends carry the current leader epoch; there is no record to be found by time.
    expected = (0, -1, 0, 0) if timestamp in (-1, -2) else (0, -1, -1, -1)
    assert answers(broker, (1, timestamp)) == [expected]


@pytest.mark.parametrize("timestamp, first", sorted(FIRST_VERSION_OF.items()))
def test_special_timestamps_of_later_versions(broker: Broker, timestamp: int, first: int) -> None:
    for version in range(1, 12):
        code = answers(broker, (0, timestamp), version=version)[0][0]
        assert code == (0 if version >= first else ErrorCode.UNSUPPORTED_VERSION)
    assert answers(broker, (0, -7))[0][0] == ErrorCode.UNSUPPORTED_VERSION


def test_the_leader_epoch_comes_with_version_4(broker: Broker) -> None:
    assert answers(broker, (0, -1), version=3) == [(0, -1, 4, -1)]
    assert answers(broker, (0, -1), version=4) == [(0, -1, 4, 0)]


def test_refusals_are_per_partition_in_the_order_asked(broker: Broker) -> None:
    codes = [a[0] for a in answers(broker, (0, -1), (7, -1), (1, -1), (0, -2))]
    assert codes == [
        ErrorCode.INVALID_REQUEST,  # asked twice, answered once
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        0,
    ]


def test_the_leader_epoch_of_the_request_is_checked(broker: Broker) -> None:
    assert answers(broker, (0, -1), epoch=0)[0][0] == 0
    assert answers(broker, (0, -1), epoch=3)[0][0] == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert answers(broker, (0, -1), epoch=-2)[0][0] == ErrorCode.FENCED_LEADER_EPOCH


@pytest.mark.parametrize("level", [2, -1])
def test_an_isolation_level_that_is_none(broker: Broker, level: int) -> None:
    codes = [a[0] for a in answers(broker, (0, -1), (7, -1), isolation_level=level)]
    assert codes == [ErrorCode.UNKNOWN_SERVER_ERROR] * 2


def test_a_topic_without_partitions_is_left_out(broker: Broker) -> None:
    message = ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=[])])
    assert Call(broker, HANDLER, message, 11).answer.topics == []


def test_bounds_of_a_partition_with_a_lagging_follower() -> None:
    broker = Broker()
    partition = broker.node.create_topic(replicas=(1, 2))
    broker.node.append(partition, b"v")
    assert answers(broker, (0, -1)) == [(0, -1, 0, 0)]
    assert answers(broker, (0, 0)) == [(0, -1, -1, -1)]  # above the high watermark
    assert answers(broker, (0, -1), replica_id=2) == [(0, -1, 1, 0)]
    partition.leader_epoch_start_offset = 1  # elected now, its high watermark is still behind
    for version, code in ((4, ErrorCode.LEADER_NOT_AVAILABLE), (5, ErrorCode.OFFSET_NOT_AVAILABLE)):
        assert answers(broker, (0, -1), version=version)[0][0] == code
        assert answers(broker, (0, 0), version=version)[0][0] == code
        assert answers(broker, (0, -2), version=version)[0][0] == 0


def test_a_debugging_consumer_asks_followers(broker: Broker) -> None:
    broker.node.create_topic("f", number=9, replicas=(1, 2), leader=2)
    assert answers(broker, (0, -2), topic="f")[0][0] == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert answers(broker, (0, -2), topic="f", replica_id=-2)[0][0] == 0


def test_error_reply(broker: Broker) -> None:
    message = ListOffsetsRequest(
        topics=[ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(partition_index=3)])]
    )
    call = Call(broker, HANDLER, message, 11)
    reply: Any = HANDLER.error_reply(call.request, 42, None)
    assert [(p.partition_index, p.error_code) for t in reply.topics for p in t.partitions] == [
        (3, 42)
    ]


def test_a_look_up_by_time_waits_for_a_thread_and_not_on_the_loop(broker: Broker) -> None:
    log = broker.node.manager.partition(TopicPartition("t", 0)).log
    log.roll(NOW_MS)
    closed = log.segments.first
    closed.hints.clear()
    closed.largest = None
    closed.time_index.unload()
    broker.node.files.cold |= {closed.file.path, closed.time_index.path}
    asked = ListOffsetsPartition(partition_index=0, timestamp=NOW_MS + 15)
    topic = ListOffsetsTopic(name="t", partitions=[asked])
    call = Call(broker, HANDLER, ListOffsetsRequest(replica_id=-1, topics=[topic]), 11)
    assert call.is_waiting
    assert broker.threads.finish() >= 2
    ((found,),) = [t.partitions for t in call.answer.topics]
    assert (found.error_code, found.timestamp, found.offset) == (0, NOW_MS + 30, 1)
    assert broker.node.files.cold == set()
