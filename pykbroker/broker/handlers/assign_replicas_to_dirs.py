"""AssignReplicasToDirs (73): a broker reports the log directories of its replicas (KIP-858).

Behaviour: the rules are in `kraft/controller/directories.py`.
Versions: 0.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.assign_replicas_to_dirs_response import (
    AssignReplicasToDirsResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 73


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller."""
    return to_controller(services, request)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> AssignReplicasToDirsResponse:
    """Return `code` for the whole request."""
    return AssignReplicasToDirsResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
