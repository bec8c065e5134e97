"""DescribeProducers (61): the idempotent producers that a partition remembers.

Behaviour: per partition the producer ids with their epoch, last sequence and timestamp, coordinator
epoch and the start of the open transaction (-1: none). Any replica answers, leader or not; a broker
without one, NOT_LEADER_OR_FOLLOWER. An invalid topic name is INVALID_TOPIC_EXCEPTION, a missing
partition UNKNOWN_TOPIC_OR_PARTITION. A partition is answered once, even if it is requested twice.
Versions: 0.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, error_message
from pykbroker.kraft.topic_name import topic_name_fault
from pykbroker.protocol.messages.describe_producers_response import (
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.describe_producers_request import DescribeProducersRequest

API_KEY = 61


def handle(services: BrokerServices, request: Request) -> DescribeProducersResponse:
    """Describe every partition."""
    message: DescribeProducersRequest = request.message
    indexes: dict[str, dict[int, None]] = {}
    for topic in paced(message.topics, services.breathe):
        indexes.setdefault(topic.name, {}).update(dict.fromkeys(topic.partition_indexes))
    return DescribeProducersResponse(
        topics=[
            TopicResponse(name=name, partitions=_describe(services, request, name, list(asked)))
            for name, asked in paced(indexes.items(), services.breathe)
        ]
    )


def _describe(
    services: BrokerServices, request: Request, topic: str, indexes: list[int]
) -> list[PartitionResponse]:
    fault = topic_name_fault(topic)
    if fault is not None:
        code = int(ErrorCode.INVALID_TOPIC_EXCEPTION)
        return [_refused(index, code, fault) for index in paced(indexes, services.breathe)]
    manager = services.replica_manager
    if manager.image.topic(topic) is None:
        code = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        text = error_message(code)
        return [_refused(index, code, text) for index in paced(indexes, services.breathe)]
    answers = []
    for index in paced(indexes, services.breathe):
        found = manager.lookup(topic, index)
        if isinstance(found, int):
            answers.append(_refused(index, found, None))
            continue
        answers.append(
            PartitionResponse(
                partition_index=index,
                active_producers=[
                    ProducerState(
                        producer_id=producer.producer_id,
                        producer_epoch=producer.producer_epoch,
                        last_sequence=producer.last_sequence,
                        last_timestamp=producer.last_timestamp,
                        coordinator_epoch=producer.coordinator_epoch,
                        current_txn_start_offset=producer.current_txn_first_offset,
                    )
                    for producer in paced(
                        found.log.active_producers(services.wall_ms()), services.breathe
                    )
                ],
            )
        )
    return answers


def _refused(index: int, code: int, message: str | None) -> PartitionResponse:
    return PartitionResponse(partition_index=index, error_code=code, error_message=message)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> DescribeProducersResponse:
    """Return `code` for every partition of the request."""
    asked: DescribeProducersRequest = request.message
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[_refused(index, code, message) for index in topic.partition_indexes],
            )
            for topic in asked.topics
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
