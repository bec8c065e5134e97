"""The sockets of a simulated network, as the kernel of a machine would keep them.

Reading and writing behave as on a non-blocking TCP socket: BlockingIOError if the call would wait,
an OSError if the connection is broken, `b""` at the end of the peer's stream. A socket that is
closed with unread bytes resets its connection, and so do bytes that arrive at a closed socket.
"""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable, Sequence

from pykbroker.environment.transport import Bytes
from pykbroker.testing.world.links import Links
from pykbroker.testing.world.virtual_time import Event, Process

BACKLOG_FULL = 128
LARGEST_SEGMENT = 16_384
RETRANSMIT_US = 250_000
TURN_US = 5
"""How long a turn of an event loop takes: readiness is reported once a turn."""


class NetworkHost:
    """A machine in the network: its address, its ports and the ends of its connections."""

    __slots__ = (
        "address",
        "endpoints",
        "is_up",
        "next_descriptor",
        "next_port",
        "number_address",
        "ports",
    )

    def __init__(self, address: str, number_address: str) -> None:
        self.address = address
        """Its name; nodes and clients connect to it."""
        self.number_address = number_address
        """What the accepting end of a connection sees as its peer."""
        self.is_up = True
        self.ports: dict[int, Port] = {}
        self.endpoints: dict[int, Endpoint] = {}
        """By descriptor."""
        self.next_descriptor = 10
        self.next_port = 40_000

    def take_descriptor(self) -> int:
        """Return a number for a new socket."""
        self.next_descriptor += 1
        return self.next_descriptor


class Stream:
    """One direction of a connection: bytes in flight, and those that wait to be read."""

    __slots__ = (
        "_last_us",
        "_network",
        "capacity",
        "has_ended",
        "receiver",
        "sender",
        "sent",
        "unread",
    )

    def __init__(self, network: Links, sender: Endpoint, receiver: Endpoint, capacity: int) -> None:
        self._network = network
        self.sender = sender
        self.receiver = receiver
        self.capacity = capacity
        self.sent: deque[bytes | None] = deque()
        """On its way; None is the end of the stream."""
        self.unread = bytearray()
        self.has_ended = False
        self._last_us = 0

    @property
    def room(self) -> int:
        """Return how many bytes the sender may send now."""
        return self.capacity - len(self.unread) - sum(len(at) for at in self.sent if at)

    def put(self, payload: bytes | None) -> None:
        """Send a segment; None ends the stream. Segments arrive in order."""
        network = self._network
        self.sent.append(payload)
        link = network.link(self.sender.host.address, self.receiver.host.address)
        delay_us = link.base_us + network.dice.randrange(link.jitter_us + 1)
        self._last_us = max(self._last_us, network.queue.now_us + delay_us)
        network.queue.at(self._last_us, None, self._arrive)

    def _arrive(self) -> None:
        """Deliver the oldest segment, if the link is not cut and the receiver's host is up."""
        network = self._network
        link = network.link(self.sender.host.address, self.receiver.host.address)
        if link.is_cut:
            link.held.append((self._arrive, ()))
            return
        if not self.sent:
            return  # the connection was reset meanwhile
        receiver = self.receiver
        if not receiver.host.is_up:
            network.queue.after(RETRANSMIT_US, None, self._arrive)
            return
        payload = self.sent.popleft()
        if receiver.has_vanished or receiver.is_closed:
            if payload is not None:
                self._refuse()
            return
        if payload is None:
            self.has_ended = True
        else:
            self.unread += payload
            if network.on_segment is not None:
                network.on_segment(self.sender.host.address, receiver.host.address, payload)
        receiver.poke_reader()

    def _refuse(self) -> None:
        """Respond with a reset, because the receiver no longer knows this connection."""
        network = self._network
        network.carry(
            self.receiver.host.address, self.sender.host.address, self.sender.reset_arrived
        )


class Endpoint:
    """One end of a connection (`StreamSocket`)."""

    __slots__ = (
        "_descriptor",
        "_failure",
        "_pending_reader",
        "_pending_writer",
        "_reader",
        "_writer",
        "has_vanished",
        "host",
        "incoming",
        "is_closed",
        "network",
        "outgoing",
        "peer",
        "process",
    )

    incoming: Stream
    outgoing: Stream

    def __init__(
        self, network: Links, host: NetworkHost, process: Process, peer: tuple[str, int]
    ) -> None:
        self.network = network
        self.host = host
        self.process = process
        self.peer = peer
        self.is_closed = False
        self.has_vanished = False
        self._failure: tuple[int, str] | None = None
        self._reader: Callable[[], None] | None = None
        self._writer: Callable[[], None] | None = None
        self._pending_reader: Event | None = None
        self._pending_writer: Event | None = None
        self._descriptor = host.take_descriptor()
        host.endpoints[self._descriptor] = self

    # ---------------------------------------------------------------- as a socket

    def recv(self, size: int, /) -> bytes:
        """See `StreamSocket`."""
        self._check()
        unread = self.incoming.unread
        if not unread:
            if self.incoming.has_ended:
                return b""
            raise BlockingIOError(errno.EAGAIN, "nothing has arrived")
        taken = bytes(unread[:size])
        del unread[:size]
        self.incoming.sender.poke_writer()
        return taken

    def recv_into(self, buffer: bytearray | memoryview, /) -> int:
        """See `StreamSocket`."""
        received = self.recv(len(buffer))
        buffer[: len(received)] = received
        return len(received)

    def send(self, payload: Bytes, flags: int = 0, /) -> int:
        """See `StreamSocket`."""
        self._check()
        room = self.outgoing.room
        if room <= 0:
            raise BlockingIOError(errno.EAGAIN, "the buffer is full")
        taken = bytes(payload[:room])
        position = 0
        while position < len(taken):
            size = self.network.dice.randrange(1, LARGEST_SEGMENT)
            self.outgoing.put(taken[position : position + size])
            position += size
        return len(taken)

    def sendmsg(
        self, buffers: Sequence[Bytes], ancillary: tuple[()] = (), flags: int = 0, /
    ) -> int:
        """See `StreamSocket`."""
        return self.send(b"".join(buffers))

    def fileno(self) -> int:
        """See `StreamSocket`."""
        return -1 if self.is_closed else self._descriptor

    def close(self) -> None:
        """See `StreamSocket`."""
        if self.is_closed:
            return
        self._forget()
        if self._failure is not None or self.has_vanished:
            return
        if self.incoming.unread:
            self.reset_by_kernel()
        else:
            self.outgoing.put(None)

    def _check(self) -> None:
        if self.is_closed:
            raise OSError(errno.EBADF, "Bad file descriptor")
        if self._failure is not None:
            raise OSError(*self._failure)

    # ---------------------------------------------------------------- readiness

    @property
    def is_readable(self) -> bool:
        """Return whether `recv` would return or fail at once, if this is open."""
        incoming = self.incoming
        return bool(incoming.unread) or incoming.has_ended or self._failure is not None

    @property
    def is_writable(self) -> bool:
        """Return whether `send` would accept bytes or fail at once, if this is open."""
        return self._failure is not None or self.outgoing.room > 0

    def set_reader(self, ready: Callable[[], None] | None) -> None:
        """Call `ready` whenever this can be read; None: stop calling."""
        self._reader = ready
        self.poke_reader()

    def set_writer(self, ready: Callable[[], None] | None) -> None:
        """Call `ready` whenever this accepts bytes; None: stop calling."""
        self._writer = ready
        self.poke_writer()

    def poke_reader(self, delay_us: int = 0) -> None:
        """Call the reader after a change, if this can be read."""
        if self._reader is not None and self._pending_reader is None and self.is_readable:
            queue = self.network.queue
            self._pending_reader = queue.after(delay_us, self.process, self._call_reader)

    def poke_writer(self, delay_us: int = 0) -> None:
        """Call the writer after a change, if this accepts bytes."""
        if self._writer is not None and self._pending_writer is None and self.is_writable:
            queue = self.network.queue
            self._pending_writer = queue.after(delay_us, self.process, self._call_writer)

    def _call_reader(self) -> None:
        self._pending_reader = None
        if self._reader is not None and self.is_readable:
            self._reader()
            self.poke_reader(TURN_US)

    def _call_writer(self) -> None:
        self._pending_writer = None
        if self._writer is not None and self.is_writable:
            self._writer()
            self.poke_writer(TURN_US)

    # ---------------------------------------------------------------- what the network does

    @property
    def is_established(self) -> bool:
        """Return whether the connection is usable, as far as this end knows."""
        return not self.is_closed and not self.has_vanished and self._failure is None

    def reset_arrived(self) -> None:
        """Handle a reset by the other end or the network."""
        if not self.is_established:
            return
        self._failure = (errno.ECONNRESET, "Connection reset by peer")
        self.incoming.unread.clear()
        self.poke_reader()
        self.poke_writer()

    def reset_by_kernel(self) -> None:
        """Break the connection: what is in flight is lost, and the peer is notified."""
        self._forget()
        self.outgoing.sent.clear()
        peer = self.outgoing.receiver
        self.network.carry(self.host.address, peer.host.address, peer.reset_arrived)

    def break_both(self) -> None:
        """Break the connection; each end notices at its own time."""
        peer = self.outgoing.receiver
        for stream in (self.outgoing, self.incoming):
            stream.sent.clear()
        self.network.carry(peer.host.address, self.host.address, self.reset_arrived)
        self.network.carry(self.host.address, peer.host.address, peer.reset_arrived)

    def vanish(self) -> None:
        """Disappear with the power of the machine: no peer is notified."""
        self.has_vanished = True
        self._forget()

    def _forget(self) -> None:
        self.is_closed = True
        self._reader = self._writer = None
        self.host.endpoints.pop(self._descriptor, None)


class Port:
    """A bound socket that accepts connections (`ListeningSocket`)."""

    __slots__ = (
        "_backlog",
        "_descriptor",
        "_host",
        "_network",
        "_pending",
        "_reader",
        "_waiting",
        "is_closed",
        "port",
        "process",
    )

    def __init__(
        self, network: Links, host: NetworkHost, process: Process, port: int, backlog: int
    ) -> None:
        self._network = network
        self._host = host
        self._backlog = backlog
        self._descriptor = host.take_descriptor()
        self._waiting: deque[Endpoint] = deque()
        self._reader: Callable[[], None] | None = None
        self._pending: Event | None = None
        self.is_closed = False
        self.process = process
        self.port = port

    @property
    def backlog_is_full(self) -> bool:
        """Return whether the maximum number of connections is waiting."""
        return len(self._waiting) >= self._backlog

    def arrived(self, endpoint: Endpoint) -> None:
        """Queue a new connection to be accepted."""
        self._waiting.append(endpoint)
        self._poke()

    def accept(self) -> tuple[Endpoint, tuple[str, int]]:
        """See `ListeningSocket`."""
        if self.is_closed:
            raise OSError(errno.EBADF, "Bad file descriptor")
        if not self._waiting:
            raise BlockingIOError(errno.EAGAIN, "no connection waits")
        endpoint = self._waiting.popleft()
        return endpoint, endpoint.peer

    def fileno(self) -> int:
        """See `ListeningSocket`."""
        return -1 if self.is_closed else self._descriptor

    def close(self) -> None:
        """See `ListeningSocket`. Connections that were not accepted are reset."""
        if self.is_closed:
            return
        self.is_closed = True
        self._reader = None
        self._host.ports.pop(self.port, None)
        while self._waiting:
            self._waiting.popleft().reset_by_kernel()

    def set_reader(self, ready: Callable[[], None] | None) -> None:
        """Call `ready` whenever a connection waits; None: stop calling."""
        self._reader = ready
        self._poke()

    def _poke(self, delay_us: int = 0) -> None:
        if self._reader is not None and self._pending is None and self._waiting:
            queue = self._network.queue
            self._pending = queue.after(delay_us, self.process, self._call)

    def _call(self) -> None:
        self._pending = None
        if self._reader is not None and self._waiting:
            self._reader()
            self._poke(TURN_US)
