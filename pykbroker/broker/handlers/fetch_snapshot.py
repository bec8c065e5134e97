"""FetchSnapshot (59): a replica fetches a slice of a metadata snapshot (KIP-630).

Behaviour: only the leader answers, from the position asked on, as much as `max_bytes` allows. A
snapshot that is gone is SNAPSHOT_NOT_FOUND, a position outside of it POSITION_OUT_OF_RANGE.
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
    """The replica of the metadata log answers."""
    return services.quorum.fetch_snapshot(request.message)


def error_reply(request: Request, code: int, message: str | None = None) -> FetchSnapshotResponse:
    """The whole request gets `code`."""
    return FetchSnapshotResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=1, error_reply=error_reply
)
