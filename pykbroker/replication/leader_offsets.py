"""ListOffsets for a follower: where its leader's logs begin and end.

Source: `RemoteLeaderEndPoint.fetchOffset`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from pykbroker.deferred import Deferred
from pykbroker.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from pykbroker.protocol.messages.list_offsets_response import ListOffsetsResponse
from pykbroker.protocol.primitives import Message
from pykbroker.types import TopicPartition

LATEST: Final = -1
EARLIEST: Final = -2


async def leader_offsets(
    send: Callable[[Message], Deferred],
    replica_id: int,
    asked: Iterable[tuple[TopicPartition, int]],
    timestamp: int,
) -> dict[TopicPartition, tuple[int, int]]:
    """Return (error code, offset) of each answered partition. Raises KafkaError if there is no
    answer.

    asked: with the leader epoch that the follower knows. timestamp: LATEST or EARLIEST.
    """
    topics: dict[str, ListOffsetsTopic] = {}
    for topic_partition, leader_epoch in asked:
        name, index = topic_partition
        topic = topics.get(name)
        if topic is None:
            topic = topics[name] = ListOffsetsTopic(name=name, partitions=[])
        topic.partitions.append(
            ListOffsetsPartition(
                partition_index=index, current_leader_epoch=leader_epoch, timestamp=timestamp
            )
        )
    response: ListOffsetsResponse = await send(
        ListOffsetsRequest(replica_id=replica_id, topics=list(topics.values()))
    )
    return {
        TopicPartition(topic.name, found.partition_index): (found.error_code, found.offset)
        for topic in response.topics
        for found in topic.partitions
    }
