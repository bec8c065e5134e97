"""UnregisterBroker (64): remove the registration of a broker.

Behaviour: forwarded to the active controller. The broker leads nothing any more; its replicas stay
assigned. An unknown id is BROKER_ID_NOT_REGISTERED.
Versions: 0.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.unregister_broker_response import UnregisterBrokerResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 64


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller."""
    return to_controller(services, request)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> UnregisterBrokerResponse:
    """Return `code` for the whole request."""
    return UnregisterBrokerResponse(error_code=code, error_message=message)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
