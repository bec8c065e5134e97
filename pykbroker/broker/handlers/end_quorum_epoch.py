"""EndQuorumEpoch (54): the leader of the metadata quorum resigns.

Behaviour: the voters that follow it stand for election, in the order that it names. An old epoch is
FENCED_LEADER_EPOCH.
Versions: 0-1.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.end_quorum_epoch_response import EndQuorumEpochResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request

API_KEY = 54


def handle(services: NodeServices, request: Request) -> EndQuorumEpochResponse:
    """Let this node's replica of the metadata log answer."""
    return services.quorum.end_quorum_epoch(request.message)


def error_reply(request: Request, code: int, message: str | None = None) -> EndQuorumEpochResponse:
    """Return `code` for the whole request."""
    return EndQuorumEpochResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=1, error_reply=error_reply
)
