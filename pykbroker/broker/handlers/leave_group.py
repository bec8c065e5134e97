"""LeaveGroup (13): members leave a classic group, or an administrator removes them.

Behaviour: each member of the batch has its own error code: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID.
A member without an id and with an instance id is a static member that an administrator removes.
Versions: 0-5. 0-2 one member, whose error is the error of the request; 3+ batches (KIP-345);
5+ reason (KIP-800).
Not done: authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, InSlices, Outcome
from pykbroker.deferred import gather, then
from pykbroker.environment.slices import paced
from pykbroker.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from pykbroker.protocol.messages.leave_group_response import LeaveGroupResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request

API_KEY = 13
BATCHED_FROM = 3
AT_ONCE = 200


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Pass the request to the group's coordinator, older versions as a batch of one."""
    message: LeaveGroupRequest = request.message
    if request.api_version >= BATCHED_FROM:
        if len(message.members) > AT_ONCE:
            return _in_pieces(services, message)
        return services.groups.leave(message)
    identity = MemberIdentity(member_id=message.member_id)
    batch = LeaveGroupRequest(group_id=message.group_id, members=[identity])
    outcome: Outcome = then(services.groups.leave(batch), _single)
    return outcome


def _in_pieces(services: BrokerServices, message: LeaveGroupRequest) -> Outcome:
    """Remove very many members in portions; the first error of the whole request counts."""
    parts = []
    for first in range(0, len(message.members), AT_ONCE):
        services.breathe()
        members = message.members[first : first + AT_ONCE]
        parts.append(
            services.groups.leave(LeaveGroupRequest(group_id=message.group_id, members=members))
        )

    def combine(responses: list[LeaveGroupResponse]) -> LeaveGroupResponse:
        whole = LeaveGroupResponse()
        for response in paced(responses, services.breathe):
            if response.error_code:
                return response
            whole.members += response.members
        return whole

    outcome: Outcome = gather(parts, lambda responses: InSlices(partial(combine, responses)))
    return outcome


def _single(response: LeaveGroupResponse) -> LeaveGroupResponse:
    code = response.error_code
    if not code and response.members:
        code = response.members[0].error_code
    return LeaveGroupResponse(error_code=code)


def error_reply(request: Request, code: int, message: str | None) -> LeaveGroupResponse:
    """Return only the code; the API has no field for a message."""
    return LeaveGroupResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=5, error_reply=error_reply
)
