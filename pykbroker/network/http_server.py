"""A small HTTP server on the environment's transport: GET and HEAD, one request per connection.

    accepted --head--> answering --response--> sending --all sent--> closed
        |                 |                       |
        `-----------------`----- EXCHANGE_MS -----`------> closed

A head that has no end after more than MOST_HEAD_BYTES is answered with 431.

`respond(path)` returns the response or a Deferred of it; the connection is closed after it. At most
MOST_CONNECTIONS are open; more wait in the backlog.
It is meant for a few monitoring systems, not for the public: no TLS, no authentication. Bodies
of requests are not read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from pykbroker.deferred import Deferred
from pykbroker.environment.scheduler import Scheduler
from pykbroker.environment.transport import ListeningSocket, StreamSocket, Transport
from pykbroker.values import NamedTuple

MOST_CONNECTIONS: Final = 32
MOST_HEAD_BYTES: Final = 16_384
EXCHANGE_MS: Final = 30_000
PLAIN_TEXT: Final = "text/plain; charset=utf-8"

_BACKLOG: Final = 32
_RETRY_MS: Final = 1000
_RECEIVE_BYTES: Final = 4096
_END_OF_HEAD: Final = b"\r\n\r\n"
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}

_log = logging.getLogger("pykbroker.http")


class HttpResponse(NamedTuple):
    """The response to a request."""

    status: int
    body: bytes
    content_type: str = PLAIN_TEXT


Respond = Callable[[str], HttpResponse | Deferred]


class HttpServer:
    """A small HTTP server on one address."""

    def __init__(self, transport: Transport, scheduler: Scheduler, respond: Respond) -> None:
        """respond(path): `path` is as sent by the client, without a query."""
        self._transport = transport
        self._scheduler = scheduler
        self._respond = respond
        self._listening: ListeningSocket | None = None
        self._accepting = False
        self._open: dict[HttpExchange, None] = {}

    def start(self, host: str, port: int) -> int:
        """Bind and accept; return the actual port. Raises OSError if it cannot bind."""
        self._listening = self._transport.listen(
            host, port, backlog=_BACKLOG, receive_buffer_bytes=0
        )
        self._accept_again()
        return self._listening.port

    def close(self) -> None:
        """Release the port and close every connection."""
        self._pause()
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        for exchange in list(self._open):
            exchange.close()

    def _accept_again(self) -> None:
        if self._listening is not None and not self._accepting:
            self._accepting = True
            self._transport.add_reader(self._listening, self._on_readable)

    def _pause(self) -> None:
        if self._listening is not None and self._accepting:
            self._accepting = False
            self._transport.remove_reader(self._listening)

    def _on_readable(self) -> None:
        listening = self._listening
        while listening is not None and self._accepting:
            try:
                sock, _ = listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as failure:  # e.g. out of descriptors: retry later
                _log.warning("cannot accept a connection: %s", failure)
                self._pause()
                self._scheduler.call_later(_RETRY_MS, self._accept_again)
                return
            self._admit(sock)

    def _admit(self, sock: StreamSocket) -> None:
        try:
            self._transport.prepare_accepted(sock, send_buffer_bytes=0)
        except OSError:  # already gone
            sock.close()
            return
        exchange = HttpExchange(
            self._transport, self._scheduler, sock, self._respond, self._exchange_closed
        )
        self._open[exchange] = None
        if len(self._open) >= MOST_CONNECTIONS:
            self._pause()
        exchange.start()

    def _exchange_closed(self, exchange: HttpExchange) -> None:
        self._open.pop(exchange, None)
        self._accept_again()


class HttpExchange:
    """One request and its response on one connection."""

    __slots__ = (
        "_closed",
        "_head",
        "_on_closed",
        "_respond",
        "_sock",
        "_timer",
        "_transport",
        "_unsent",
    )

    def __init__(
        self,
        transport: Transport,
        scheduler: Scheduler,
        sock: StreamSocket,
        respond: Respond,
        on_closed: Callable[[HttpExchange], None],
    ) -> None:
        self._transport = transport
        self._sock = sock
        self._respond = respond
        self._on_closed = on_closed
        self._head = bytearray()
        self._unsent = memoryview(b"")
        self._closed = False
        self._timer = scheduler.call_later(EXCHANGE_MS, self.close)

    def start(self) -> None:
        """Wait for the request."""
        self._transport.add_reader(self._sock, self._on_readable)

    def close(self) -> None:
        """End the connection, whatever its state."""
        if self._closed:
            return
        self._closed = True
        self._timer.cancel()
        self._transport.remove_reader(self._sock)
        self._transport.remove_writer(self._sock)
        self._sock.close()
        self._on_closed(self)

    def _on_readable(self) -> None:
        try:
            received = self._sock.recv(_RECEIVE_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            received = b""
        if not received:
            self.close()
            return
        self._head += received
        if _END_OF_HEAD in self._head:
            self._transport.remove_reader(self._sock)
            self._answer()
        elif len(self._head) > MOST_HEAD_BYTES:
            self._transport.remove_reader(self._sock)
            self._send(True, error(431))

    def _answer(self) -> None:
        request_line = bytes(self._head).partition(b"\r\n")[0].decode("latin-1")
        words = request_line.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            self._send(True, error(400))
            return
        method, target, _ = words
        if method not in ("GET", "HEAD"):
            self._send(True, error(405))
            return
        with_body = method == "GET"
        outcome = self._respond(target.partition("?")[0])
        if isinstance(outcome, Deferred):
            outcome.on_resolved(partial(self._send, with_body))
        else:
            self._send(with_body, outcome)

    def _send(self, with_body: bool, outcome: object) -> None:
        if self._closed:
            return
        response = outcome if isinstance(outcome, HttpResponse) else error(500)
        reason = _REASONS.get(response.status, "")
        head = (
            f"HTTP/1.1 {response.status} {reason}\r\n"
            f"Content-Type: {response.content_type}\r\n"
            f"Content-Length: {len(response.body)}\r\n"
            "Connection: close\r\n\r\n"
        )
        self._unsent = memoryview(head.encode() + (response.body if with_body else b""))
        self._transport.add_writer(self._sock, self._on_writable)
        self._on_writable()

    def _on_writable(self) -> None:
        while self._unsent:
            try:
                sent = self._sock.send(self._unsent)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:  # the client has gone
                break
            self._unsent = self._unsent[sent:]
        self.close()


def error(status: int) -> HttpResponse:
    """Return a response with the reason phrase of its status."""
    return HttpResponse(status, f"{_REASONS[status]}\n".encode())
