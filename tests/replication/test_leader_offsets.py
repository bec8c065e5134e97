"""ListOffsets as a follower asks it."""

from __future__ import annotations

from pykbroker.deferred import resolved, spawn
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.list_offsets_request import ListOffsetsRequest
from pykbroker.protocol.messages.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from pykbroker.protocol.primitives import Message
from pykbroker.replication.leader_offsets import EARLIEST, leader_offsets
from pykbroker.types import TopicPartition
from tests.broker.handlers.data_plane import through_the_wire


def test_one_request_for_all_with_the_epochs() -> None:
    sent: list[ListOffsetsRequest] = []
    a0, a1, b0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)

    def send(message: Message) -> object:
        sent.append(through_the_wire(message, 11))
        topics = [
            ListOffsetsTopicResponse(
                name="a",
                partitions=[
                    ListOffsetsPartitionResponse(partition_index=0, offset=4),
                    ListOffsetsPartitionResponse(partition_index=1, error_code=74),
                ],
            )
        ]
        return resolved(ListOffsetsResponse(topics=topics))

    asked = [(a0, 3), (a1, 5), (b0, 1)]
    found = spawn(leader_offsets(send, 2, asked, EARLIEST))  # type: ignore[arg-type]
    assert found.value == {a0: (0, 4), a1: (74, -1)}
    (message,) = sent
    assert message.replica_id == 2
    assert [
        (topic.name, p.partition_index, p.current_leader_epoch, p.timestamp)
        for topic in message.topics
        for p in topic.partitions
    ] == [("a", 0, 3, -2), ("a", 1, 5, -2), ("b", 0, 1, -2)]


def test_a_request_that_fails_raises() -> None:
    failure = KafkaError(ErrorCode.NETWORK_EXCEPTION)
    task = spawn(leader_offsets(lambda _: resolved(failure), 2, [], EARLIEST))
    assert task.value is failure
