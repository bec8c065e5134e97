"""AlterPartition (56): the leader of a partition asks for other in-sync replicas (KIP-497).

Behaviour: the rules are in `kraft/controller/alter_partition.py`.
Versions: 2-3; broker epochs from 3.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.alter_partition_response import AlterPartitionResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 56


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller."""
    return to_controller(services, request)


def error_reply(request: Request, code: int, message: str | None = None) -> AlterPartitionResponse:
    """Return `code` for the whole request."""
    return AlterPartitionResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=2, max_version=3, error_reply=error_reply
)
