"""ListPartitionReassignments (46): forwarded to the active controller.

Behaviour: the reassignments in progress, of all topics (null) or of the named partitions.
Partitions that do not exist or are not being reassigned are left out.
Versions: 0.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.errors import message_beyond
from pykbroker.protocol.messages.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)

if TYPE_CHECKING:
    from pykbroker.broker.handlers import Outcome
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request

API_KEY = 46


def handle(services: NodeServices, request: Request) -> Outcome:
    """Pass the request to the active controller, unless it names no topic."""
    message = request.message
    if message.topics is not None and not message.topics:
        return ListPartitionReassignmentsResponse(error_message=None)
    return to_controller(services, request)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> ListPartitionReassignmentsResponse:
    """Return `code` for the whole request, and repeat its partitions."""
    return ListPartitionReassignmentsResponse(
        error_code=code,
        error_message=message_beyond(code, message),
        topics=[
            OngoingTopicReassignment(
                name=topic.name,
                partitions=[
                    OngoingPartitionReassignment(partition_index=number)
                    for number in topic.partition_indexes
                ],
            )
            for topic in request.message.topics or ()
        ],
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
