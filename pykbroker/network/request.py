"""One request, as passed from the network to the worker.

`frame` is a memoryview over received bytes; the record bytes of a produce request are slices of it
(the log copies those of small requests, to patch them). `message` is the decoded body, set by the
worker before a handler sees the request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from pykbroker.network.listener import Listener
from pykbroker.network.send import Part
from pykbroker.protocol.headers import RequestHeader

Frame: TypeAlias = tuple[bytes | bytearray, int, int]
"""A request in received bytes: these, where its API key begins, and where the request ends."""


class CloseConnection:
    """Returned by a handler instead of a reply, to close the connection.

    Produce with acks=0 has no reply for an error: Kafka closes the connection, and the client
    refreshes its metadata.
    """

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class RequestConnection(Protocol):
    """The connection of a request, as seen by the worker."""

    prepared: dict[int, Any]
    """What is prepared for further requests, by API key << 16 | version; `broker/prepared/` keeps
    it.
    """

    @property
    def closed(self) -> bool:
        """Whether it is closed, so that a reply would be dropped."""

    @property
    def listener(self) -> Listener:
        """The listener that accepted it."""

    @property
    def principal(self) -> str:
        """The principal of the peer."""

    @property
    def peer(self) -> str:
        """The peer's address and port, for log lines."""

    @property
    def peer_address(self) -> str:
        """The peer's address."""

    def call_on_close(self, callback: Callable[[], None] | None, /) -> None:
        """Set the function to call if the connection closes while its request
        waits; None: no call.
        """

    def reply(self, payload: bytearray, /) -> None:
        """Queue the framed reply of the request in flight."""

    def reply_parts(self, parts: Sequence[Part], size: int, /) -> None:
        """Queue a framed reply of `size` bytes in parts; some may be slices of files."""

    def no_reply(self) -> None:
        """Complete the request in flight without a reply."""

    def refuse(self, reason: str, /) -> None:
        """Close the connection because of what the peer sent."""

    def abandon(self, reason: str, /) -> None:
        """Close the connection because of a local failure."""

    def close(self) -> None:
        """Close immediately."""


class PreparedConnection(RequestConnection, Protocol):
    """A connection with something prepared, on the channel in place of its next request."""

    def take_frame(self) -> Frame:
        """Return the frame of the request in flight; to be called once."""

    def request_of(self, frame: bytes | bytearray, start: int, end: int, /) -> Request | None:
        """Return the request in a frame; if its header is invalid, close the
        connection and return None.
        """

    def next_frame(self) -> Frame | None:
        """Return the next frame; None if it has not arrived completely or its length is invalid. A
        caller that does not `gather` it leaves it for later.
        """

    def gather(self, frame: Frame, /) -> None:
        """Take what `next_frame` has returned, to be answered after the one before."""


class Request(RequestHeader):
    """A request in flight: its header, filled by `decode_request_header`, and its connection.

    `received_ms` is the time of the turn in which the worker took it.
    """

    __slots__ = ("connection", "frame", "message", "received_ms", "taken_ns")

    # One of the generated request classes, as the handler expects.
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
        """The Kafka principal in text form, `User:ANONYMOUS` on a PLAINTEXT listener."""
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
