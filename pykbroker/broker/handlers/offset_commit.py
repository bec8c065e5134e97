"""OffsetCommit (8): store the offsets a group has consumed up to.

Behaviour: topics and partitions must exist (UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID per
partition); the rest is decided by the coordinator, see `coordinator/group/offsets.py`. The reply
follows once the offsets are committed, and lists every partition in the order of the request.
Versions: 2-10. 2-4 a retention of the client's own; 6+ leader epoch; 7+ group.instance.id;
9+ GROUP_ID_NOT_FOUND in place of ILLEGAL_GENERATION; 10 topic ids.
Not done: member epochs of KIP-848 groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.coordinator.gathering import then
from pykbroker.coordinator.group.offsets import commit_error
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
    from pykbroker.broker.server import BrokerServer
    from pykbroker.network.request import Request
    from pykbroker.purgatory import Deferred

API_KEY = 8
TOPIC_IDS_FROM = 10

Errors = dict[tuple[int, int], int]


def handle(broker: BrokerServer, request: Request) -> OffsetCommitResponse | Deferred:
    """Check the topics, commit what exists."""
    message: OffsetCommitRequest = request.message
    errors: Errors = {}
    known = _known_topics(broker, message, request.api_version >= TOPIC_IDS_FROM, errors)
    if not errors:
        return broker.groups.commit_offsets(message, request.api_version)  # type: ignore[no-any-return]
    if not known:
        return _merged(message, errors, OffsetCommitResponse())
    valid = OffsetCommitRequest(
        group_id=message.group_id,
        generation_id_or_member_epoch=message.generation_id_or_member_epoch,
        member_id=message.member_id,
        group_instance_id=message.group_instance_id,
        retention_time_ms=message.retention_time_ms,
        topics=known,
    )
    outcome = broker.groups.commit_offsets(valid, request.api_version)
    return then(outcome, lambda response: _merged(message, errors, response))  # type: ignore[no-any-return]


def _known_topics(
    broker: BrokerServer, message: OffsetCommitRequest, by_id: bool, errors: Errors
) -> list[OffsetCommitRequestTopic]:
    """The part of the request that exists, with names and ids filled in; `errors` gets the rest,
    by (position of the topic, position of the partition)."""
    image = broker.replica_manager.image
    known = []
    for at, topic in enumerate(message.topics):
        found = image.topic_by_id(topic.topic_id) if by_id else image.topic(topic.name)
        if found is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            for position in range(len(topic.partitions)):
                errors[(at, position)] = int(code)
            continue
        topic.name = found.name
        topic.topic_id = found.id
        partitions = []
        for position, partition in enumerate(topic.partitions):
            if partition.partition_index in found.partitions:
                partitions.append(partition)
            else:
                errors[(at, position)] = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if len(partitions) == len(topic.partitions):
            known.append(topic)
        elif partitions:
            known.append(
                OffsetCommitRequestTopic(name=found.name, topic_id=found.id, partitions=partitions)
            )
    return known


def _merged(
    message: OffsetCommitRequest, errors: Errors, response: OffsetCommitResponse
) -> OffsetCommitResponse:
    """All partitions in the order of the request."""
    decided = iter([p for topic in response.topics for p in topic.partitions])
    topics = []
    for at, topic in enumerate(message.topics):
        partitions = []
        for position, partition in enumerate(topic.partitions):
            code = errors.get((at, position))
            if code is None:
                code = next(decided).error_code
            partitions.append(
                OffsetCommitResponsePartition(
                    partition_index=partition.partition_index, error_code=code
                )
            )
        topics.append(
            OffsetCommitResponseTopic(
                name=topic.name, topic_id=topic.topic_id, partitions=partitions
            )
        )
    return OffsetCommitResponse(topics=topics)


def error_reply(request: Request, code: int, message: str | None) -> OffsetCommitResponse:
    """The same error for every partition."""
    return commit_error(request.message, code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=2, max_version=10, error_reply=error_reply
)
