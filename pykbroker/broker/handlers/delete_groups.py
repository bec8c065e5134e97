"""DeleteGroups (42): delete Empty groups and their committed offsets.

Behaviour: per group NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND or the coordinator's own error; a group
named twice is answered once.
Versions: 0-3. 3+ a field for an error message.
Not done: authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, Outcome, in_slices_if
from pykbroker.deferred import gather
from pykbroker.environment.slices import paced_if
from pykbroker.protocol.messages.delete_groups_response import (
    DeletableGroupResult,
    DeleteGroupsResponse,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.delete_groups_request import DeleteGroupsRequest

API_KEY = 42
AT_ONCE = 200


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Ask the coordinator."""
    message: DeleteGroupsRequest = request.message
    is_long = len(message.groups_names) > AT_ONCE
    breathe = services.breathe if is_long else None
    names = list(dict.fromkeys(paced_if(message.groups_names, breathe)))
    parts = []
    for first in range(0, len(names), AT_ONCE):
        services.breathe()
        parts.append(services.groups.delete_groups(names[first : first + AT_ONCE]))

    def answer(deleted: list[list[DeletableGroupResult]]) -> Outcome:
        outcome: Outcome = in_slices_if(is_long, partial(_reply, paced_if(deleted, breathe)))
        return outcome

    outcome: Outcome = gather(parts, answer)
    return outcome


def _reply(parts: Iterable[list[DeletableGroupResult]]) -> DeleteGroupsResponse:
    response = DeleteGroupsResponse()
    for part in parts:
        response.results += part
    return response


def error_reply(request: Request, code: int, message: str | None) -> DeleteGroupsResponse:
    """Return the same error for every group."""
    return DeleteGroupsResponse(
        results=[
            DeletableGroupResult(group_id=group_id, error_code=code, error_message=message)
            for group_id in dict.fromkeys(request.message.groups_names)
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=3, error_reply=error_reply
)
