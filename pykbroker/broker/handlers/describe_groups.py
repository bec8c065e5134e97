"""DescribeGroups (15): state, protocol and members of classic groups.

Behaviour: groups in the requested order, each once (Kafka answers duplicates twice, but a group can
have megabytes). During a rebalance the protocol and the members' metadata are empty, and members
keep the assignment that they have. A group that does not exist is Dead.
Versions: 0-6. 3+ authorized operations; 4+ group.instance.id; 6+ GROUP_ID_NOT_FOUND and a message.
Not done: authorization; the authorized operations are all those of groups.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, Outcome, in_slices_if
from pykbroker.broker.requests.authorized_operations import GROUP_OPERATIONS
from pykbroker.coordinator.group.queries import describe_error
from pykbroker.deferred import gather
from pykbroker.environment.slices import paced_if
from pykbroker.protocol.messages.describe_groups_response import (
    DescribedGroup,
    DescribeGroupsResponse,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.describe_groups_request import DescribeGroupsRequest

API_KEY = 15
OPERATIONS_FROM = 3
AT_ONCE = 200


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Ask the coordinator."""
    message: DescribeGroupsRequest = request.message
    is_long = len(message.groups) > AT_ONCE
    breathe = services.breathe if is_long else None
    names = list(dict.fromkeys(paced_if(message.groups, breathe)))
    parts = []
    for first in range(0, len(names), AT_ONCE):
        services.breathe()
        parts.append(services.groups.describe(names[first : first + AT_ONCE], request.api_version))
    operations = request.api_version >= OPERATIONS_FROM and message.include_authorized_operations

    def answer(described: list[list[DescribedGroup]]) -> Outcome:
        parts = paced_if(described, breathe)
        outcome: Outcome = in_slices_if(is_long, partial(_reply, parts, operations))
        return outcome

    outcome: Outcome = gather(parts, answer)
    return outcome


def _reply(parts: Iterable[list[DescribedGroup]], operations: bool) -> DescribeGroupsResponse:
    groups: list[DescribedGroup] = []
    for part in parts:
        groups += part
        if operations:
            for group in part:
                if not group.error_code:
                    group.authorized_operations = GROUP_OPERATIONS
    return DescribeGroupsResponse(groups=groups)


def error_reply(request: Request, code: int, message: str | None) -> DescribeGroupsResponse:
    """Return the same error for every group."""
    groups = [describe_error(group_id, code) for group_id in request.message.groups]
    return DescribeGroupsResponse(groups=groups)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=6, error_reply=error_reply
)
