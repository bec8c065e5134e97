"""BeginQuorumEpoch (53): a new leader of the metadata quorum announces itself.

Behaviour: this replica follows it. An old epoch is FENCED_LEADER_EPOCH. If the request is meant for
another voter, such as one with another directory id, the leader is followed all the same, and the
answer is INVALID_VOTER_KEY.
Versions: 0-1.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.begin_quorum_epoch_response import BeginQuorumEpochResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request

API_KEY = 53


def handle(services: NodeServices, request: Request) -> BeginQuorumEpochResponse:
    """Let this node's replica of the metadata log answer."""
    return services.quorum.begin_quorum_epoch(request.message)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> BeginQuorumEpochResponse:
    """Return `code` for the whole request."""
    return BeginQuorumEpochResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=1, error_reply=error_reply
)
