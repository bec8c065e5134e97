"""Byte streams between nodes: listening, connecting, readiness.

A socket here is a subset of `socket.socket` (but for `port`), reduced to what the network floor
uses. Sockets are non-blocking (accepted ones after `prepare_accepted`): an operation that would
have to wait raises BlockingIOError, and if the peer or the network has failed, another OSError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pykbroker.deferred import Deferred
from pykbroker.environment.files import FileSlice

Bytes = bytes | bytearray | memoryview


class StreamSocket(Protocol):
    """One end of an established stream."""

    def recv(self, size: int, /) -> bytes:
        """Return at most `size` received bytes; empty if the peer has ended its stream."""

    def recv_into(self, buffer: bytearray | memoryview, /) -> int:
        """Fill the front of `buffer`; return the number of bytes, 0 if the
        peer has ended its stream.
        """

    def send(self, payload: Bytes, flags: int = 0, /) -> int:
        """Pass bytes to the kernel; return how many it accepted."""

    def sendmsg(
        self, buffers: Sequence[Bytes], ancillary: tuple[()] = (), flags: int = 0, /
    ) -> int:
        """Pass several buffers to the kernel; return how many bytes it accepted."""

    def fileno(self) -> int:
        """Return the descriptor, -1 if closed; descriptor limits are checked against it."""

    def close(self) -> None:
        """Close the connection immediately."""


class ListeningSocket(Protocol):
    """A bound socket that accepts connections."""

    def accept(self) -> tuple[StreamSocket, tuple[str, int]]:
        """Return the next connection and its peer's address and port. Raises
        BlockingIOError if none waits.
        """

    def fileno(self) -> int:
        """Return the descriptor, -1 if closed."""

    @property
    def port(self) -> int:
        """Return the bound port, even if port 0 was requested."""

    def close(self) -> None:
        """Stop listening and release the port."""


class Transport(Protocol):
    """The network as seen by one node."""

    def listen(
        self, host: str, port: int, *, backlog: int, receive_buffer_bytes: int
    ) -> ListeningSocket:
        """Bind and listen; an empty host means every address. Raises OSError if it cannot bind."""

    def prepare_accepted(self, sock: StreamSocket, *, send_buffer_bytes: int) -> None:
        """Set the options of an accepted connection. Raises OSError if it is already closed."""

    def connect(self, host: str, port: int, *, timeout_ms: int) -> Deferred:
        """Open a connection; return a Deferred of the connected StreamSocket or of an OSError."""

    def add_reader(self, sock: StreamSocket | ListeningSocket, ready: Callable[[], None]) -> None:
        """Call `ready` in every turn in which `sock` is readable or has a connection to accept."""

    def remove_reader(self, sock: StreamSocket | ListeningSocket) -> None:
        """Stop calling `ready` for reads; does nothing if there is no reader."""

    def add_writer(self, sock: StreamSocket, ready: Callable[[], None]) -> None:
        """Call `ready` in every turn in which `sock` accepts bytes."""

    def remove_writer(self, sock: StreamSocket) -> None:
        """Stop calling `ready` for writes; does nothing if there is no writer."""

    def send_file(self, sock: StreamSocket, piece: FileSlice, position: int, size: int) -> int:
        """Send a part of a file without copying it in Python; return how many bytes were accepted,
        0 if the file ends at `position` or before.
        """

    @property
    def more_follows(self) -> int:
        """The flag for `send` and `sendmsg` that announces that more bytes
        follow immediately, or 0.
        """

    def addresses_of(self, host: str) -> list[str]:
        """Return the numeric addresses of a host. It blocks. Raises OSError if
        the name has none.
        """

    def own_host_name(self) -> str:
        """Return the name of this host that is advertised where none is configured."""

    @property
    def most_descriptors(self) -> int:
        """Return how many descriptors this process may open."""
