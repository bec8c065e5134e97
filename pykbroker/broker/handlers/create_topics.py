"""CreateTopics (19): decided by the active controller.

Behaviour: each topic succeeds or fails by itself, unless the request is too large for the
controller; the answer comes when all that succeed are committed. The rules and error texts are in
`kraft/controller/topics.py`. Duplicate names are INVALID_REQUEST, with `validate_only` nothing is
written. With a `timeout_ms` of 0 or less nothing is done, and the answer is REQUEST_TIMED_OUT.
Versions: 2-7. 5+ the configuration of the new topic; 7+ its id.
Not done: create.topic.policy.class.name; authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.errors import ErrorCode, KafkaError, message_beyond
from pykbroker.protocol.messages.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 19


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller, unless it has no time left."""
    message = request.message
    if message.timeout_ms <= 0:
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
    return to_controller(services, request, timeout_ms=message.timeout_ms)


def error_reply(request: Request, code: int, message: str | None = None) -> CreateTopicsResponse:
    """Return `code` for every topic of the request."""
    text = message_beyond(code, message)
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(name=topic.name, error_code=code, error_message=text, configs=[])
            for topic in request.message.topics
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=2, max_version=7, error_reply=error_reply
)
