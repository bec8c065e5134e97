"""One request as the network hands it to the worker.

Invariants: `frame` is a memoryview over the received buffer, never a copy; the record bytes of a
produce request are slices of it all the way to the file. `message` is the decoded body, set by the
worker before a handler sees the request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pykbroker.protocol.headers import RequestHeader

if TYPE_CHECKING:
    from pykbroker.network.connection import Connection


class CloseConnection:
    """What a handler returns in place of a reply to have the connection closed.

    Produce with acks=0 has no reply to carry an error in: Kafka closes the connection, and the
    client fetches fresh metadata.
    """

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Request(RequestHeader):
    """A request in flight: its header, filled by `decode_request_header`, and where it came from.

    `received_ms` is the time of the turn in which the worker took it.
    """

    __slots__ = ("connection", "frame", "message", "received_ms")

    # One of the generated request classes: each handler knows which.
    message: Any

    def __init__(self, connection: Connection, frame: memoryview) -> None:
        self.connection = connection
        self.frame = frame
        self.received_ms = 0

    @property
    def listener_name(self) -> str:
        """Name of the listener the request came in on."""
        return self.connection.listener.name

    @property
    def principal(self) -> str:
        """Kafka principal in its text form, `User:ANONYMOUS` on a PLAINTEXT listener."""
        return self.connection.principal

    @property
    def client_address(self) -> str:
        """IP address of the peer, without the port."""
        return self.connection.peer_address

    def __repr__(self) -> str:
        return (
            f"Request({self.api.name} v{self.api_version}, correlation_id={self.correlation_id}, "
            f"client_id={self.client_id!r}, {len(self.frame)} bytes)"
        )
