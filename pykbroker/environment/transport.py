"""Streams of bytes between nodes: listening, connecting, readiness.

A socket here is what `socket.socket` is, reduced to what the network floor uses. All of them are
non-blocking: where the operation would have to wait, it raises BlockingIOError; when the peer or
the network has failed, another OSError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pykbroker.deferred import Deferred
from pykbroker.environment.files import FileSlice

Bytes = bytes | bytearray | memoryview


class StreamSocket(Protocol):
    """One end of an established (or connecting) stream."""

    def recv(self, size: int, /) -> bytes:
        """At most `size` received bytes; empty when the peer has ended its stream."""

    def recv_into(self, buffer: bytearray | memoryview, /) -> int:
        """Fill the front of `buffer`; how many bytes, 0 when the peer has ended its stream."""

    def send(self, payload: Bytes, flags: int = 0, /) -> int:
        """Hand bytes to the kernel; how many it took."""

    def sendmsg(
        self, buffers: Sequence[Bytes], ancillary: tuple[()] = (), flags: int = 0, /
    ) -> int:
        """Hand several buffers to the kernel; how many bytes it took."""

    def fileno(self) -> int:
        """The descriptor, -1 when closed; limits on descriptors look at it."""

    def close(self) -> None:
        """Close at once."""


class ListeningSocket(Protocol):
    """A bound socket that accepts connections."""

    def accept(self) -> tuple[StreamSocket, tuple[str, int]]:
        """The next connection and its peer's address and port. BlockingIOError: none waits."""

    def fileno(self) -> int:
        """The descriptor, -1 when closed."""

    @property
    def port(self) -> int:
        """The bound port, also when port 0 was asked for."""

    def close(self) -> None:
        """Give up the port."""


class Transport(Protocol):
    """The network as one node sees it."""

    def listen(
        self, host: str, port: int, *, backlog: int, receive_buffer_bytes: int
    ) -> ListeningSocket:
        """Bind and listen; an empty host means every address. OSError: it cannot be bound."""

    def prepare_accepted(self, sock: StreamSocket, *, send_buffer_bytes: int) -> None:
        """Set the options of an accepted connection. OSError: it is gone already."""

    def connect(self, host: str, port: int, *, timeout_ms: int) -> Deferred:
        """Open a connection: a Deferred of the connected StreamSocket, or of an OSError."""

    def add_reader(self, sock: StreamSocket | ListeningSocket, ready: Callable[[], None]) -> None:
        """Call `ready` in every turn in which `sock` can be read or accepted from."""

    def remove_reader(self, sock: StreamSocket | ListeningSocket) -> None:
        """Stop calling; harmless when nothing is called."""

    def add_writer(self, sock: StreamSocket, ready: Callable[[], None]) -> None:
        """Call `ready` in every turn in which `sock` takes bytes."""

    def remove_writer(self, sock: StreamSocket) -> None:
        """Stop calling; harmless when nothing is called."""

    def send_file(self, sock: StreamSocket, piece: FileSlice, position: int, size: int) -> int:
        """Hand a part of a file to the kernel without a copy in Python; how many bytes it took,
        0 when the file ends before `position`."""

    @property
    def more_follows(self) -> int:
        """The flag of `send` and `sendmsg` that says that more bytes follow at once, or 0."""

    def addresses_of(self, host: str) -> list[str]:
        """The numeric addresses of a host. It blocks. OSError: the name has none."""

    def own_host_name(self) -> str:
        """The name under which others reach this host."""

    @property
    def most_descriptors(self) -> int:
        """How many descriptors this process may open."""
