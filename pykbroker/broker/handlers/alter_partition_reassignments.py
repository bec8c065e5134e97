"""AlterPartitionReassignments (45): decided by the active controller.

Behaviour: each partition moves to the replicas that the client names; null replicas cancel a
reassignment in progress. It completes when the new replicas are in sync, perhaps at once
(`kraft/controller/reassignment.py`). With a `timeout_ms` of 0 or less the answer is
REQUEST_TIMED_OUT, unless no topic is named.
Versions: 0-1. 1 can forbid a change of the replication factor (KIP-860).
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.errors import ErrorCode, KafkaError, message_beyond
from pykbroker.protocol.messages.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.handlers import Outcome
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request

API_KEY = 45


def handle(services: NodeServices, request: Request) -> Outcome:
    """Pass the request to the active controller, unless it names no topic or has no time left."""
    message = request.message
    if not message.topics:
        return AlterPartitionReassignmentsResponse()
    if message.timeout_ms <= 0:
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
    return to_controller(services, request, timeout_ms=message.timeout_ms)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> AlterPartitionReassignmentsResponse:
    """Return `code` for the whole request and every partition in it."""
    text = message_beyond(code, message)
    return AlterPartitionReassignmentsResponse(
        error_code=code,
        error_message=text,
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    ReassignablePartitionResponse(
                        partition_index=asked.partition_index, error_code=code, error_message=text
                    )
                    for asked in topic.partitions
                ],
            )
            for topic in request.message.topics
        ],
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=1, error_reply=error_reply
)
