"""Heartbeat (12): a member of a classic group is alive.

Behaviour: extends the session of a member of the current generation; the error code tells the
member what to do: REBALANCE_IN_PROGRESS or ILLEGAL_GENERATION rejoin, UNKNOWN_MEMBER_ID join as a
new member, FENCED_INSTANCE_ID give up.
While the coordinator loads its log the answer is success.
Versions: 0-4. 3+ group.instance.id.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.broker.prepared.heartbeat import prepare
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 12


def handle(services: BrokerServices, request: Request) -> HeartbeatResponse | Deferred:
    """Pass the request to the group's coordinator."""
    return services.groups.heartbeat(request.message)


def error_reply(request: Request, code: int, message: str | None) -> HeartbeatResponse:
    """Return only the code; the API has no field for a message."""
    return HeartbeatResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY,
    handle=handle,
    min_version=0,
    max_version=4,
    error_reply=error_reply,
    prepare=prepare,
)
