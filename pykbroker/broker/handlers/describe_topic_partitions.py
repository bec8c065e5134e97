"""DescribeTopicPartitions (75): topics in pages of a limited number of partitions (KIP-966).

Behaviour: topics in the order of their names, from the cursor on; no names means all topics. A page
holds at most max.request.partition.size.limit partitions (or fewer, at the client's request); the
next page begins at `next_cursor`. Each shows its eligible leader replicas and those last known. A
cursor outside of the named topics, or with a negative partition: INVALID_REQUEST.
Versions: 0.
Not done: authorization.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.broker.requests.authorized_operations import TOPIC_OPERATIONS
from pykbroker.environment.slices import Breathe, paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.topic_name import is_internal, topic_name_fault
from pykbroker.protocol.messages.describe_topic_partitions_response import (
    Cursor,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

if TYPE_CHECKING:
    from pykbroker.broker.metadata.metadata_view import ListenerView
    from pykbroker.broker.services import BrokerServices
    from pykbroker.kraft.image import TopicImage
    from pykbroker.network.request import Request

API_KEY = 75
SORTED_AT_ONCE = 2000


def handle(services: BrokerServices, request: Request) -> DescribeTopicPartitionsResponse:
    """Fill one page."""
    message = request.message
    names = _names(services, request)
    cursor = message.cursor
    left = max(
        min(services.config.max_request_partition_size_limit, message.response_partition_limit), 1
    )
    view = services.metadata.on_listener(request.listener_name)
    response = DescribeTopicPartitionsResponse(next_cursor=None)
    for name in names:
        services.breathe()
        if left == 0:
            response.next_cursor = Cursor(topic_name=name, partition_index=0)
            break
        topic = services.metadata.image.topics_by_name.get(name)
        if topic is None:
            if message.topics:
                response.topics.append(_unknown(name))
            continue
        first = cursor.partition_index if cursor is not None and cursor.topic_name == name else 0
        end = min(len(topic.partitions), first + left)
        response.topics.append(_page_of(view, topic, first, end))
        if end < len(topic.partitions):
            response.next_cursor = Cursor(topic_name=name, partition_index=end)
            break
        left -= max(end - first, 0)
    return response


def _names(services: BrokerServices, request: Request) -> Iterable[str]:
    message = request.message
    if message.topics:
        names = {topic.name for topic in paced(message.topics, services.breathe)}
    else:
        names = set(services.metadata.image.topics_by_name)
    cursor = message.cursor
    if cursor is None:
        return _in_order(names, services.breathe)
    if message.topics and cursor.topic_name not in names:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "DescribeTopicPartitionsRequest topic list should contain the cursor topic: "
            f"{cursor.topic_name}",
        )
    if cursor.partition_index < 0:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"DescribeTopicPartitionsRequest cursor partition must be valid: {cursor}",
        )
    behind = (name for name in paced(names, services.breathe) if name >= cursor.topic_name)
    return _in_order(behind, services.breathe)


def _in_order(names: Iterable[str], breathe: Breathe) -> Iterable[str]:
    """Yield the names in order, sorting in pieces, because sorting one very
    long list could not be interrupted.
    """
    runs = []
    unsorted = iter(names)
    while run := list(islice(unsorted, SORTED_AT_ONCE)):
        runs.append(sorted(run))
        breathe()
    return merge(*runs)


def _page_of(
    view: ListenerView, topic: TopicImage, first: int, end: int
) -> DescribeTopicPartitionsResponseTopic:
    partitions = []
    for number in range(first, end):
        partition = topic.partitions.get(number)
        if partition is None:
            continue
        partitions.append(
            DescribeTopicPartitionsResponsePartition(
                partition_index=number,
                leader_id=partition.leader if view.is_reachable(partition.leader) else -1,
                leader_epoch=partition.leader_epoch,
                replica_nodes=list(partition.replicas),
                isr_nodes=list(partition.isr),
                eligible_leader_replicas=list(partition.elr),
                last_known_elr=list(partition.last_known_elr),
                offline_replicas=view.offline_replicas(partition),
            )
        )
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=is_internal(topic.name),
        partitions=partitions,
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _unknown(name: str) -> DescribeTopicPartitionsResponseTopic:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic_name_fault(name) is not None:
        code = ErrorCode.INVALID_TOPIC_EXCEPTION
    return DescribeTopicPartitionsResponseTopic(
        error_code=int(code),
        name=name,
        is_internal=is_internal(name),
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def error_reply(
    request: Request, code: int, message: str | None = None
) -> DescribeTopicPartitionsResponse:
    """Return `code` for every named topic."""
    return DescribeTopicPartitionsResponse(
        topics=[
            DescribeTopicPartitionsResponseTopic(error_code=code, name=topic.name)
            for topic in request.message.topics
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
