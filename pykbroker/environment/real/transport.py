"""The network of the operating system: non-blocking TCP sockets on an asyncio event loop.

The loop only reports readiness; the connections own their sockets.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from functools import partial
from typing import Protocol

from pykbroker.deferred import Deferred
from pykbroker.environment.background import Threads
from pykbroker.environment.files import FileSlice
from pykbroker.environment.transport import ListeningSocket, StreamSocket

_MSG_MORE: int = getattr(socket, "MSG_MORE", 0)


class HasDescriptor(Protocol):
    """A socket as the event loop sees it."""

    def fileno(self) -> int:
        """Return the descriptor."""


class RealListeningSocket:
    """A bound TCP socket."""

    __slots__ = ("_socket", "accept", "fileno", "port")

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self.accept = sock.accept
        self.fileno = sock.fileno
        self.port: int = sock.getsockname()[1]

    def close(self) -> None:
        """See `ListeningSocket`."""
        self._socket.close()


class RealTransport:
    """Sockets of the operating system; see `environment/transport.py`.
    `threads` resolves host names.
    """

    __slots__ = ("_loop", "_threads")

    def __init__(self, loop: asyncio.AbstractEventLoop, threads: Threads) -> None:
        self._loop = loop
        self._threads = threads

    # ---------------------------------------------------------------- listening

    def listen(
        self, host: str, port: int, *, backlog: int, receive_buffer_bytes: int
    ) -> ListeningSocket:
        """See `Transport`."""
        address: tuple[str | bytes, int]
        if host:
            # As bytes; otherwise the import of the codec for international names would cost 3 ms.
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
        return RealListeningSocket(sock)

    def prepare_accepted(self, sock: StreamSocket, *, send_buffer_bytes: int) -> None:
        """See `Transport`."""
        assert isinstance(sock, socket.socket)
        sock.setblocking(False)
        set_options(sock, send_buffer_bytes)

    # ---------------------------------------------------------------- connecting

    def connect(self, host: str, port: int, *, timeout_ms: int) -> Deferred:
        """See `Transport`. The addresses of a name are tried one after the other, each for up to
        `timeout_ms`.
        """
        deferred = Deferred()
        if is_numeric(host):
            self._try_next([host], port, timeout_ms, deferred, None)
            return deferred

        def resolved(found: object) -> None:
            if isinstance(found, list):
                self._try_next(found, port, timeout_ms, deferred, None)
            else:
                deferred.resolve(found)

        self._threads.run(partial(self.addresses_of, host)).on_resolved(resolved)
        return deferred

    def _try_next(
        self,
        addresses: list[str],
        port: int,
        timeout_ms: int,
        deferred: Deferred,
        failure: OSError | None,
    ) -> None:
        if not addresses:
            deferred.resolve(failure or OSError("the host has no address"))
            return

        def outcome(found: object) -> None:
            if isinstance(found, OSError):
                self._try_next(addresses[1:], port, timeout_ms, deferred, found)
            else:
                deferred.resolve(found)

        Connecting(self._loop, addresses[0], port, timeout_ms).outcome.on_resolved(outcome)

    def addresses_of(self, host: str) -> list[str]:
        """See `Transport`."""
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except UnicodeError as fault:  # no host name can have this form
            raise OSError(str(fault)) from fault
        return list(dict.fromkeys(str(at[0]) for *_, at in found))

    def own_host_name(self) -> str:
        """See `Transport`."""
        return socket.getfqdn()

    # ---------------------------------------------------------------- readiness and bytes

    def add_reader(self, sock: HasDescriptor, ready: Callable[[], None]) -> None:
        """See `Transport`."""
        self._loop.add_reader(sock.fileno(), ready)

    def remove_reader(self, sock: HasDescriptor) -> None:
        """See `Transport`."""
        self._loop.remove_reader(sock.fileno())

    def add_writer(self, sock: HasDescriptor, ready: Callable[[], None]) -> None:
        """See `Transport`."""
        self._loop.add_writer(sock.fileno(), ready)

    def remove_writer(self, sock: HasDescriptor) -> None:
        """See `Transport`."""
        self._loop.remove_writer(sock.fileno())

    def send_file(self, sock: HasDescriptor, piece: FileSlice, position: int, size: int) -> int:
        """See `Transport`."""
        return os.sendfile(sock.fileno(), piece.fileno(), position, size)

    @property
    def more_follows(self) -> int:
        """See `Transport`."""
        return _MSG_MORE

    @property
    def most_descriptors(self) -> int:
        """See `Transport`."""
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return 1 << 31 if soft == resource.RLIM_INFINITY else soft


class Connecting:
    """One connection attempt; `outcome` is resolved with the socket or an OSError."""

    __slots__ = ("_loop", "_socket", "_timer", "outcome")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, address: str, port: int, timeout_ms: int
    ) -> None:
        self._loop = loop
        self.outcome = Deferred()
        self._timer: asyncio.TimerHandle | None = None
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        try:
            self._socket = socket.socket(family, socket.SOCK_STREAM)
        except OSError as failure:  # no file descriptor is free
            self.outcome.resolve(failure)
            return
        try:
            self._socket.setblocking(False)
            set_options(self._socket, 0)
            self._socket.connect((address, port))
        except BlockingIOError:
            self._timer = loop.call_later(timeout_ms / 1000, self._timed_out)
            loop.add_writer(self._socket.fileno(), self._writable)
        except OSError as failure:
            self._socket.close()
            self.outcome.resolve(failure)
        else:
            self.outcome.resolve(self._socket)

    def _writable(self) -> None:
        self._stop_waiting()
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            self._socket.close()
            self.outcome.resolve(OSError(code, os.strerror(code)))
        else:
            self.outcome.resolve(self._socket)

    def _timed_out(self) -> None:
        self._stop_waiting()
        self._socket.close()
        self.outcome.resolve(TimeoutError("the connection was not established in time"))

    def _stop_waiting(self) -> None:
        self._loop.remove_writer(self._socket.fileno())
        if self._timer is not None:
            self._timer.cancel()


def set_options(sock: socket.socket, send_buffer_bytes: int) -> None:
    """Set the options that Kafka sets on every connection. Raises OSError if
    the peer is already gone.
    """
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if send_buffer_bytes > 0:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)


def is_numeric(host: str) -> bool:
    """Return whether this is an address that needs no look-up."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except (OSError, UnicodeError):
            continue
        return True
    return False
