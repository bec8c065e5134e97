"""A listener: its bound socket, and the accepting of connections on it.

Binding and accepting are two steps, as in Kafka: a node binds before it touches its directories
(a port in use must leave no trace), and accepts when it can serve. Clients that come in between
wait in the backlog.
"""

from __future__ import annotations

import errno
import socket
from typing import TYPE_CHECKING

from pykbroker.errors import StartError
from pykbroker.network.connection import Connection

if TYPE_CHECKING:
    from pykbroker.network.connection_limits import ConnectionLimits
    from pykbroker.network.socket_server import SocketServer

# Fairness: at most this many connections are accepted at one readiness of the listening socket.
ACCEPTS_PER_TURN = 128
OUT_OF_DESCRIPTORS = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))
DESCRIPTOR_RETRY_SECONDS = 1.0
# Connections leave some descriptors to the log: without them a node loses its directories.
MOST_RESERVED = 256


def descriptors_for_connections() -> int:
    """Descriptors have the lowest free number: from this one on they are not for connections."""
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 31 if soft == resource.RLIM_INFINITY else soft - min(soft // 4, MOST_RESERVED)


class BindError(StartError):
    """A listener cannot be bound."""


class Listener:
    """One bound listening socket.

    `port` is the real port, also when port 0 was asked for. `is_controller` listeners serve the
    APIs of a controller, the others those of a broker.
    """

    __slots__ = ("host", "is_controller", "limits", "name", "port", "security_protocol", "sock")

    def __init__(
        self,
        name: str,
        host: str,
        port: int,
        security_protocol: str,
        limits: ConnectionLimits,
        *,
        is_controller: bool,
        backlog: int,
        receive_buffer_bytes: int,
    ) -> None:
        self.name = name
        self.host = host
        self.security_protocol = security_protocol
        self.limits = limits
        self.is_controller = is_controller
        try:
            self.sock = _bind(host, port, backlog, receive_buffer_bytes)
        except OSError as failure:
            reason = failure.strerror or str(failure)
            raise BindError(
                f"Socket server failed to bind to {host or '*'}:{port}: {reason}."
            ) from None
        self.port: int = self.sock.getsockname()[1]

    def close(self) -> None:
        """Give up the port."""
        self.sock.close()

    def __repr__(self) -> str:
        return f"{self.name}://{self.host}:{self.port}"


def _bind(host: str, port: int, backlog: int, receive_buffer_bytes: int) -> socket.socket:
    """A listening socket; an empty host means every address, IPv4 and IPv6."""
    address: tuple[str | bytes, int]
    if host:
        # As bytes, or the import of the codec for international names would cost 3 ms.
        name = host.encode() if host.isascii() else host
        family, _, _, _, found = socket.getaddrinfo(
            name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        address = (str(found[0]).encode(), port)
    elif socket.has_dualstack_ipv6():
        family, address = socket.AF_INET6, ("::", port)
    else:
        family, address = socket.AF_INET, ("", port)
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1 if host else 0)
        if receive_buffer_bytes > 0:  # before listen: accepted sockets inherit it
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        sock.setblocking(False)
        sock.bind(address)
        sock.listen(backlog)
    except BaseException:
        sock.close()
        raise
    return sock


class Acceptor:
    """Accepts the connections of one listener.

    State: accepting, or paused (a limit is reached, or the process is out of descriptors).
    """

    __slots__ = ("_accepting", "_server", "listener", "send_buffer_bytes")

    def __init__(self, server: SocketServer, listener: Listener, send_buffer_bytes: int) -> None:
        self._server = server
        self.listener = listener
        self.send_buffer_bytes = send_buffer_bytes
        self._accepting = False

    def start(self) -> None:
        """Accept from now on, as far as the limits allow."""
        if not self._accepting and self.listener.sock.fileno() >= 0:
            self._accepting = True
            self._server.loop.add_reader(self.listener.sock.fileno(), self._on_readable)

    def pause(self) -> None:
        """Leave new connections in the backlog."""
        if self._accepting:
            self._accepting = False
            self._server.loop.remove_reader(self.listener.sock.fileno())

    def stop(self) -> None:
        """Accept no more and give up the port."""
        self.pause()
        self.listener.close()

    def _on_readable(self) -> None:
        server = self._server
        listener = self.listener
        for _ in range(ACCEPTS_PER_TURN):
            if not listener.limits.may_accept(listener.name):
                self.pause()  # connection_closed() starts it again
                return
            try:
                sock, address = listener.sock.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as failure:
                if failure.errno in OUT_OF_DESCRIPTORS:
                    self.pause()
                    server.out_of_descriptors(self, DESCRIPTOR_RETRY_SECONDS)
                    return
                continue  # that one connection broke before we had it
            if sock.fileno() >= server.descriptor_limit:
                self.pause()
                server.out_of_descriptors(self, DESCRIPTOR_RETRY_SECONDS)
                sock.close()
                return
            self._admit(sock, address)

    def _admit(self, sock: socket.socket, address: tuple[str, int]) -> None:
        server = self._server
        host = address[0].removeprefix("::ffff:")  # an IPv4 peer on a dual-stack socket
        if not self.listener.limits.opened(self.listener.name, host):
            sock.close()
            server.refused_address(self.listener, host, address[1])
            return
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if self.send_buffer_bytes > 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.send_buffer_bytes)
        except OSError:  # gone already
            sock.close()
            self.listener.limits.closed(self.listener.name, host)
            return
        server.connection_opened(Connection(server, self.listener, sock, host, address[1]))
