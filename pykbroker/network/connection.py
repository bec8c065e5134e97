"""One client connection on a raw non-blocking socket.

State: received bytes that are not handed over yet; the request in flight, if any, and those that
the worker has gathered with it; unsent replies; what is prepared for similar requests.
Out: requests on the channel; once something is prepared, the connection itself, which gives the
next frame to the worker (`take_frame`).

Reading. One `recv` of up to RECEIVE_BYTES receives several small frames. An incomplete frame that
is larger than SMALL_FRAME_BYTES gets its own buffer, filled by `recv_into`: its record bytes can go
from there to the file without a copy in Python. The length field is not trusted: the buffer starts
with at most FIRST_BUFFER_BYTES, or BUFFER_FACTOR times the received bytes if that is more, and
doubles only when it is full.

Invariants:

* one request in flight: the next frame is handed over when the reply is queued (or flushed, if
  many bytes are unsent), so that replies leave in the order of the requests; the worker may take
  further frames (`gather`), which it answers in their order;
* while a request is in flight, reading stops when BUFFER_BYTES more have come (the last `recv` may
  exceed them): a client that pipelines without limit is slowed down by TCP, and its cost stays
  bounded;
* while a reply waits for a slow reader nothing is handed over, except one frame that already waits
  for room on the channel or has a buffer of its own, and what the worker gathers with it;
* a request does not cost a `remove_reader`;
* when the stream ends, complete frames are served and their replies sent; then it is closed.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable
from typing import Any

from pykbroker.environment.transport import StreamSocket
from pykbroker.network.connection_resources import ConnectionResources
from pykbroker.network.listener import Listener
from pykbroker.network.request import Frame, Request
from pykbroker.network.sending_connection import SendingConnection
from pykbroker.protocol.framing import LENGTH_BYTES, FrameError, check_length
from pykbroker.protocol.headers import decode_request_header
from pykbroker.protocol.primitives import DecodeError
from pykbroker.timing_wheel import TimerTask

RECEIVE_BYTES = 64 * 1024
BUFFER_BYTES = 64 * 1024
SMALL_FRAME_BYTES = 16 * 1024
FIRST_BUFFER_BYTES = 64 * 1024
BUFFER_FACTOR = 16
# Fairness: a large frame takes at most this many reads before other connections get a turn.
READS_PER_TURN = 16

NO_FRAME: Frame = (b"", 0, 0)

_SIZE = struct.Struct(">i")
_unpack_size = _SIZE.unpack_from
_log = logging.getLogger(__name__)

ANONYMOUS = "User:ANONYMOUS"


class Connection(SendingConnection):
    """One client connection."""

    __slots__ = (
        "_channel",
        "_end",
        "_frame_buffer",
        "_frame_filled",
        "_frame_size",
        "_on_close",
        "_on_closed",
        "_position",
        "_queued_frame",
        "_reading",
        "_receive",
        "_received",
        "_waiting",
        "gathered",
        "idle_task",
        "in_flight",
        "listener",
        "max_request_bytes",
        "peer",
        "peer_address",
        "prepared",
        "principal",
        "stream_ended",
    )

    def __init__(
        self,
        resources: ConnectionResources,
        listener: Listener,
        sock: StreamSocket,
        address: str,
        port: int,
        on_closed: Callable[[Connection], None],
    ) -> None:
        super().__init__(resources, sock)
        self._channel = resources.channel
        self._on_closed = on_closed
        self._receive = sock.recv
        self._received = b""
        self._position = 0
        self._end = 0
        self._frame_buffer: bytearray | None = None
        self._frame_filled = 0
        self._frame_size = 0
        self._waiting = False
        self.stream_ended = False
        self.in_flight = False
        self.prepared: dict[int, Any] = {}
        self.gathered = 0
        self._queued_frame = NO_FRAME
        self.listener = listener
        self.max_request_bytes = resources.max_request_bytes
        self.peer_address = address
        self.peer = f"{address}:{port}"
        self.principal = ANONYMOUS
        self.idle_task: TimerTask[Connection] | None = None  # kept by IdleConnections
        self._on_close: Callable[[], None] | None = None
        self._reading = True
        self._transport.add_reader(self._socket, self._on_readable)

    # ---------------------------------------------------------------- bytes in

    def _on_readable(self) -> None:
        try:
            self._read()
        except Exception:
            self._our_bug()

    def _read(self) -> None:
        if self._frame_buffer is not None:
            self._receive_frame(self._frame_buffer)
            return
        unread = self._end - self._position
        if unread >= BUFFER_BYTES:
            self._stop_reading()
            return
        try:
            chunk = self._receive(RECEIVE_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as failure:
            self._lost(failure)
            return
        if not chunk:
            self._on_end_of_stream()
            return
        if unread:
            chunk = self._received[self._position :] + chunk
        self._received = chunk
        self._position = 0
        self._end = len(chunk)
        self.last_active_ns = self._monotonic_ns()
        if not (self.in_flight or self._blocked or self._waiting):
            self._hand_over()

    def _hand_over(self) -> None:
        """Cut the next frame and put it on the channel; nothing is in flight now."""
        frame = self.next_frame()
        if frame is None:
            self._await_frame()
        elif self._channel.full:
            self._waiting = True
            self._channel.wait(self)
        else:
            _, _, end = frame
            self._consume(end)
            self._put(frame)

    def next_frame(self) -> Frame | None:
        """Return the first of the received frames that are not handed over; None if it is not
        complete, or its length is invalid.
        """
        start = self._position + LENGTH_BYTES
        if start >= self._end:
            return None
        (size,) = _unpack_size(self._received, self._position)
        end = start + size
        if not start < end <= self._end or size > self.max_request_bytes:
            return None
        return self._received, start, end

    def _await_frame(self) -> None:
        """See to a frame that is not complete, or has a buffer of its own, or a wrong length."""
        available = self._end - self._position - LENGTH_BYTES
        if available < 0:
            if self._frame_buffer is not None and self._frame_filled == self._frame_size:
                self._put_frame_buffer()
            return
        (size,) = _unpack_size(self._received, self._position)
        try:
            check_length(size, self.max_request_bytes, "socket.request.max.bytes")
        except FrameError as stranger:
            self.refuse(str(stranger))
            return
        if size > SMALL_FRAME_BYTES:
            self._begin_frame(size, available)

    def _consume(self, position: int) -> None:
        """Drop the received bytes up to `position`, which are handed over."""
        if position == self._end:
            self._received = b""
            self._position = self._end = 0
        else:
            self._position = position

    def _put(self, frame: Frame) -> None:
        if self.prepared:
            self._queued_frame = frame
            self.in_flight = True
            self._channel.put(self)
            return
        request = self.request_of(*frame)
        if request is not None:
            self.in_flight = True
            self._channel.put(request)

    def request_of(self, frame: bytes | bytearray, start: int, end: int) -> Request | None:
        """Return the request in a frame; if its header is invalid, close the
        connection and return None.
        """
        view = memoryview(frame)[start:end]
        request = Request(self, view)
        try:
            decode_request_header(view, request)
        except DecodeError as malformed:
            self.refuse(str(malformed))
            return None
        return request

    def take_frame(self) -> Frame:
        """Return the frame for which this connection is on the channel, and forget it."""
        frame, self._queued_frame = self._queued_frame, NO_FRAME
        return frame

    def gather(self, frame: Frame) -> None:
        """Take what `next_frame` has returned, to be served with the one in flight and answered
        after it.

        The caller ensures that the answers are in the order of the frames.
        """
        self.gathered += 1
        _, _, end = frame
        self._consume(end)

    def _begin_frame(self, size: int, available: int) -> None:
        """Allocate a separate buffer for the frame at the head of the received bytes."""
        buffer = bytearray(min(size, max(FIRST_BUFFER_BYTES, available * BUFFER_FACTOR)))
        if available:
            buffer[:available] = self._received[self._position + LENGTH_BYTES :]
        self._received = b""
        self._position = self._end = 0
        self._frame_buffer = buffer
        self._frame_filled = available
        self._frame_size = size
        if self.stream_ended:
            self._close_when_done()
        else:
            self._receive_frame(buffer)

    def _receive_frame(self, buffer: bytearray) -> None:
        filled = self._frame_filled
        size = self._frame_size
        if filled == size:  # complete, and waiting for room on the channel
            self._stop_reading()
            return
        view = memoryview(buffer)
        try:
            for _ in range(READS_PER_TURN):
                received = self._socket.recv_into(view[filled:])
                if not received:
                    self._on_end_of_stream()
                    return
                filled += received
                if filled == len(buffer):
                    if filled == size:
                        break
                    view.release()
                    buffer.extend(bytes(min(filled, size - filled)))
                    view = memoryview(buffer)
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as failure:
            self._lost(failure)
            return
        self._frame_filled = filled
        self.last_active_ns = self._monotonic_ns()
        if filled == size:
            self._put_frame_buffer()

    def _put_frame_buffer(self) -> None:
        if self._channel.full:
            self._waiting = True
            self._channel.wait(self)
            return
        buffer = self._frame_buffer
        assert buffer is not None
        self._frame_buffer = None
        self._put((buffer, 0, len(buffer)))

    def resume_hand_over(self) -> None:
        """Hand over the next frame, because the channel has room again."""
        self._waiting = False
        if not self.closed:
            self._hand_over()
            self._resume_reading()

    # --------------------------------------------------------------- bytes out

    def _answered(self, over: bool) -> None:
        if not self._flush_due:
            self._flush_due = True
            self._channel.flush_later(self)
        if self.gathered:
            self.gathered -= 1
            return
        self.in_flight = False
        if not (over or self._blocked) and (self._end or self._frame_buffer is not None):
            self._hand_over()

    def _holds_back(self) -> bool:
        return self.stream_ended or not self._reading or self._end > 0

    def _flushed(self) -> None:
        """Resume what was held back, because everything has been sent."""
        if not (self.in_flight or self._waiting):
            self._hand_over()
            if self.stream_ended and not (self.closed or self.in_flight or self._waiting):
                self.close()
                return
        self._resume_reading()

    # ---------------------------------------------------------------- life cycle

    def _stop_reading(self) -> None:
        if self._reading:
            self._reading = False
            self._transport.remove_reader(self._socket)

    def _resume_reading(self) -> None:
        if self._reading or self.closed or self.stream_ended or self._waiting:
            return
        if self._end - self._position < BUFFER_BYTES:
            self._reading = True
            self._transport.add_reader(self._socket, self._on_readable)

    def _on_end_of_stream(self) -> None:
        """Handle the end of the peer's stream: serve its complete frames,
        then close the connection.
        """
        self._stop_reading()
        self.stream_ended = True
        self._close_when_done()

    def _close_when_done(self) -> None:
        if not (self.in_flight or self._blocked or self._waiting or self._flush_due):
            self.close()

    def _lost(self, failure: OSError) -> None:
        """Close a broken connection, without logging."""
        self._resources.counters.connections_lost += 1
        self.close()

    def refuse(self, reason: str) -> None:
        """Close the connection because of what its peer sent, with one (rate-limited) log line."""
        if not self.closed:
            self._resources.counters.malformed_requests += 1
            self.abandon(reason)

    def abandon(self, reason: str) -> None:
        """Close the connection because of a local failure, with one (rate-limited) log line."""
        if not self.closed:
            resources = self._resources
            resources.peer_log.closed(self.peer, self.listener.name, reason, resources.now_ms())
            self.close()

    def _our_bug(self) -> None:
        """Close after an internal error; otherwise the socket would stay ready forever."""
        self._resources.counters.unexpected_errors += 1
        _log.exception("cannot serve %s", self.peer)
        self.close()

    def call_on_close(self, callback: Callable[[], None] | None) -> None:
        """Set the function to call if the connection closes while its request
        waits; None: no call.
        """
        self._on_close = callback

    def close(self) -> None:
        """Close immediately; unsent replies and the answer to a request in flight are dropped."""
        if self.closed:
            return
        self.closed = True
        self._stop_reading()
        if self._blocked:
            self._transport.remove_writer(self._socket)
        if self._outgoing is not None:
            self._outgoing.release()
        self._outgoing = None
        self._replies = []
        self._received = b""
        self._queued_frame = NO_FRAME
        self._position = self._end = 0
        self._frame_buffer = None
        self.prepared = {}
        self._socket.close()
        self._on_closed(self)
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            on_close()

    def __repr__(self) -> str:
        return f"Connection({self.peer} on {self.listener.name})"
