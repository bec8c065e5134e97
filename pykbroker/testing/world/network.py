"""The network of a world: hosts, the links between them, and streams of bytes.

    Stream, Endpoint, Port    the two directions and ends of a connection, and a bound socket
                              (`sockets.py`)
    Link                      one direction between two hosts: how long packets take, or that none
                              get through (`links.py`)

Transports call `connect` and `listen`; readiness is reported in the name of the process that owns
the socket. Invariants: within a stream bytes keep their order and are not lost while the connection
stands; between streams any order is possible. What a cut link holds back is sent again when it is
healed, as TCP would.
"""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.deferred import Deferred
from pykbroker.testing.world.links import Links
from pykbroker.testing.world.sockets import BACKLOG_FULL, Endpoint, NetworkHost, Port, Stream
from pykbroker.testing.world.virtual_time import EventQueue, Process

if TYPE_CHECKING:
    from pykbroker.testing.world.randomness import Dice

SYN_RETRY_US = 1_000_000


class Network(Links):
    """The simulated network of a world."""

    def __init__(self, queue: EventQueue, dice: Dice) -> None:
        super().__init__(queue, dice)
        self.hosts: dict[str, NetworkHost] = {}

    def add_host(self, address: str) -> NetworkHost:
        """Add a machine."""
        host = self.hosts[address] = NetworkHost(address, f"10.0.0.{len(self.hosts) + 1}")
        return host

    # ---------------------------------------------------------------- connecting

    def connect(
        self, process: Process, client: NetworkHost, address: str, port: int, timeout_ms: int
    ) -> Deferred:
        """See `Transport.connect`."""
        outcome = Deferred()

        def settle(value: Endpoint | OSError) -> None:
            timer.cancel()
            if not outcome.done and process.is_alive:
                outcome.resolve(value)
            elif isinstance(value, Endpoint):
                value.reset_by_kernel()

        def time_out() -> None:
            settle(TimeoutError(errno.ETIMEDOUT, "Connection timed out"))

        timer = self.queue.after(timeout_ms * 1000, process, time_out)
        self._send_syn(process, client, address, port, outcome, settle)
        return outcome

    def _send_syn(
        self,
        process: Process,
        client: NetworkHost,
        address: str,
        port: int,
        outcome: Deferred,
        settle: Callable[[Endpoint | OSError], None],
    ) -> None:
        if outcome.done or not process.is_alive:
            return

        def send_again() -> None:
            self._send_syn(process, client, address, port, outcome, settle)

        def arrived() -> None:
            server = self.hosts.get(address)
            listening = None if server is None else server.ports.get(port)
            if server is not None and server.is_up and listening is None:
                refusal = ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
                self.carry(address, client.address, settle, refusal)
            elif server is None or listening is None or listening.backlog_is_full:
                self.queue.after(SYN_RETRY_US, process, send_again)  # no answer
            elif not outcome.done:
                near = self._pair(process, client, server, listening)
                self.carry(address, client.address, settle, near)

        self.carry(client.address, address, arrived)

    def _pair(
        self, process: Process, client: NetworkHost, server: NetworkHost, listening: Port
    ) -> Endpoint:
        """Return the near end of a new connection, whose far end waits to be accepted."""
        client.next_port += 1
        near = Endpoint(self, client, process, (server.address, listening.port))
        far = Endpoint(self, server, listening.process, (client.number_address, client.next_port))
        capacity = self.dice.choice((2_048, 16_384, 65_536, 262_144))
        near.outgoing = far.incoming = Stream(self, near, far, capacity)
        far.outgoing = near.incoming = Stream(self, far, near, capacity)
        listening.arrived(far)
        return near

    def listen(self, process: Process, host: NetworkHost, port: int, backlog: int) -> Port:
        """See `Transport.listen`."""
        if port == 0:
            port = next(free for free in range(30_000, 40_000) if free not in host.ports)
        if port in host.ports:
            raise OSError(errno.EADDRINUSE, "Address already in use")
        bound = host.ports[port] = Port(self, host, process, port, min(backlog, BACKLOG_FULL))
        return bound

    # ---------------------------------------------------------------- faults

    def cut(self, sender: str, receiver: str) -> None:
        """Stop all packets in this direction."""
        self.link(sender, receiver).is_cut = True

    def heal(self, sender: str, receiver: str) -> None:
        """Let packets through; what was held back is sent again."""
        link = self.link(sender, receiver)
        if link.is_cut:
            link.is_cut = False
            held, link.held = link.held, deque()
            for arrive, arguments in held:
                self.carry(sender, receiver, arrive, *arguments)

    def heal_all(self) -> None:
        """Restore every link to its state at the start of the world."""
        for (sender, receiver), link in self._links.items():
            link.jitter_us = link.base_us
            self.heal(sender, receiver)

    def slow(self, sender: str, receiver: str, jitter_us: int) -> None:
        """Let packets of this direction take up to `jitter_us` longer than the base delay."""
        self.link(sender, receiver).jitter_us = jitter_us

    def connections(self) -> list[Endpoint]:
        """Return the ends of all connections that know of no failure, in a fixed order."""
        return [
            endpoint
            for _, host in sorted(self.hosts.items())
            for _, endpoint in sorted(host.endpoints.items())
            if endpoint.is_established
        ]

    def reset_half_open(self) -> None:
        """Break every connection whose other end has vanished, as TCP keep-alive does in time: a
        response that is awaited on it never comes.
        """
        for endpoint in self.connections():
            if endpoint.outgoing.receiver.has_vanished:
                endpoint.reset_arrived()

    def end_process(self, host: NetworkHost, process: Process) -> None:
        """Close the sockets and ports of a process that has ended, as its kernel does."""
        for port in [port for port in host.ports.values() if port.process is process]:
            port.close()
        for _, endpoint in sorted(host.endpoints.items()):
            if endpoint.process is process:
                endpoint.close()

    def power_off(self, host: NetworkHost) -> None:
        """Stop the machine silently: its peers are not notified."""
        host.is_up = False
        host.ports.clear()
        for endpoint in list(host.endpoints.values()):
            endpoint.vanish()

    def power_on(self, host: NetworkHost) -> None:
        """Let the machine receive packets; it does not know connections from before `power_off`."""
        host.is_up = True
