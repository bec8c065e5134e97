"""SyncGroup (14): a member waits for its assignment; the leader provides all assignments.

Behaviour: see `coordinator/group/classic/sync.py`. Replies with an assignment are sent once the
generation is committed. Errors: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION,
INCONSISTENT_GROUP_PROTOCOL, REBALANCE_IN_PROGRESS, INVALID_GROUP_ID, and the coordinator's own.
Versions: 0-5. 3+ group.instance.id; 5+ protocol type and name are mandatory and checked (KIP-559).
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.coordinator.group.classic.replies import sync_error
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.sync_group_response import SyncGroupResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.sync_group_request import SyncGroupRequest

API_KEY = 14
PROTOCOL_FROM = 5


def handle(services: BrokerServices, request: Request) -> SyncGroupResponse | Deferred:
    """Pass the request to the group's coordinator."""
    message: SyncGroupRequest = request.message
    if request.api_version >= PROTOCOL_FROM and (
        message.protocol_type is None or message.protocol_name is None
    ):
        return sync_error(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    return services.groups.sync(message)


def error_reply(request: Request, code: int, message: str | None) -> SyncGroupResponse:
    """Return only the code; the API has no field for a message."""
    return sync_error(code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=5, error_reply=error_reply
)
