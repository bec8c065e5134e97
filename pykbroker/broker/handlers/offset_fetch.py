"""OffsetFetch (9): the offsets a group has committed.

Behaviour: unless the group has an error, every requested partition is answered, in order (unknown
topic ids come last); -1 and "" if nothing is committed.
A null list of topics requests all (a duplicate for the same group is answered once). With
require_stable a partition with pending offsets of an open transaction is UNSTABLE_OFFSET_COMMIT.
A topic requested by its name need not exist.
Versions: 1-10. 1 has no error of the group (each partition carries it); 2+ null topics; 7+ require
stable; 8+ several groups; 10 topic ids (UNKNOWN_TOPIC_ID when there is no such topic).
Not done: member epochs of KIP-848 groups; authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.broker.handlers import Handler, InSlices, Outcome, in_slices_if
from pykbroker.coordinator.group.offsets import fetch_error
from pykbroker.deferred import gather, then
from pykbroker.environment.slices import Breathe, go_on, paced
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
    from pykbroker.network.request import Request

API_KEY = 9
GROUP_ERROR_FROM = 2
BATCHED_FROM = 8
TOPIC_IDS_FROM = 10
FEW = 500  # groups, topics and partitions that are answered without a pause
LONG_BYTES = 4000  # of a request of one group that may have very many partitions


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Ask the coordinator for each group."""
    message: OffsetFetchRequest = request.message
    version = request.api_version
    if version < BATCHED_FROM:
        group = _batched_group(message, services.breathe)
        found = services.groups.fetch_offsets(group, message.require_stable)

        def answer_one(reply: OffsetFetchResponseGroup) -> Outcome:
            job = partial(_single, group, reply, version, services.breathe)
            is_long = len(request.frame) > LONG_BYTES or _has_many(reply)
            one: Outcome = in_slices_if(is_long, job)
            return one

        return then(found, answer_one)
    asked = _asked_groups(services, message)
    fetched = (
        services.groups.fetch_offsets(
            _with_names(services, group) if version >= TOPIC_IDS_FROM else group,
            message.require_stable,
        )
        for group in paced(asked, services.breathe)
    )
    if version < TOPIC_IDS_FROM:
        return gather(fetched, lambda groups: OffsetFetchResponse(groups=groups))

    def answer(groups: list[Any]) -> OffsetFetchResponse | InSlices:
        is_long = len(groups) > FEW or sum(len(group.topics) for group in groups) > FEW
        outcome: OffsetFetchResponse | InSlices
        outcome = in_slices_if(is_long, partial(_by_id, services, asked, groups))
        return outcome

    outcome: Outcome = gather(fetched, answer)
    return outcome


def _has_many(reply: OffsetFetchResponseGroup) -> bool:
    topics = reply.topics
    return len(topics) > FEW or sum(len(topic.partitions) for topic in topics) > FEW


def _asked_groups(
    services: BrokerServices, message: OffsetFetchRequest
) -> list[OffsetFetchRequestGroup]:
    """Return the groups of the request; one for which everything is requested only once: a request
    may name it a thousand times.
    """
    told_all = set()
    asked = []
    for group in paced(message.groups, services.breathe):
        if group.topics is None:
            if group.group_id in told_all:
                continue
            told_all.add(group.group_id)
        asked.append(group)
    return asked


def _batched_group(
    message: OffsetFetchRequest, breathe: Breathe = go_on
) -> OffsetFetchRequestGroup:
    """Return a request of versions 1 to 7 in the form of version 8."""
    topics = None
    if message.topics is not None:
        topics = [
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in paced(message.topics, breathe)
        ]
    return OffsetFetchRequestGroup(group_id=message.group_id, topics=topics)


def _single(
    group: OffsetFetchRequestGroup,
    reply: OffsetFetchResponseGroup,
    version: int,
    breathe: Breathe = go_on,
) -> OffsetFetchResponse:
    """Return the reply for one group in the form of versions 1 to 7."""
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
                        for index in paced(topic.partition_indexes, breathe)
                    ],
                )
                for topic in paced(group.topics or (), breathe)
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
                    for partition in paced(topic.partitions, breathe)
                ],
            )
            for topic in paced(reply.topics, breathe)
        ],
    )


# Version 10: ids become names in the request, and names become ids in the response.


def _with_names(
    services: BrokerServices, group: OffsetFetchRequestGroup
) -> OffsetFetchRequestGroup:
    """Return the group with those of its topics that exist, with their names set."""
    if group.topics is None:
        return group
    image = services.metadata.image
    known = []
    for topic in paced(group.topics, services.breathe):
        found = image.topic_by_id(topic.topic_id)
        if found is not None:
            topic.name = found.name
            known.append(topic)
    return OffsetFetchRequestGroup(
        group_id=group.group_id,
        member_id=group.member_id,
        member_epoch=group.member_epoch,
        topics=known,
    )


def _by_id(
    services: BrokerServices,
    asked: list[OffsetFetchRequestGroup],
    replies: list[OffsetFetchResponseGroup],
) -> OffsetFetchResponse:
    """Return the answers to `asked`, topics by id; those without a name do not exist."""
    for group, reply in zip(asked, paced(replies, services.breathe), strict=True):
        if group.topics is None:
            reply.topics = _with_ids(services, reply.topics)
        elif not reply.error_code:
            reply.topics.extend(  # last, as Kafka orders them
                _unknown_topic(services, topic)
                for topic in paced(group.topics, services.breathe)
                if not topic.name
            )
    return OffsetFetchResponse(groups=replies)


def _unknown_topic(
    services: BrokerServices, topic: OffsetFetchRequestTopics
) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        topic_id=topic.topic_id,
        partitions=[
            OffsetFetchResponsePartitions(
                partition_index=index,
                committed_offset=-1,
                metadata="",
                error_code=int(ErrorCode.UNKNOWN_TOPIC_ID),
            )
            for index in paced(topic.partition_indexes, services.breathe)
        ],
    )


def _with_ids(
    services: BrokerServices, told: list[OffsetFetchResponseTopics]
) -> list[OffsetFetchResponseTopics]:
    """Return the topics with ids. One whose id is not known cannot be represented in this version,
    and is left out.
    """
    image = services.metadata.image
    topics = []
    for topic in paced(told, services.breathe):
        found = image.topic(topic.name)
        if topic.topic_id == ZERO_UUID and found is not None:
            topic.topic_id = found.id
        if topic.topic_id != ZERO_UUID:
            topics.append(topic)
    return topics


def error_reply(request: Request, code: int, message: str | None) -> OffsetFetchResponse:
    """Return the same error for every group."""
    asked: OffsetFetchRequest = request.message
    if request.api_version < BATCHED_FROM:
        group = _batched_group(asked)
        return _single(group, fetch_error(group.group_id, code), request.api_version)
    return OffsetFetchResponse(groups=[fetch_error(group.group_id, code) for group in asked.groups])


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=1, max_version=10, error_reply=error_reply
)
