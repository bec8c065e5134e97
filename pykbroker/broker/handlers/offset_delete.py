"""OffsetDelete (47): forget committed offsets of a group.

Behaviour: topics and partitions must exist (UNKNOWN_TOPIC_OR_PARTITION); a topic that the members
of a consumer group subscribe to gets GROUP_SUBSCRIBED_TO_TOPIC; a group with members of another
protocol type NON_EMPTY_GROUP; no such group GROUP_ID_NOT_FOUND. A partition without an offset is
no error. Every partition is answered, in the order of the request.
Versions: 0.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.coordinator.gathering import then
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
)
from pykbroker.protocol.messages.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.network.request import Request
    from pykbroker.purgatory import Deferred

API_KEY = 47


def handle(broker: BrokerServer, request: Request) -> OffsetDeleteResponse | Deferred:
    """Check the topics, delete what exists."""
    message: OffsetDeleteRequest = request.message
    image = broker.replica_manager.image
    known = []
    for topic in message.topics:
        found = image.topic(topic.name)
        if found is not None:
            partitions = [p for p in topic.partitions if p.partition_index in found.partitions]
            if partitions:
                known.append(OffsetDeleteRequestTopic(name=topic.name, partitions=partitions))
    asked = OffsetDeleteRequest(group_id=message.group_id, topics=known)
    deleted = broker.groups.delete_offsets(asked)
    return then(deleted, lambda response: _merged(message, response))  # type: ignore[no-any-return]


def _merged(message: OffsetDeleteRequest, response: OffsetDeleteResponse) -> OffsetDeleteResponse:
    if response.error_code:
        return response
    codes = {
        (topic.name, partition.partition_index): partition.error_code
        for topic in response.topics
        for partition in topic.partitions
    }
    unknown = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return OffsetDeleteResponse(
        topics=[
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetDeleteResponsePartition(
                        partition_index=partition.partition_index,
                        error_code=codes.get((topic.name, partition.partition_index), unknown),
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in message.topics
        ]
    )


def error_reply(request: Request, code: int, message: str | None) -> OffsetDeleteResponse:
    """The API has no place for a message."""
    return OffsetDeleteResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
