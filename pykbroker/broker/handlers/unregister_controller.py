"""UnregisterController (94): remove the registration of a controller that is no voter (KIP-1312).

Behaviour: forwarded to the active controller. A voter is rejected with INVALID_REQUEST, an unknown
id with CONTROLLER_ID_NOT_REGISTERED; below metadata.version 4.4-IV2 every id but a voter's is
UNSUPPORTED_VERSION.
Versions: 0.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.unregister_controller_response import UnregisterControllerResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 94


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller."""
    return to_controller(services, request)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> UnregisterControllerResponse:
    """Return `code` for the whole request."""
    return UnregisterControllerResponse(error_code=code, error_message=message)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
