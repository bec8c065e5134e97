"""AllocateProducerIds (67): a block of producer ids for a broker.

Behaviour: a block of 1000 ids that no other broker gets.
Versions: 0.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.allocate_producer_ids_response import AllocateProducerIdsResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 67


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller."""
    return to_controller(services, request)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> AllocateProducerIdsResponse:
    """Return `code` for the whole request."""
    return AllocateProducerIdsResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
