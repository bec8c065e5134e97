"""ControllerRegistration (70): a controller registers its listeners and features (KIP-919).

Behaviour: a request is recorded even if nothing differs from what is registered. Below
metadata.version 3.7-IV0 it is UNSUPPORTED_VERSION.
Versions: 0.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.controller_registration_response import (
    ControllerRegistrationResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 70


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller."""
    return to_controller(services, request)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> ControllerRegistrationResponse:
    """Return `code` for the whole request."""
    return ControllerRegistrationResponse(error_code=code, error_message=message)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
