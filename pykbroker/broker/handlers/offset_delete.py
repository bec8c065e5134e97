"""OffsetDelete (47): delete committed offsets of a group.

Behaviour: topics and partitions must exist (UNKNOWN_TOPIC_OR_PARTITION); a topic that the members
of a consumer group subscribe to gets GROUP_SUBSCRIBED_TO_TOPIC; a group with members of another
protocol type NON_EMPTY_GROUP; no such group GROUP_ID_NOT_FOUND. A partition without an offset is no
error. Unless the whole request has an error, every partition is answered.
Versions: 0.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.deferred import then
from pykbroker.environment.slices import paced
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
    from pykbroker.broker.services import BrokerServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 47


def handle(services: BrokerServices, request: Request) -> OffsetDeleteResponse | Deferred:
    """Check the topics, delete what exists."""
    message: OffsetDeleteRequest = request.message
    image = services.metadata.image
    known = []
    refused: dict[str, OffsetDeleteResponseTopic] = {}
    breathe = services.breathe
    for topic in paced(message.topics, breathe):
        found = image.topic(topic.name)
        there = () if found is None else found.partitions
        partitions = [p for p in paced(topic.partitions, breathe) if p.partition_index in there]
        if partitions:
            known.append(OffsetDeleteRequestTopic(name=topic.name, partitions=partitions))
        if found is None or len(partitions) < len(topic.partitions):
            refusal = refused.setdefault(topic.name, OffsetDeleteResponseTopic(name=topic.name))
            refusal.partitions += [
                OffsetDeleteResponsePartition(
                    partition_index=partition.partition_index,
                    error_code=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
                )
                for partition in paced(topic.partitions, breathe)
                if partition.partition_index not in there
            ]
    asked = OffsetDeleteRequest(group_id=message.group_id, topics=known)
    deleted = services.groups.delete_offsets(asked)
    return then(deleted, lambda response: _merged(refused, response))


def _merged(
    refused: dict[str, OffsetDeleteResponseTopic], response: OffsetDeleteResponse
) -> OffsetDeleteResponse:
    """Add the coordinator's results to the rejected partitions, in Kafka's order: topics with a
    rejected partition come first. If the whole request has an error, return only that.
    """
    if response.error_code or not refused:
        return response
    for topic in response.topics:
        present = refused.setdefault(topic.name, topic)
        if present is not topic:
            present.partitions.extend(topic.partitions)
    return OffsetDeleteResponse(topics=list(refused.values()))


def error_reply(request: Request, code: int, message: str | None) -> OffsetDeleteResponse:
    """Return only the code; the API has no field for a message."""
    return OffsetDeleteResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
