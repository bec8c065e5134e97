"""One request as the network hands it to the worker.

Invariants: `frame` is a memoryview over the received buffer, never a copy; the record bytes of a
produce request are slices of it all the way to the file. `message` is the decoded body, set by the
worker before a handler sees the request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pykbroker.network.listener import Listener
from pykbroker.network.send import Part
from pykbroker.protocol.headers import RequestHeader


class CloseConnection:
    """What a handler returns in place of a reply to have the connection closed.

    Produce with acks=0 has no reply to carry an error in: Kafka closes the connection, and the
    client fetches fresh metadata.
    """

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class RequestConnection(Protocol):
    """Where a request came from, and where its reply goes: a connection, for the worker."""

    prepared: dict[int, Any]
    """The worker's, by API key << 16 | version: what requests like those before need no more."""

    @property
    def closed(self) -> bool:
        """Whether it is closed: a reply would go nowhere."""

    @property
    def listener(self) -> Listener:
        """The listener that accepted it."""

    @property
    def principal(self) -> str:
        """Who is on the other side."""

    @property
    def peer(self) -> str:
        """The other side's address and port, for log lines."""

    @property
    def peer_address(self) -> str:
        """The other side's address."""

    def call_on_close(self, callback: Callable[[], None] | None, /) -> None:
        """Call once when it closes while the request in flight waits; None: do not call."""

    def reply(self, payload: bytearray, /) -> None:
        """Queue the framed reply of the request in flight."""

    def reply_parts(self, parts: Sequence[Part], size: int, /) -> None:
        """Queue a framed reply of `size` bytes in parts; some may be slices of files."""

    def no_reply(self) -> None:
        """The request in flight has no reply."""

    def refuse(self, reason: str, /) -> None:
        """Close because of what the peer sent."""

    def abandon(self, reason: str, /) -> None:
        """Close because this node cannot go on with it."""

    def close(self) -> None:
        """Close at once."""


class PreparedConnection(RequestConnection, Protocol):
    """A connection that stands for the next request on it, for something is prepared for such."""

    frame: bytes | bytearray
    """The request lies in it from `frame_start` to `frame_end`, the API key first."""
    frame_start: int
    frame_end: int

    def request_of(self, frame: bytes | bytearray, start: int, end: int, /) -> Request | None:
        """The request in a frame; None, and the connection closed, when it has no sound header."""

    def has_next_frame(self) -> bool:
        """Whether one more frame is there whole, while one is in flight: `frame` is that one."""

    def gather(self) -> None:
        """The frame of `has_next_frame` is served as well, and answered after the one before."""


class Request(RequestHeader):
    """A request in flight: its header, filled by `decode_request_header`, and where it came from.

    `received_ms` is the time of the turn in which the worker took it.
    """

    __slots__ = ("connection", "frame", "message", "received_ms", "taken_ns")

    # One of the generated request classes: each handler knows which.
    message: Any
    taken_ns: int  # when the worker took it; set where times of requests are measured

    def __init__(self, connection: RequestConnection, frame: memoryview) -> None:
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
