"""Requests that only the active controller can decide.

A request on a controller listener is only for the controller of this process; if that is not
active, the sender receives NOT_CONTROLLER and has to look elsewhere. A request on a broker listener
is passed to the active controller, in this process or by the network.
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
    """Let the controller decide `request` (or `message` instead) within `timeout_ms`.

    The Deferred is resolved with the response message or a KafkaError for the whole request.
    `here`: the function that answers a request of a broker listener on the active controller's
    node if the controller itself does not.
    """
    controller = services.controller
    wanted = request.message if message is None else message
    deadline_ms = request.received_ms + timeout_ms
    if request.connection.listener.is_controller:
        return controller.local(wanted, request.api_version, deadline_ms)
    caller = Caller(request.principal, request.client_address, request.client_id)
    return controller.forward(wanted, request.api_version, caller, deadline_ms, here)
