"""DeleteTopics (20): decided by the active controller.

Behaviour: by name, or from version 6 on by id; the answer follows when the deletion is committed
and the controller's node has applied it; other brokers may still have their replicas. Both name and
id, neither, or one given twice: INVALID_REQUEST. With delete.topic.enable=false the whole request
is TOPIC_DELETION_DISABLED (before version 3 INVALID_REQUEST). With a `timeout_ms` of 0 or less
nothing is done, and the answer is REQUEST_TIMED_OUT. An error of the whole request has no message.
Versions: 1-6.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.delete_topics_response import (
    DeletableTopicResult,
    DeleteTopicsResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 20


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller, unless it has no time left and topics may be
    deleted.
    """
    timeout_ms = request.message.timeout_ms
    if timeout_ms > 0:
        return to_controller(services, request, timeout_ms=timeout_ms)
    if services.config.delete_topic_enable:
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
    return to_controller(services, request)  # refuses it whatever the time


def error_reply(request: Request, code: int, message: str | None = None) -> DeleteTopicsResponse:
    """Return `code` for every topic of the request."""
    asked = request.message
    results = [DeletableTopicResult(name=name, error_code=code) for name in asked.topic_names]
    results += [
        DeletableTopicResult(name=topic.name, topic_id=topic.topic_id, error_code=code)
        for topic in asked.topics
    ]
    return DeleteTopicsResponse(responses=results)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=1, max_version=6, error_reply=error_reply
)
