"""FetchSnapshot (59): a replica fetches a slice of a metadata snapshot (KIP-630).

Behaviour: only the leader answers with bytes, from the requested position on, up to `max_bytes`.
A snapshot that it does not have is SNAPSHOT_NOT_FOUND, a position outside of it
POSITION_OUT_OF_RANGE.
Versions: 0-1.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.fetch_snapshot_response import FetchSnapshotResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request

API_KEY = 59


def handle(services: NodeServices, request: Request) -> FetchSnapshotResponse:
    """Let this node's replica of the metadata log answer."""
    return services.quorum.fetch_snapshot(request.message)


def error_reply(request: Request, code: int, message: str | None = None) -> FetchSnapshotResponse:
    """Return `code` for the whole request."""
    return FetchSnapshotResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=1, error_reply=error_reply
)
