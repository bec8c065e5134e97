"""OffsetForLeaderEpoch (23): where a leader epoch ended, for fetchers to find where logs diverge.

Behaviour: per partition the largest known epoch at or below the requested one, and its end (the log
end for the latest epoch); -1, -1 for -1, for an epoch above all known ones, and if none is known.
An epoch below all known ones is returned itself, and ends where the oldest known one begins. Only
the leader answers; a current leader epoch in the request is checked (FENCED_ /
UNKNOWN_LEADER_EPOCH).
Versions: 2-4. `replica_id` makes no difference.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.environment.slices import paced
from pykbroker.protocol.messages.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.offset_for_leader_epoch_request import (
        OffsetForLeaderEpochRequest,
        OffsetForLeaderPartition,
    )

API_KEY = 23


def handle(services: BrokerServices, request: Request) -> OffsetForLeaderEpochResponse:
    """Look up every partition."""
    message: OffsetForLeaderEpochRequest = request.message
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_answer(services, topic.topic, asked) for asked in topic.partitions],
            )
            for topic in paced(message.topics, services.breathe)
        ]
    )


def _answer(
    services: BrokerServices, topic: str, asked: OffsetForLeaderPartition
) -> EpochEndOffset:
    services.breathe()
    found = services.replica_manager.lookup(topic, asked.partition)
    if isinstance(found, int):
        return EpochEndOffset(partition=asked.partition, error_code=found)
    code, epoch, end_offset = found.end_offset_for_epoch(
        asked.current_leader_epoch, asked.leader_epoch
    )
    return EpochEndOffset(
        partition=asked.partition, error_code=code, leader_epoch=epoch, end_offset=end_offset
    )


def error_reply(
    request: Request, code: int, message: str | None = None
) -> OffsetForLeaderEpochResponse:
    """Return `code` for every partition of the request."""
    asked: OffsetForLeaderEpochRequest = request.message
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[
                    EpochEndOffset(partition=p.partition, error_code=code) for p in topic.partitions
                ],
            )
            for topic in asked.topics
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=2, max_version=4, error_reply=error_reply
)
