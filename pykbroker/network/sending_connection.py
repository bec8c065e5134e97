"""The sending half of a connection: the waiting replies, and how they are sent.

State   the replies of this turn; the queue of unsent parts (`SendQueue`).
In      `reply`, `reply_parts`, `no_reply` by the worker; `flush` at the end of its turn; readiness.
Out     bytes on the socket; calls to the reading half when a request is answered, when everything
        has been sent, and when the connection is lost.
Invariants: those of `connection.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial

from pykbroker.environment.files import FileCutShort
from pykbroker.environment.transport import StreamSocket
from pykbroker.network.connection_resources import ConnectionResources
from pykbroker.network.send import BLOCKED, SENT, Part, SendQueue

# How many bytes of replies of one turn may accumulate before the next frame has to wait for the
# flush.
REPLY_BYTES_PER_TURN = 256 * 1024


class SendingConnection(ABC):
    """The sending half of a connection."""

    __slots__ = (
        "_blocked",
        "_flush_due",
        "_monotonic_ns",
        "_outgoing",
        "_replies",
        "_reply_bytes",
        "_resources",
        "_socket",
        "_transport",
        "closed",
        "last_active_ns",
    )

    def __init__(self, resources: ConnectionResources, sock: StreamSocket) -> None:
        self._resources = resources
        self._transport = resources.transport
        self._monotonic_ns = resources.clock.monotonic_ns
        self._socket = sock
        self._replies: list[bytearray] = []
        self._reply_bytes = 0
        self._outgoing: SendQueue | None = None
        self._flush_due = False
        self._blocked = False
        self.closed = False
        self.last_active_ns = self._monotonic_ns()

    @abstractmethod
    def _answered(self, over: bool) -> None:
        """Handle that the request is answered; `over`: too many bytes are unsent
        for another one.
        """

    @abstractmethod
    def _flushed(self) -> None:
        """Handle that everything was sent; called after a `SendQueue` was needed, and where
        `_holds_back` is true.
        """

    @abstractmethod
    def _holds_back(self) -> bool:
        """Return whether `_flushed` has something to resume."""

    @abstractmethod
    def _lost(self, failure: OSError) -> None:
        """Handle a broken connection."""

    @abstractmethod
    def abandon(self, reason: str) -> None:
        """Close the connection because of a local failure."""

    @abstractmethod
    def _our_bug(self) -> None:
        """Close the connection because of the current exception."""

    def reply(self, payload: bytearray) -> None:
        """Queue the framed reply of the request in flight."""
        if self.closed:
            return
        size = len(payload)
        if self._outgoing is None:
            self._replies.append(payload)
            size += self._reply_bytes
            self._reply_bytes = size
        else:
            self._outgoing.add((payload,), size)
            size = self._outgoing.pending_bytes
        self._answered(size > REPLY_BYTES_PER_TURN)

    def reply_parts(self, parts: Sequence[Part], size: int) -> None:
        """Queue a framed reply of `size` bytes in parts; some may be slices of files."""
        if self.closed:
            for part in parts:
                if not isinstance(part, (bytes, bytearray, memoryview)):
                    part.release()
            return
        outgoing = self._send_queue()
        outgoing.add(parts, size)
        self._answered(outgoing.pending_bytes > REPLY_BYTES_PER_TURN)

    def no_reply(self) -> None:
        """Complete a request that has no reply (Produce with acks=0) and continue with the next."""
        if not self.closed:
            self._answered(False)

    def _send_queue(self) -> SendQueue:
        """Return the queue for replies in parts and for what the socket did not take; created when
        there is none.
        """
        outgoing = self._outgoing
        if outgoing is None:
            outgoing = self._outgoing = SendQueue(self._transport)
            if self._replies:
                outgoing.add(self._replies, self._reply_bytes)
                self._replies = []
                self._reply_bytes = 0
        return outgoing

    def flush(self) -> None:
        """Send the replies of this turn; called at its end."""
        self._flush_due = False
        if self.closed or self._blocked:
            return
        if self._outgoing is not None:
            self._send()
            return
        replies = self._replies
        if replies:
            payload = replies[0] if len(replies) == 1 else b"".join(replies)
            self._replies = []
            self._reply_bytes = 0
            try:
                sent = self._socket.send(payload)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError as failure:
                self._lost(failure)
                return
            if sent != len(payload):
                self._send_queue().add((memoryview(payload)[sent:],), len(payload) - sent)
                self._wait_until_writable()
                return
        if self._holds_back():
            self._flushed()

    def _send(self) -> None:
        outgoing = self._outgoing
        assert outgoing is not None
        before = outgoing.sent_bytes
        try:
            state = outgoing.send(self._socket)
        except FileCutShort as cut:
            self.abandon(f"cannot complete a reply: {cut}")
            return
        except OSError as failure:
            self._lost(failure)
            return
        if outgoing.sent_bytes != before:
            self.last_active_ns = self._monotonic_ns()
        if state == SENT:
            if self._blocked:
                self._blocked = False
                self._transport.remove_writer(self._socket)
            self._outgoing = None
            self._flushed()
        elif state == BLOCKED:
            self._wait_until_writable()
        else:
            self._read_cold(outgoing)

    def _wait_until_writable(self) -> None:
        if not self._blocked:
            self._blocked = True
            self._transport.add_writer(self._socket, self._on_writable)

    def _on_writable(self) -> None:
        try:
            self._send()
        except Exception:
            self._our_bug()

    def _read_cold(self, outgoing: SendQueue) -> None:
        """Fetch cold data in a thread; sending resumes when it is in the page cache."""
        if self._blocked:
            self._transport.remove_writer(self._socket)
        self._blocked = True
        reading = self._resources.cold_reads.run(outgoing.warming())
        reading.on_resolved(partial(self._cold_read_done, outgoing))

    def _cold_read_done(self, outgoing: SendQueue, fetched: object) -> None:
        self._blocked = False
        if self.closed:
            return
        if isinstance(fetched, BaseException):
            self.abandon(f"cannot read a log file for a reply: {fetched}")
            return
        outgoing.warmed()
        self._on_writable()
