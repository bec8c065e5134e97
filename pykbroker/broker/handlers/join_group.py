"""JoinGroup (11): a member asks for a place in the next generation of a classic group.

Behaviour: see `coordinator/group/classic/join.py`, also for most errors. A request that starts or
joins a rebalance is answered at the end of the join phase. Checked before: INVALID_GROUP_ID
(empty), INVALID_SESSION_TIMEOUT. MEMBER_ID_REQUIRED carries the id to join with;
REBALANCE_IN_PROGRESS: the member has sent another JoinGroup since.
Versions: 0-9. 0 has no rebalance timeout (the session timeout counts); 4+ MEMBER_ID_REQUIRED
(KIP-394); 5+ group.instance.id (KIP-345); 7+ protocol type and null protocol (KIP-559);
8+ reason (KIP-800); 9+ skip assignment (KIP-814).
Not done: joining consumer groups of KIP-848 with this API; authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.coordinator.group.classic.replies import join_error
from pykbroker.protocol.messages.join_group_response import JoinGroupResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.join_group_request import JoinGroupRequest

API_KEY = 11


def handle(services: BrokerServices, request: Request) -> JoinGroupResponse | Deferred:
    """Pass the request to the group's coordinator."""
    message: JoinGroupRequest = request.message
    if request.api_version == 0:
        message.rebalance_timeout_ms = message.session_timeout_ms
    return services.groups.join(
        message, request.api_version, request.client_id or "", request.client_address
    )


def error_reply(request: Request, code: int, message: str | None) -> JoinGroupResponse:
    """Return only the code; the API has no field for a message."""
    return join_error(code, "", request.api_version)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=9, error_reply=error_reply
)
