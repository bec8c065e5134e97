"""CreatePartitions (37): decided by the active controller.

Behaviour: `count` is the new total; it has to be larger than it was. New partitions are placed by
the controller or where the client says. With a `timeout_ms` of 0 or less nothing is done, and the
answer is REQUEST_TIMED_OUT.
Versions: 0-3.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.errors import ErrorCode, KafkaError, message_beyond
from pykbroker.protocol.messages.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 37


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller, unless it has no time left."""
    message = request.message
    if message.timeout_ms <= 0:
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
    return to_controller(services, request, timeout_ms=message.timeout_ms)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> CreatePartitionsResponse:
    """Return `code` for every topic of the request."""
    text = message_beyond(code, message)
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(name=topic.name, error_code=code, error_message=text)
            for topic in request.message.topics
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=3, error_reply=error_reply
)
