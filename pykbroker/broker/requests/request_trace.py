"""A worker that logs every request and every reply, to show what a client does.

Out: lines at DEBUG, one when a request is taken, one when its reply has been passed to the
connection, there is none, or the connection was closed instead (no line if the client is gone
before)::

    Heartbeat v4 correlation_id=7 client_id='app' of 127.0.0.1:40112: 41 bytes
    Heartbeat v4 correlation_id=7 client_id='app' of 127.0.0.1:40112: reply of 16 bytes in 62 us

Bytes are those on the wire, the length in front included; microseconds run from when the worker
took the request.

The node uses this worker instead of the plain one if it starts with the logger REQUEST_LOG at DEBUG
(`PYKBROKER_LOG=pykbroker.request=DEBUG`): otherwise tracing costs nothing. Requests that no worker
sees, because their frame or header cannot be read, are in the log of the network.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from pykbroker.broker.handlers import InSlices, Route
from pykbroker.broker.monitoring.measuring_worker import MeasuringWorker
from pykbroker.broker.requests.worker import REQUEST_LOG
from pykbroker.broker.services import NodeServices
from pykbroker.network.request import Request
from pykbroker.network.request_channel import RequestChannel
from pykbroker.protocol.framing import LENGTH_BYTES

FORGET_AT = 1000  # waiting requests, from which on those of closed connections are looked for
_log = logging.getLogger(REQUEST_LOG)


class TracingWorker(MeasuringWorker):
    """A worker that also logs requests and replies. It measures as well, for /metrics."""

    __slots__ = ("_forget_at", "_taken_ns")

    def __init__(
        self,
        services: NodeServices,
        channel: RequestChannel,
        *,
        turn_ended: Callable[[], None],
        halt: Callable[[BaseException], None],
    ) -> None:
        super().__init__(services, channel, turn_ended=turn_ended, halt=halt)
        self._taken_ns: dict[Request, int] = {}
        self._forget_at = FORGET_AT

    def _serve(self, request: Request) -> None:
        # A request that waits for the code of its API passes through here twice.
        if not request.connection.closed and request not in self._taken_ns:
            if len(self._taken_ns) >= self._forget_at:
                self._forget_closed()
            self._taken_ns[request] = self._monotonic_ns()
            _log.debug("%s: %d bytes", _name(request), LENGTH_BYTES + len(request.frame))
        super()._serve(request)
        if request.connection.closed:
            self._over(request, "connection closed")

    def _reply(self, request: Request, route: Route, outcome: Any) -> int:
        size = super()._reply(request, route, outcome)
        # An error answer passes through here twice, the inner call first: that one logs.
        if request.connection.closed:
            self._over(request, "connection closed")
        elif not isinstance(outcome, InSlices):  # else the reply follows the last slice
            self._over(request, f"reply of {size} bytes" if size else "no reply")
        return size

    def _long_encoded(self, request: Request, route: Route, encoded: Any) -> None:
        super()._long_encoded(request, route, encoded)
        if request.connection.closed:
            self._over(request, "connection closed")
        else:
            size = f" of {encoded[1]} bytes" if isinstance(encoded, tuple) else ""
            self._over(request, f"reply{size}")

    def _forget_closed(self) -> None:
        """Forget the requests that waited when their clients left: nothing else tells of them."""
        taken = self._taken_ns.items()
        self._taken_ns = {at: ns for at, ns in taken if not at.connection.closed}
        self._forget_at = FORGET_AT + 2 * len(self._taken_ns)

    def _over(self, request: Request, how: str) -> None:
        taken_ns = self._taken_ns.pop(request, None)
        if taken_ns is not None:
            spent_us = (self._monotonic_ns() - taken_ns) // 1000
            _log.debug("%s: %s in %d us", _name(request), how, spent_us)


def _name(request: Request) -> str:
    """Return the text that identifies a request in a log line."""
    return (
        f"{request.api.name} v{request.api_version} correlation_id={request.correlation_id} "
        f"client_id={request.client_id!r} of {request.connection.peer}"
    )
