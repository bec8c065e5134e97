"""OffsetFetch (9): the offsets a group has committed.

Behaviour: every partition asked for is answered, in order (unknown topic ids come last); -1 and ""
where nothing is committed.
A null list of topics asks for all (twice for the same group: it is answered once). With
require_stable a partition that an open transaction is about to commit gets UNSTABLE_OFFSET_COMMIT.
Topics need not exist: their offsets do.
Versions: 1-10. 1 has no error of the group (each partition carries it); 2+ null topics; 7+ require
stable; 8+ several groups; 10 topic ids (UNKNOWN_TOPIC_ID when there is no such topic).
Not done: member epochs of KIP-848 groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.coordinator.group.offsets import fetch_error
from pykbroker.deferred import gather, then
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from pykbroker.protocol.messages.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from pykbroker.protocol.primitives import ZERO_UUID

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 9
GROUP_ERROR_FROM = 2
BATCHED_FROM = 8
TOPIC_IDS_FROM = 10


def handle(services: BrokerServices, request: Request) -> OffsetFetchResponse | Deferred:
    """Ask the coordinator for each group."""
    message: OffsetFetchRequest = request.message
    version = request.api_version
    if version < BATCHED_FROM:
        group = _batched_group(message)
        fetched = services.groups.fetch_offsets(group, message.require_stable)
        return then(fetched, lambda reply: _single(group, reply, version))
    parts = []
    told_all = set()
    for group in message.groups:
        services.breathe()
        if group.topics is None:
            if group.group_id in told_all:
                continue
            told_all.add(group.group_id)
        if version >= TOPIC_IDS_FROM:
            parts.append(_fetch_by_id(services, group, message.require_stable))
        else:
            parts.append(services.groups.fetch_offsets(group, message.require_stable))
    return gather(parts, lambda groups: OffsetFetchResponse(groups=groups))


def _batched_group(message: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    """A request of versions 1 to 7 in the form of version 8."""
    topics = None
    if message.topics is not None:
        topics = [
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in message.topics
        ]
    return OffsetFetchRequestGroup(group_id=message.group_id, topics=topics)


def _single(
    group: OffsetFetchRequestGroup, reply: OffsetFetchResponseGroup, version: int
) -> OffsetFetchResponse:
    """A reply of one group in the form of versions 1 to 7."""
    code = reply.error_code
    if code and version < GROUP_ERROR_FROM:
        return OffsetFetchResponse(
            topics=[
                OffsetFetchResponseTopic(
                    name=topic.name,
                    partitions=[
                        OffsetFetchResponsePartition(
                            partition_index=index,
                            committed_offset=-1,
                            metadata="",
                            error_code=code,
                        )
                        for index in topic.partition_indexes
                    ],
                )
                for topic in group.topics or ()
            ]
        )
    return OffsetFetchResponse(
        error_code=code,
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=partition.partition_index,
                        committed_offset=partition.committed_offset,
                        committed_leader_epoch=partition.committed_leader_epoch,
                        metadata=partition.metadata,
                        error_code=partition.error_code,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in reply.topics
        ],
    )


def _fetch_by_id(
    services: BrokerServices, group: OffsetFetchRequestGroup, require_stable: bool
) -> OffsetFetchResponseGroup | Deferred:
    """Version 10: ids become names on the way in, names become ids on the way out."""
    image = services.metadata.image
    if group.topics is None:
        fetched = services.groups.fetch_offsets(group, require_stable)
        return then(fetched, lambda reply: _with_ids(services, reply))
    known = []
    unknown = []
    for topic in group.topics:
        found = image.topic_by_id(topic.topic_id)
        if found is None:
            unknown.append(_unknown_topic(topic))
        else:
            topic.name = found.name
            known.append(topic)
    asked = OffsetFetchRequestGroup(
        group_id=group.group_id,
        member_id=group.member_id,
        member_epoch=group.member_epoch,
        topics=known,
    )
    fetched = services.groups.fetch_offsets(asked, require_stable)
    if not unknown:
        return fetched
    return then(fetched, lambda reply: _merged(reply, unknown))


def _unknown_topic(topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        topic_id=topic.topic_id,
        partitions=[
            OffsetFetchResponsePartitions(
                partition_index=index,
                committed_offset=-1,
                metadata="",
                error_code=int(ErrorCode.UNKNOWN_TOPIC_ID),
            )
            for index in topic.partition_indexes
        ],
    )


def _merged(
    reply: OffsetFetchResponseGroup, unknown: list[OffsetFetchResponseTopics]
) -> OffsetFetchResponseGroup:
    if not reply.error_code:
        reply.topics.extend(unknown)  # last, as Kafka orders them
    return reply


def _with_ids(
    services: BrokerServices, reply: OffsetFetchResponseGroup
) -> OffsetFetchResponseGroup:
    """All topics: one whose id nobody knows any more cannot be told in this version."""
    image = services.metadata.image
    topics = []
    for topic in reply.topics:
        found = image.topic(topic.name)
        if topic.topic_id == ZERO_UUID and found is not None:
            topic.topic_id = found.id
        if topic.topic_id != ZERO_UUID:
            topics.append(topic)
    reply.topics = topics
    return reply


def error_reply(request: Request, code: int, message: str | None) -> OffsetFetchResponse:
    """The same error for every group."""
    asked: OffsetFetchRequest = request.message
    if request.api_version < BATCHED_FROM:
        group = _batched_group(asked)
        return _single(group, fetch_error(group.group_id, code), request.api_version)
    return OffsetFetchResponse(groups=[fetch_error(group.group_id, code) for group in asked.groups])


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=1, max_version=10, error_reply=error_reply
)
