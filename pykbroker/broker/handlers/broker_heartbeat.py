"""BrokerHeartbeat (63): a broker shows that it is alive.

Behaviour: answers whether the broker is caught up, fenced, and may shut down; carries failed and
cordoned log directories. A heartbeat of an earlier incarnation is STALE_BROKER_EPOCH.
Versions: 0-2.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.broker_heartbeat_response import BrokerHeartbeatResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 63


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller."""
    return to_controller(services, request)


def error_reply(request: Request, code: int, message: str | None = None) -> BrokerHeartbeatResponse:
    """Return `code` for the whole request."""
    return BrokerHeartbeatResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=2, error_reply=error_reply
)
