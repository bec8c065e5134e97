"""Accepts the connections of a listener.

Binding and accepting are two steps, as in Kafka. A node binds before it touches its directories (a
port in use must leave no trace), and accepts when it can serve. Clients that connect in between
wait in the backlog.
"""

from __future__ import annotations

import errno
from typing import Protocol

from pykbroker.environment.transport import StreamSocket, Transport
from pykbroker.network.listener import Listener

# Fairness: at most this many connections are accepted each time the listening socket is ready.
ACCEPTS_PER_TURN = 128
OUT_OF_DESCRIPTORS = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))
DESCRIPTOR_RETRY_MS = 1000
# Connections leave some descriptors to the log: without them a node would lose its directories.
MOST_RESERVED = 256


def descriptors_for_connections(most: int) -> int:
    """Return the first descriptor number reserved for other uses; descriptors
    get the lowest free number.
    """
    return most - min(most // 4, MOST_RESERVED)


class AcceptorOwner(Protocol):
    """The owner of an acceptor: the socket server."""

    @property
    def descriptor_limit(self) -> int:
        """Descriptors from this number on are not used for connections."""

    def accepted(self, listener: Listener, sock: StreamSocket, host: str, port: int) -> None:
        """A connection was accepted and counted."""

    def refused_address(self, listener: Listener, address: str, port: int) -> None:
        """An address has reached its `max.connections.per.ip`."""

    def out_of_descriptors(self, acceptor: Acceptor) -> None:
        """No descriptor, or no memory of the kernel, is left for connections."""


class Acceptor:
    """Accepts the connections of one listener.

    State: accepting, or not: before `start`, while a limit is reached or no descriptor is left.
    """

    __slots__ = ("_accepting", "_server", "_transport", "listener", "send_buffer_bytes")

    def __init__(
        self,
        server: AcceptorOwner,
        transport: Transport,
        listener: Listener,
        send_buffer_bytes: int,
    ) -> None:
        self._server = server
        self._transport = transport
        self.listener = listener
        self.send_buffer_bytes = send_buffer_bytes
        self._accepting = False

    def start(self) -> None:
        """Start accepting, as far as the limits allow."""
        if not self._accepting and self.listener.sock.fileno() >= 0:
            self._accepting = True
            self._transport.add_reader(self.listener.sock, self._on_readable)

    def pause(self) -> None:
        """Leave new connections in the backlog."""
        if self._accepting:
            self._accepting = False
            self._transport.remove_reader(self.listener.sock)

    def stop(self) -> None:
        """Stop accepting and release the port."""
        self.pause()
        self.listener.close()

    def _on_readable(self) -> None:
        server = self._server
        listener = self.listener
        for _ in range(ACCEPTS_PER_TURN):
            if not listener.limits.may_accept(listener.name):
                self.pause()  # the owner starts it again when one closes
                return
            try:
                sock, address = listener.sock.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as failure:
                if failure.errno in OUT_OF_DESCRIPTORS:
                    self.pause()
                    server.out_of_descriptors(self)
                    return
                continue  # that connection broke before it was accepted
            if sock.fileno() >= server.descriptor_limit:
                self.pause()
                server.out_of_descriptors(self)
                sock.close()
                return
            self._admit(sock, address)

    def _admit(self, sock: StreamSocket, address: tuple[str, int]) -> None:
        server = self._server
        host = address[0].removeprefix("::ffff:")  # an IPv4 peer on a dual-stack socket
        if not self.listener.limits.opened(self.listener.name, host):
            sock.close()
            server.refused_address(self.listener, host, address[1])
            return
        try:
            self._transport.prepare_accepted(sock, send_buffer_bytes=self.send_buffer_bytes)
        except OSError:  # already gone
            sock.close()
            self.listener.limits.closed(self.listener.name, host)
            return
        server.accepted(self.listener, sock, host, address[1])
