"""Vote (52): a voter of the metadata quorum asks for votes (KIP-595, KIP-996).

Behaviour: the rules are in `kraft/raft/raft_elections.py`, those of who gets a vote in
`kraft/raft/raft_roles.py`; a vote is on disk before it is answered.
Another cluster is INCONSISTENT_CLUSTER_ID, an impossible log INVALID_REQUEST, an old epoch
FENCED_LEADER_EPOCH, a request to another voter or directory INVALID_VOTER_KEY.
Versions: 0-2.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.vote_response import VoteResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request

API_KEY = 52


def handle(services: NodeServices, request: Request) -> VoteResponse:
    """Let this node's replica of the metadata log answer."""
    return services.quorum.vote(request.message)


def error_reply(request: Request, code: int, message: str | None = None) -> VoteResponse:
    """Return `code` for the whole request."""
    return VoteResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=2, error_reply=error_reply
)
