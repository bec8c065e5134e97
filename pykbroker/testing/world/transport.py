"""The network as one simulated process sees it (`environment/transport.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from pykbroker.deferred import Deferred
from pykbroker.environment.files import FileSlice
from pykbroker.environment.transport import ListeningSocket, StreamSocket
from pykbroker.testing.world.network import Network
from pykbroker.testing.world.sockets import Endpoint, NetworkHost, Port
from pykbroker.testing.world.virtual_time import Process

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


class SimulatedTransport:
    """See `Transport`. The address of a host is its name."""

    __slots__ = ("_host", "_network", "_process", "more_follows", "most_descriptors")

    def __init__(self, network: Network, host: NetworkHost, process: Process) -> None:
        self._network = network
        self._host = host
        self._process = process
        self.more_follows = 0
        self.most_descriptors = 1 << 31

    def listen(
        self, host: str, port: int, *, backlog: int, receive_buffer_bytes: int
    ) -> ListeningSocket:
        """See `Transport`. Any host means every address."""
        return self._network.listen(self._process, self._host, port, backlog)

    def prepare_accepted(self, sock: StreamSocket, *, send_buffer_bytes: int) -> None:
        """Do nothing: there are no such options."""

    def connect(self, host: str, port: int, *, timeout_ms: int) -> Deferred:
        """See `Transport`."""
        address = self._host.address if host in LOCAL_NAMES else host
        return self._network.connect(self._process, self._host, address, port, timeout_ms)

    def add_reader(self, sock: StreamSocket | ListeningSocket, ready: Callable[[], None]) -> None:
        """See `Transport`."""
        cast("Endpoint | Port", sock).set_reader(ready)

    def remove_reader(self, sock: StreamSocket | ListeningSocket) -> None:
        """See `Transport`."""
        cast("Endpoint | Port", sock).set_reader(None)

    def add_writer(self, sock: StreamSocket, ready: Callable[[], None]) -> None:
        """See `Transport`."""
        cast("Endpoint", sock).set_writer(ready)

    def remove_writer(self, sock: StreamSocket) -> None:
        """See `Transport`."""
        cast("Endpoint", sock).set_writer(None)

    def send_file(self, sock: StreamSocket, piece: FileSlice, position: int, size: int) -> int:
        """See `Transport`."""
        source = piece.source
        assert source is not None, "a released slice has no file"
        content = source.pread(size, position)
        return sock.send(content) if content else 0

    def addresses_of(self, host: str) -> list[str]:
        """See `Transport`."""
        if host in LOCAL_NAMES:
            return [self._host.address]
        if host not in self._network.hosts:
            raise OSError(f"there is no host {host}")
        return [host]

    def own_host_name(self) -> str:
        """See `Transport`."""
        return self._host.address
