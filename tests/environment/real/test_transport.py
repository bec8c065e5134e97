"""Sockets of the operating system behind the transport."""

from __future__ import annotations

import asyncio
import errno
import socket
from pathlib import Path
from typing import Any

import pytest

from pykbroker.environment import Environment
from pykbroker.environment.real.scheduler import in_asyncio
from pykbroker.environment.real.world import real_environment


async def _readable(environment: Environment, sock: Any) -> None:
    ready = asyncio.Event()
    environment.transport.add_reader(sock, ready.set)
    await asyncio.wait_for(ready.wait(), 60)
    environment.transport.remove_reader(sock)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_bytes_reach_the_other_side(host: str, tmp_path: Path) -> None:
    async def main() -> None:
        environment = real_environment(asyncio.get_running_loop())
        transport = environment.transport
        listening = transport.listen("127.0.0.1", 0, backlog=5, receive_buffer_bytes=0)
        with pytest.raises(BlockingIOError):
            listening.accept()
        client: Any = await in_asyncio(transport.connect(host, listening.port, timeout_ms=60_000))
        await _readable(environment, listening)
        server, (address, _) = listening.accept()
        transport.prepare_accepted(server, send_buffer_bytes=0)
        assert address == "127.0.0.1"
        client.send(b"hello")
        await _readable(environment, server)
        assert server.recv(100) == b"hello"
        path = tmp_path / "file"
        path.write_bytes(b"0123456789")
        piece = environment.files.open(str(path)).slice(2, 6)
        assert transport.send_file(server, piece, 3, 4) == 4
        await _readable(environment, client)
        assert client.recv(100) == b"3456"
        client.close()
        await _readable(environment, server)
        assert server.recv(100) == b""
        server.close()
        listening.close()

    asyncio.run(main())


def test_a_refused_connection_is_an_error() -> None:
    async def main() -> None:
        transport = real_environment(asyncio.get_running_loop()).transport
        listening = transport.listen("127.0.0.1", 0, backlog=5, receive_buffer_bytes=0)
        port = listening.port
        listening.close()
        with pytest.raises(ConnectionRefusedError):
            await in_asyncio(transport.connect("127.0.0.1", port, timeout_ms=60_000))
        with pytest.raises(OSError):
            await in_asyncio(transport.connect("no.such.host.invalid", 1, timeout_ms=60_000))

    asyncio.run(main())


def test_without_a_free_descriptor_a_connection_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_socket(*arguments: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    async def main() -> None:
        transport = real_environment(asyncio.get_running_loop()).transport
        with monkeypatch.context() as patched:
            patched.setattr(socket, "socket", no_socket)
            attempt = transport.connect("127.0.0.1", 1, timeout_ms=60_000)
        with pytest.raises(OSError, match="Too many open files"):
            await in_asyncio(attempt)

    asyncio.run(main())


def test_a_port_in_use_is_an_error() -> None:
    async def main() -> None:
        transport = real_environment(asyncio.get_running_loop()).transport
        first = transport.listen("127.0.0.1", 0, backlog=5, receive_buffer_bytes=0)
        with pytest.raises(OSError, match="in use"):
            transport.listen("127.0.0.1", first.port, backlog=5, receive_buffer_bytes=0)
        first.close()

    asyncio.run(main())
