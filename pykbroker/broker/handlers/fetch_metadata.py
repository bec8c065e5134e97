"""Fetch (1) on a controller listener: replicas of the quorum fetch the metadata log.

Behaviour: only the leader answers with records; a replica whose log is not a prefix of the leader's
learns where to truncate it, and one that is empty or too far behind, which snapshot to fetch, if
there is one. With nothing new the answer waits for it up to `max_wait_ms`; from version 18 on a
higher high watermark is new, too (KIP-1166). No sessions. The rules are in
`kraft/raft/raft_service.py`.
Versions: 4-18; topic ids from 13.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.deferred import Deferred
from pykbroker.protocol.messages.fetch_response import FetchResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request

API_KEY = 1


def handle(services: NodeServices, request: Request) -> FetchResponse | Deferred:
    """Let this node's replica of the metadata log answer."""
    return services.quorum.fetch(request.message)


def error_reply(request: Request, code: int, message: str | None = None) -> FetchResponse:
    """Return `code` for the whole request."""
    return FetchResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=4, max_version=18, error_reply=error_reply
)
