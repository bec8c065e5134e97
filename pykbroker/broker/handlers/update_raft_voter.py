"""UpdateRaftVoter (82, KIP-853): a voter reports its endpoints and its kraft.version range.

Behaviour: only the leader takes it. At kraft.version 0 nothing is recorded; at 1 a difference
becomes a VotersRecord, and the answer waits until that is committed (REQUEST_TIMED_OUT after five
seconds); a voter that is not in the voter set is VOTER_NOT_FOUND.
Versions: 0.
Not done: authorization; calling the voter at its new endpoint first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.deferred import Deferred
from pykbroker.protocol.messages.update_raft_voter_response import UpdateRaftVoterResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request

API_KEY = 82


def handle(services: NodeServices, request: Request) -> UpdateRaftVoterResponse | Deferred:
    """Let this node's replica of the metadata log answer."""
    return services.quorum.update_raft_voter(request.message)


def error_reply(request: Request, code: int, message: str | None = None) -> UpdateRaftVoterResponse:
    """Return `code` for the whole request."""
    return UpdateRaftVoterResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
