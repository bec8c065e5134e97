"""OffsetFetch for one partition of one group, with stable offsets only."""

from __future__ import annotations

from typing import Any

from pykbroker.errors import KafkaError
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from pykbroker.testing.world.catalog import TopicPromise

FIRST_WITH_GROUPS_LIST = 8


def offset_fetch(group: str, topic: TopicPromise, index: int, version: int) -> OffsetFetchRequest:
    """Return the request; `version` is 7 or later."""
    if version < FIRST_WITH_GROUPS_LIST:
        asked = OffsetFetchRequestTopic(name=topic.name, partition_indexes=[index])
        return OffsetFetchRequest(group_id=group, topics=[asked], require_stable=True)
    topics = [
        OffsetFetchRequestTopics(
            name=topic.name, topic_id=topic.topic_id, partition_indexes=[index]
        )
    ]
    groups = [OffsetFetchRequestGroup(group_id=group, topics=topics)]
    return OffsetFetchRequest(groups=groups, require_stable=True)


def fetched_offset(response: Any, version: int) -> int:
    """Return the committed offset, -1 if there is none. Raises KafkaError for an error code."""
    answer = response.groups[0] if version >= FIRST_WITH_GROUPS_LIST else response
    if answer.error_code:
        raise KafkaError(answer.error_code)
    partition = answer.topics[0].partitions[0]
    if partition.error_code:
        raise KafkaError(partition.error_code)
    return int(partition.committed_offset)
