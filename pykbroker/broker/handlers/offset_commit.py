"""OffsetCommit (8): store the offsets a group has consumed up to.

Behaviour: topics and partitions must exist (UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID per
partition); the rest is decided by the coordinator, see `coordinator/group/offsets.py`. The reply
follows once the offsets are committed, and lists every partition: refused ones first. A topic
without partitions is left out, an unknown one is not.
Versions: 2-10. 2-4 a retention of the client's own; 6+ leader epoch; 7+ group.instance.id;
9+ GROUP_ID_NOT_FOUND in place of ILLEGAL_GENERATION; 10 topic ids.
Not done: member epochs of KIP-848 groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.coordinator.group.offsets import commit_error
from pykbroker.deferred import then
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 8
TOPIC_IDS_FROM = 10

# What was refused so far, by topic (name, or id from version 10 on).
Refused = dict[str | bytes, OffsetCommitResponseTopic]


def handle(services: BrokerServices, request: Request) -> OffsetCommitResponse | Deferred:
    """Check the topics, commit what exists."""
    message: OffsetCommitRequest = request.message
    by_id = request.api_version >= TOPIC_IDS_FROM
    refused: Refused = {}
    known = _known_topics(services, message, by_id, refused)
    if not known:
        return OffsetCommitResponse(topics=list(refused.values()))
    if not refused and len(known) == len(message.topics):
        return services.groups.commit_offsets(message, request.api_version)
    valid = OffsetCommitRequest(
        group_id=message.group_id,
        generation_id_or_member_epoch=message.generation_id_or_member_epoch,
        member_id=message.member_id,
        group_instance_id=message.group_instance_id,
        retention_time_ms=message.retention_time_ms,
        topics=known,
    )
    outcome = services.groups.commit_offsets(valid, request.api_version)
    return then(outcome, lambda response: _merged(refused, response, by_id))


def _known_topics(
    services: BrokerServices, message: OffsetCommitRequest, by_id: bool, refused: Refused
) -> list[OffsetCommitRequestTopic]:
    """What exists of the request, with names and ids filled in; `refused` gets the rest."""
    image = services.metadata.image
    known = []
    for topic in message.topics:
        found = image.topic_by_id(topic.topic_id) if by_id else image.topic(topic.name)
        if found is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            answer = _answer_of(refused, topic, by_id)
            for partition in topic.partitions:
                _refuse(answer, partition.partition_index, code)
            continue
        topic.name = found.name
        topic.topic_id = found.id
        partitions = []
        for partition in topic.partitions:
            services.breathe()
            index = partition.partition_index
            if index in found.partitions:
                partitions.append(partition)
            else:
                answer = _answer_of(refused, topic, by_id)
                _refuse(answer, index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if not partitions:
            continue
        if len(partitions) == len(topic.partitions):
            known.append(topic)
        else:
            known.append(
                OffsetCommitRequestTopic(name=found.name, topic_id=found.id, partitions=partitions)
            )
    return known


def _answer_of(
    refused: Refused, topic: OffsetCommitRequestTopic, by_id: bool
) -> OffsetCommitResponseTopic:
    key = topic.topic_id if by_id else topic.name
    response = refused.get(key)
    if response is None:
        response = OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id)
        refused[key] = response
    return response


def _refuse(answer: OffsetCommitResponseTopic, index: int, code: int) -> None:
    answer.partitions.append(
        OffsetCommitResponsePartition(partition_index=index, error_code=int(code))
    )


def _merged(refused: Refused, response: OffsetCommitResponse, by_id: bool) -> OffsetCommitResponse:
    """What was refused first, then what the coordinator decided, as Kafka orders it."""
    for topic in response.topics:
        present = refused.setdefault(topic.topic_id if by_id else topic.name, topic)
        if present is not topic:
            present.partitions.extend(topic.partitions)
    return OffsetCommitResponse(topics=list(refused.values()))


def error_reply(request: Request, code: int, message: str | None) -> OffsetCommitResponse:
    """The same error for every partition."""
    return commit_error(request.message, code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=2, max_version=10, error_reply=error_reply
)
