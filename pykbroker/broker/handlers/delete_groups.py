"""DeleteGroups (42): delete Empty groups and their committed offsets.

Behaviour: per group NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND or the coordinator's own error; a group
named twice is answered once.
Versions: 0-3. 3+ an error message.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.deferred import gather
from pykbroker.protocol.messages.delete_groups_response import (
    DeletableGroupResult,
    DeleteGroupsResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.delete_groups_request import DeleteGroupsRequest

API_KEY = 42
AT_ONCE = 200


def handle(services: BrokerServices, request: Request) -> DeleteGroupsResponse | Deferred:
    """Ask the coordinator."""
    message: DeleteGroupsRequest = request.message
    names = list(dict.fromkeys(message.groups_names))
    parts = []
    for first in range(0, len(names), AT_ONCE):
        services.breathe()
        parts.append(services.groups.delete_groups(names[first : first + AT_ONCE]))
    return gather(
        parts,
        lambda lists: DeleteGroupsResponse(results=[result for part in lists for result in part]),
    )


def error_reply(request: Request, code: int, message: str | None) -> DeleteGroupsResponse:
    """The same error for every group."""
    return DeleteGroupsResponse(
        results=[
            DeletableGroupResult(group_id=group_id, error_code=code, error_message=message)
            for group_id in dict.fromkeys(request.message.groups_names)
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=3, error_reply=error_reply
)
