"""One outgoing connection: requests out, responses in, matched by their correlation ids.

State: received bytes of an incomplete response, unsent bytes, the requests in flight in order.
Out: a Deferred of the decoded response, or of a KafkaError, for every request; `on_lost(reason,
is_fault)` when the connection breaks or the peer misbehaves; the owner then calls `close`.

Receiving. One `recv` of up to RECEIVE_BYTES receives several small responses. One that is not
complete gets its own buffer, filled by `recv_into`: the record bytes of a Fetch response are
memoryviews of it. The length field is not trusted: the buffer starts with at most
FIRST_BUFFER_BYTES (the received bytes, if they are more), and doubles only when it is full.

Invariants:

* responses come in the order of the requests; a response with another correlation id, or one that
  cannot be decoded, is a fault of the peer;
* when the connection closes, every request in flight is resolved with a KafkaError, after the
  socket is closed: a listener may open a new connection immediately.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable

from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.environment.loop_time import RECORDED_NS
from pykbroker.environment.transport import StreamSocket
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.api import API_VERSIONS, APIS, Api, response_class
from pykbroker.protocol.framing import LENGTH_BYTES, FrameError, check_length
from pykbroker.protocol.headers import decode_response_header, encode_request
from pykbroker.protocol.parts_writer import AnyPart, Parts
from pykbroker.protocol.primitives import DecodeError, EncodeError, Message

RECEIVE_BYTES = 64 * 1024
FIRST_BUFFER_BYTES = 64 * 1024
MAX_RESPONSE_BYTES = (1 << 31) - 1
# Fairness: a large response takes at most this many reads before other connections get a turn.
READS_PER_TURN = 16
IOV_MAX = 512
END_OF_STREAM = "the peer closed the connection"

_unpack_size = struct.Struct(">i").unpack_from
_unpack_error_code = struct.Struct(">h").unpack_from
_EMPTY = memoryview(b"")


class Misbehaviour(Exception):
    """The peer sent something that no Kafka node sends."""


class InFlight:
    """A request that was sent and has not been answered."""

    __slots__ = ("api", "correlation_id", "deadline_ms", "deferred", "version")

    def __init__(
        self, api: Api, version: int, correlation_id: int, deadline_ms: int, deferred: Deferred
    ) -> None:
        self.api = api
        self.version = version
        self.correlation_id = correlation_id
        self.deadline_ms = deadline_ms
        self.deferred = deferred


class ClientConnection:
    """One established outgoing connection."""

    __slots__ = (
        "_answered",
        "_buffer",
        "_client_id",
        "_correlation_id",
        "_filled",
        "_frame_size",
        "_is_writing",
        "_loop_time",
        "_monotonic_ns",
        "_on_lost",
        "_outgoing",
        "_socket",
        "_transport",
        "_unread",
        "closed",
        "in_flight",
    )

    def __init__(
        self,
        environment: Environment,
        sock: StreamSocket,
        client_id: str,
        on_lost: Callable[[str, bool], None],
    ) -> None:
        """`on_lost(reason, is_fault)`; `is_fault` is True if the peer misbehaved."""
        self._transport = environment.transport
        self._loop_time = environment.loop_time
        self._monotonic_ns = environment.clock.monotonic_ns
        self._socket = sock
        self._client_id = client_id
        self._on_lost = on_lost
        self._correlation_id = 0
        self._answered: list[tuple[Deferred, Message]] = []
        self._unread = _EMPTY
        self._buffer: bytearray | None = None
        self._filled = 0
        self._frame_size = 0
        self._outgoing: deque[memoryview] = deque()
        self._is_writing = False
        self.in_flight: deque[InFlight] = deque()
        self.closed = False
        self._transport.add_reader(sock, self._on_readable)

    # ---------------------------------------------------------------- requests

    def exchange(
        self, message: Message, version: int, deadline_ms: int, deferred: Deferred | None = None
    ) -> Deferred:
        """Send `message`; a Deferred (`deferred`, if given) of its response, or of a KafkaError.

        The caller watches the deadline, which is only stored here. A message that cannot be encoded
        fails with UNSUPPORTED_VERSION: it has a value that this version cannot represent.
        """
        outcome = Deferred() if deferred is None else deferred
        api = APIS[message.API_KEY]
        parts: Parts = []
        correlation_id = self._correlation_id
        try:
            encode_request(api, version, correlation_id, self._client_id, message, parts)
        except EncodeError as failure:
            outcome.resolve(KafkaError(ErrorCode.UNSUPPORTED_VERSION, str(failure)))
            return outcome
        self._correlation_id = (correlation_id + 1) & 0x7FFFFFFF
        self.in_flight.append(InFlight(api, version, correlation_id, deadline_ms, outcome))
        for part in parts:
            self._outgoing.append(_as_view(part))
        if not self._is_writing:
            self._flush()
        return outcome

    def _flush(self) -> None:
        outgoing = self._outgoing
        try:
            while outgoing:
                head = outgoing[0]
                if len(outgoing) == 1:
                    sent = self._socket.send(head)
                else:
                    sent = self._socket.sendmsg([outgoing[at] for at in range(_iov(outgoing))])
                while sent:
                    size = outgoing[0].nbytes
                    if sent < size:
                        outgoing[0] = outgoing[0][sent:]
                        break
                    outgoing.popleft()
                    sent -= size
        except (BlockingIOError, InterruptedError):
            if not self._is_writing:
                self._is_writing = True
                self._transport.add_writer(self._socket, self._flush)
            return
        except OSError as failure:
            self._lose(_reason(failure), False)
            return
        if self._is_writing:
            self._is_writing = False
            self._transport.remove_writer(self._socket)

    # ---------------------------------------------------------------- responses

    def _on_readable(self) -> None:
        started_ns = self._monotonic_ns()
        asked = self.in_flight[0].api.name if self.in_flight else "no request"
        self._receive()
        ended_ns = self._monotonic_ns()
        if ended_ns - started_ns >= RECORDED_NS:
            self._loop_time.record(f"response to {asked}", started_ns, ended_ns)

    def _receive(self) -> None:
        lost: tuple[str, bool] | None = None
        try:
            self._read()
        except (BlockingIOError, InterruptedError):
            return
        except (Misbehaviour, FrameError, DecodeError) as fault:
            lost = (str(fault), True)
        except OSError as failure:
            lost = (_reason(failure), False)
        answered, self._answered = self._answered, []
        for deferred, response in answered:
            deferred.resolve(response)
        if lost is not None:
            self._lose(*lost)

    def _read(self) -> None:
        """Receive once, of a large response up to READS_PER_TURN times. Raises OSError if the
        connection is broken, other errors if the peer misbehaves.
        """
        if self._buffer is not None:
            self._read_large(self._buffer)
            return
        chunk = self._socket.recv(RECEIVE_BYTES)
        if not chunk:
            raise ConnectionResetError(END_OF_STREAM)
        self._unread = memoryview(bytes(self._unread) + chunk if self._unread else chunk)
        self._take_frames()

    def _read_large(self, buffer: bytearray) -> None:
        """Fill the buffer of a large response; deliver it when it is complete."""
        for _ in range(READS_PER_TURN):
            if self._filled == len(buffer):
                buffer += bytes(min(len(buffer), self._frame_size - len(buffer)))
            with memoryview(buffer) as view, view[self._filled :] as rest:
                received = self._socket.recv_into(rest)
            if not received:
                raise ConnectionResetError(END_OF_STREAM)
            self._filled += received
            if self._filled == self._frame_size:
                self._buffer = None
                self._accept(memoryview(buffer))
                return

    def _take_frames(self) -> None:
        """Extract complete responses from the received bytes; start a buffer for
        an incomplete one.
        """
        unread = self._unread
        position = 0
        self._unread = _EMPTY
        while len(unread) - position >= LENGTH_BYTES:
            size = check_length(_unpack_size(unread, position)[0], MAX_RESPONSE_BYTES)
            end = position + LENGTH_BYTES + size
            if end > len(unread):
                self._begin_large(unread[position + LENGTH_BYTES :], size)
                return
            self._accept(unread[position + LENGTH_BYTES : end])
            position = end
        if position < len(unread):
            self._unread = unread[position:]

    def _begin_large(self, received: memoryview, size: int) -> None:
        buffer = bytearray(min(size, max(FIRST_BUFFER_BYTES, len(received))))
        buffer[: len(received)] = received
        self._buffer = buffer
        self._filled = len(received)
        self._frame_size = size

    def _accept(self, frame: memoryview) -> None:
        """Decode the response to the oldest request in flight."""
        if not self.in_flight:
            raise Misbehaviour("a response to no request")
        request = self.in_flight[0]
        correlation_id, position = decode_response_header(frame, request.api, request.version)
        if correlation_id != request.correlation_id:
            raise Misbehaviour(
                f"a response with correlation id {correlation_id} "
                f"to the {request.api.name} request {request.correlation_id}"
            )
        response = decode_response(request.api, request.version, frame, position)
        self.in_flight.popleft()
        self._answered.append((request.deferred, response))

    # ---------------------------------------------------------------- closing

    def close(self, failure_of: Callable[[InFlight], KafkaError]) -> None:
        """Close the connection; every request in flight is resolved with `failure_of(request)`."""
        if self.closed:
            return
        self.closed = True
        self._transport.remove_reader(self._socket)
        if self._is_writing:
            self._transport.remove_writer(self._socket)
        self._socket.close()
        self._outgoing.clear()
        self._buffer = None
        self._unread = _EMPTY
        waiting, self.in_flight = self.in_flight, deque()
        for request in waiting:
            request.deferred.resolve(failure_of(request))

    def _lose(self, reason: str, is_fault: bool) -> None:
        if not self.closed:
            self._on_lost(reason, is_fault)


def decode_response(api: Api, version: int, frame: memoryview, position: int) -> Message:
    """Decode the response at `position`. Raises DecodeError if it is
    malformed or bytes are left over.

    An ApiVersions response that rejects the version always has version 0 (KIP-511).
    """
    if api.key == API_VERSIONS and len(frame) >= position + 2:
        (error_code,) = _unpack_error_code(frame, position)
        if error_code == ErrorCode.UNSUPPORTED_VERSION:
            version = 0
    response, end = response_class(api.key).decode(frame, position, version)
    if end != len(frame):
        raise DecodeError(
            f"{len(frame) - end} bytes left over after a {api.name} response of version {version}"
        )
    return response


def _as_view(part: AnyPart) -> memoryview:
    assert isinstance(part, (bytes, bytearray, memoryview)), "requests carry no file slices"
    return memoryview(part).cast("B")


def _iov(outgoing: deque[memoryview]) -> int:
    return min(len(outgoing), IOV_MAX)


def _reason(failure: OSError) -> str:
    return failure.strerror or str(failure) or type(failure).__name__
