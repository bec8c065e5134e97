"""A socket server with an echo worker, in a thread, on both event loops."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest
import uvloop

from pykbroker.environment.real.world import real_environment
from pykbroker.network.request import Request
from pykbroker.network.socket_server import SocketServer

_CLOSED_LOOP = asyncio.new_event_loop()
_CLOSED_LOOP.close()
ENVIRONMENT = real_environment(_CLOSED_LOOP)
TRANSPORT = ENVIRONMENT.transport
"""For what needs no event loop: binding, sending, addresses."""


def frame(body: bytes, correlation_id: int = 7) -> bytes:
    """A Metadata v0 request frame whose body is any bytes."""
    head = struct.pack(">hhih", 3, 0, correlation_id, -1)
    return struct.pack(">i", len(head) + len(body)) + head + body


def network_config(**changes: Any) -> Any:
    """The configuration that the network reads."""
    overrides = SimpleNamespace(max_connections=changes.pop("listener_max_connections", 2**31 - 1))
    values = {
        "endpoints": (endpoint("PLAINTEXT"),),
        "controller_endpoints": (),
        "is_controller": False,
        "inter_broker_listener": "PLAINTEXT",
        "queued_max_requests": 500,
        "socket_request_max_bytes": 100 * 1024 * 1024,
        "connections_max_idle_ms": 600_000,
        "max_connections": 2**31 - 1,
        "max_connections_per_ip": 2**31 - 1,
        "max_connections_per_ip_by_address": {},
        "socket_listen_backlog_size": 50,
        "socket_receive_buffer_bytes": 102400,
        "socket_send_buffer_bytes": 102400,
        "socket_overrides": lambda name: overrides,
    }
    values.update(changes)
    return SimpleNamespace(**values)


def endpoint(name: str, host: str = "127.0.0.1", port: int = 0) -> Any:
    return SimpleNamespace(listener_name=name, host=host, port=port, security_protocol="PLAINTEXT")


class Served:
    """A running socket server. By default the worker answers a frame with its own body."""

    def __init__(self, loop: asyncio.AbstractEventLoop, config: Any) -> None:
        self.loop = loop
        environment = real_environment(loop)
        self.threads = environment.background.threads("disk", 2)
        self.server = SocketServer(environment, config, self.threads)
        self.held: list[Any] = []
        self.hold = False
        self.answer: Callable[[Any], None] = self.echo
        self.rounds: list[int] = []
        self.server.channel.attach_worker(self._turn)
        self.server.bind()
        self.server.start(controllers=False)
        self._thread = threading.Thread(target=loop.run_forever)
        self._thread.start()

    @property
    def port(self) -> int:
        return self.server.listeners[0].port

    def _turn(self) -> None:
        channel = self.server.channel
        while channel.queue:
            self.rounds.append(len(channel.queue))
            for _ in range(len(channel.queue)):
                request = channel.queue.popleft()
                if self.hold:
                    self.held.append(request)
                else:
                    self.answer(request)
            channel.admit_waiting()
        channel.flush_connections()
        channel.turn_finished()

    @staticmethod
    def echo(request: Request) -> None:
        body = bytes(request.frame[request.body_pos :])
        request.connection.reply(
            bytearray(struct.pack(">ii", len(body) + 4, request.correlation_id) + body)
        )

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run `function` on the loop and wait for it."""
        outcome: list[Any] = []
        done = threading.Event()

        def run() -> None:
            try:
                outcome.append(function(*args))
            except BaseException as failure:
                outcome.append(failure)
            done.set()

        self.loop.call_soon_threadsafe(run)
        assert done.wait(60)
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return outcome[0]

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until `condition`, looked at on the loop, holds."""
        deadline = time.monotonic() + 60
        while not self.call(condition):
            assert time.monotonic() < deadline, "the condition did not come to hold"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def stop(self) -> None:
        self.call(self.server.stop)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(60)
        self.threads.close()
        self.loop.close()


def read_exactly(sock: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        chunk = sock.recv(size - len(received))
        if not chunk:
            raise EOFError(f"closed after {len(received)} of {size} bytes")
        received += chunk
    return bytes(received)


def read_reply(sock: socket.socket) -> tuple[int, bytes]:
    """(correlation id, body) of the next reply."""
    (size,) = struct.unpack(">i", read_exactly(sock, 4))
    content = read_exactly(sock, size)
    return struct.unpack(">i", content[:4])[0], content[4:]


def is_closed(sock: socket.socket) -> bool:
    """Whether the server closes: waits for it."""
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.fixture(params=["asyncio", "uvloop"])
def serve(request: pytest.FixtureRequest) -> Iterator[Callable[..., Served]]:
    """A function that starts a socket server with the given configuration."""
    running: list[Served] = []

    def start(**changes: Any) -> Served:
        loop = asyncio.new_event_loop() if request.param == "asyncio" else uvloop.new_event_loop()
        served = Served(loop, network_config(**changes))
        running.append(served)
        return served

    yield start
    for served in running:
        served.stop()


@pytest.fixture
def echo(serve: Callable[..., Served]) -> Served:
    """A socket server with the default configuration."""
    return serve()


@pytest.fixture
def client(echo: Served) -> Iterator[socket.socket]:
    with closing(echo.connect()) as sock:
        yield sock
