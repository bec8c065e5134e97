"""BrokerRegistration (62): a broker joins the cluster.

Behaviour: the rules are in `kraft/controller/brokers.py`. A new incarnation stays fenced at least
until its heartbeats show that it has read the metadata log up to its registration.
Versions: 0-4.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.broker_registration_response import BrokerRegistrationResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 62


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller."""
    return to_controller(services, request)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> BrokerRegistrationResponse:
    """Return `code` for the whole request."""
    return BrokerRegistrationResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=4, error_reply=error_reply
)
