from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from pykbroker.deferred import Deferred
from pykbroker.environment.real.world import real_environment
from pykbroker.network import http_server
from pykbroker.network.http_server import HttpResponse, HttpServer

TIMEOUT_S = 120
Script = Callable[[int], Coroutine[Any, Any, None]]


def serve(respond: Callable[[str], HttpResponse | Deferred], script: Script) -> None:
    """Run a client's script against a server on a free port."""

    async def main() -> None:
        world = real_environment(asyncio.get_running_loop())
        server = HttpServer(world.transport, world.scheduler, respond)
        port = server.start("127.0.0.1", 0)
        try:
            await asyncio.wait_for(script(port), TIMEOUT_S)
        finally:
            server.close()

    asyncio.run(main())


async def exchange(port: int, *pieces: bytes) -> bytes:
    """Send a request in pieces; all that comes back until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


def echo(path: str) -> HttpResponse:
    return HttpResponse(200, f"you asked for {path}".encode())


def test_get_and_head() -> None:
    async def script(port: int) -> None:
        answer = await exchange(port, b"GET /metrics?a=b HTTP/1.1\r\nHost: x\r\n", b"\r\n")
        assert answer == (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 22\r\n"
            b"Connection: close\r\n\r\nyou asked for /metrics"
        )
        head = await exchange(port, b"HEAD /metrics HTTP/1.0\r\n\r\n")
        assert head == answer.removesuffix(b"you asked for /metrics")

    serve(echo, script)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"POST / HTTP/1.1\r\n\r\n", b"405 Method Not Allowed"),
        (b"nonsense\r\n\r\n", b"400 Bad Request"),
        (b"GET / SPDY/1\r\n\r\n", b"400 Bad Request"),
        (
            b"GET / HTTP/1.1\r\n".ljust(http_server.MOST_HEAD_BYTES + 1, b"x"),
            b"431 Request Header Fields Too Large",
        ),
    ],
    ids=["method", "line", "protocol", "size"],
)
def test_what_is_no_request_of_ours(request_: bytes, status: bytes) -> None:
    async def script(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request_)
        assert await reader.readline() == b"HTTP/1.1 " + status + b"\r\n"
        writer.close()

    serve(echo, script)


def test_an_answer_that_comes_later_and_is_long() -> None:
    body = b"x" * 5_000_000  # more than the kernel's buffers take at once

    def later(path: str) -> Deferred:
        deferred = Deferred()
        asyncio.get_running_loop().call_soon(deferred.resolve, HttpResponse(200, body))
        return deferred

    async def script(port: int) -> None:
        answer = await exchange(port, b"GET / HTTP/1.1\r\n\r\n")
        assert answer.endswith(b"\r\n\r\n" + body)

    serve(later, script)


def test_a_failure_is_an_answer() -> None:
    def failing(path: str) -> Deferred:
        deferred = Deferred()
        deferred.resolve(ValueError("a bug"))
        return deferred

    async def script(port: int) -> None:
        answer = await exchange(port, b"GET / HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")

    serve(failing, script)


def test_clients_that_say_nothing_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "EXCHANGE_MS", 1)

    async def script(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()

    serve(echo, script)


def test_connections_above_the_limit_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", 2)
    asked: list[str] = []

    def note(path: str) -> HttpResponse:
        asked.append(path)
        return echo(path)

    async def script(port: int) -> None:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        third = asyncio.ensure_future(exchange(port, b"GET /3 HTTP/1.1\r\n\r\n"))
        # While the two are open and silent the third waits, however often the loop turns.
        for _ in range(50):
            await asyncio.sleep(0)
        assert asked == []
        for _, writer in silent:
            writer.close()
        assert b"you asked for /3" in await third

    serve(note, script)


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        async def main() -> None:
            world = real_environment(asyncio.get_running_loop())
            server = HttpServer(world.transport, world.scheduler, echo)
            with pytest.raises(OSError, match="in use"):
                server.start("127.0.0.1", port)
            server.close()

        asyncio.run(main())


def test_closing_ends_what_is_open() -> None:
    async def main() -> None:
        world = real_environment(asyncio.get_running_loop())
        waiting = Deferred()
        server = HttpServer(world.transport, world.scheduler, lambda path: waiting)
        port = server.start("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        _, other = await asyncio.open_connection("127.0.0.1", port)
        while waiting.listener is None:  # the request is not there yet
            await asyncio.sleep(0)
        server.close()
        assert await reader.read() == b""
        waiting.resolve(HttpResponse(200, b"too late"))
        for each in (writer, other):
            each.close()

    asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))
