"""Requests of clients that only the active controller can decide.

A request that came in on a controller listener is for the controller of this process, or for none:
its client has to look elsewhere (NOT_CONTROLLER). One that came in on a broker listener goes to the
active controller, wherever that is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.deferred import Deferred
from pykbroker.kraft.controller_channel_driver import Caller

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.primitives import Message

# BrokerServer.scala: how long a broker tries to reach a controller for a client.
FORWARDING_TIMEOUT_MS = 60_000


def to_controller(
    services: NodeServices,
    request: Request,
    *,
    message: Message | None = None,
    timeout_ms: int = FORWARDING_TIMEOUT_MS,
    here: Callable[[], Deferred] | None = None,
) -> Deferred:
    """Have the controller decide `request` (or `message` in its place) within `timeout_ms`.

    The Deferred gets the response message or a KafkaError for the whole request. `here`: how the
    node of the active controller answers, where its controller does not.
    """
    controller = services.controller
    wanted = request.message if message is None else message
    deadline_ms = request.received_ms + timeout_ms
    if request.connection.listener.is_controller:
        return controller.local(wanted, request.api_version, deadline_ms)
    caller = Caller(request.principal, request.client_address, request.client_id)
    return controller.forward(wanted, request.api_version, caller, deadline_ms, here)
