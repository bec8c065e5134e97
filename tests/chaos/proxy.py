"""A TCP proxy in front of every listener, with a state for each link between two parties.

    OPEN         bytes pass
    SLOW         every piece of up to 64 KiB waits before it passes
    BLACK_HOLE   nothing passes, in either direction, and nobody is told
    ONE_WAY      requests pass, answers do not
    CUT          connections are reset, new ones are closed at once

A link is (source, destination). The source is the client id of the first request of a connection:
nodes name themselves `broker-N`, and everything else is CLIENTS. What a black hole holds back is
delivered when the link opens again, as TCP would, unless the connection is gone by then.

State: the connections of each link, the state of each link that is not open.
In: `listen` (before `start`), `set_link`, `heal`. Threads: the proxy runs in one of its own.
"""

from __future__ import annotations

import asyncio
import re
import struct
import threading
from collections import defaultdict
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from enum import Enum
from typing import Any

HOST = "127.0.0.1"
CLIENTS = "clients"
PIECE_BYTES = 65_536
SLOW_SECONDS = 0.2

_HEADER = struct.Struct(">ihhih")  # size, API key, version, correlation id, length of client id

Link = tuple[str, str]


class LinkState(Enum):
    """See the module's table."""

    OPEN = "open"
    SLOW = "slow"
    BLACK_HOLE = "black hole"
    ONE_WAY = "one way"
    CUT = "cut"


class Proxy:
    """See the module's text; a context manager."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._states: dict[Link, LinkState] = {}
        self._changed: asyncio.Event | None = None
        self._writers: defaultdict[Link, set[asyncio.StreamWriter]] = defaultdict(set)
        self._accepted: set[asyncio.StreamWriter] = set()
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()  # the loop itself keeps no task alive
        self._thread.start()

    def listen(self, destination: str, port: int) -> int:
        """Return the port in front of `port` of `destination`."""
        return int(self._call(self._listen(destination, port)).result(30))

    def set_link(self, source: str, destination: str, state: LinkState) -> None:
        """Change one link."""
        self._call(self._set({(source, destination): state})).result(30)

    def heal(self) -> None:
        """Open every link."""
        self._call(self._set(dict.fromkeys(self._states, LinkState.OPEN))).result(30)

    def close(self) -> None:
        """Close every connection and listener."""
        self._call(self._stop()).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    # ---------------------------------------------------------------- in the proxy's thread

    async def _listen(self, destination: str, port: int) -> int:
        if self._changed is None:
            self._changed = asyncio.Event()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._accepted.add(writer)
            self._start(self._serve(destination, port, reader, writer))

        server = await asyncio.start_server(accept, HOST, 0, limit=PIECE_BYTES)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _stop(self) -> None:
        for server in self._servers:
            self._loop.remove_reader(server.sockets[0].fileno())
        await _turns()  # a server that is closed first loses what asyncio is accepting
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._accepted:
            writer.transport.abort()  # a task that had not begun has closed nothing
        await _turns()  # transports close their sockets in a turn of their own

    async def _set(self, states: dict[Link, LinkState]) -> None:
        self._states.update(states)
        for link, state in states.items():
            if state is LinkState.CUT:
                for writer in self._writers[link]:
                    writer.transport.abort()
        changed, self._changed = self._changed, asyncio.Event()
        if changed is not None:
            changed.set()

    def _state(self, link: Link) -> LinkState:
        return self._states.get(link, LinkState.OPEN)

    async def _serve(
        self,
        destination: str,
        port: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        opened = [writer]
        link = (CLIENTS, destination)
        try:
            first = await reader.readexactly(_HEADER.size)
            length = max(0, _HEADER.unpack(first)[-1])
            client_id = await reader.readexactly(length)
            source = client_id.decode("utf-8", "replace")
            if re.fullmatch(r"broker-\d+", source):
                link = (source, destination)
            self._writers[link].add(writer)
            if self._state(link) is LinkState.CUT:
                return
            there, back = await asyncio.open_connection(HOST, port, limit=PIECE_BYTES)
            opened.append(back)
            self._writers[link].add(back)
            there_task = self._start(self._pump(link, reader, back, first + client_id))
            back_task = self._start(self._pump(link, there, writer, b"", is_answer=True))
            await asyncio.wait({there_task, back_task}, return_when=asyncio.FIRST_COMPLETED)
            there_task.cancel()
            back_task.cancel()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the other side is not there, or this one is gone: both see their connection end
        finally:
            self._accepted.discard(writer)
            for each in opened:
                self._writers[link].discard(each)
                each.transport.abort()

    async def _pump(
        self,
        link: Link,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        piece: bytes,
        is_answer: bool = False,
    ) -> None:
        with suppress(OSError):
            while piece or (piece := await reader.read(PIECE_BYTES)):
                await self._wait(link, is_answer)
                writer.write(piece)
                await writer.drain()
                piece = b""

    async def _wait(self, link: Link, is_answer: bool) -> None:
        """Until a piece may pass."""
        if self._state(link) is LinkState.SLOW:
            await asyncio.sleep(SLOW_SECONDS)
        while True:
            state = self._state(link)
            if state is not LinkState.BLACK_HOLE and not (state is LinkState.ONE_WAY and is_answer):
                return
            assert self._changed is not None
            await self._changed.wait()


async def _turns() -> None:
    """Let the loop do what it has begun."""
    for _ in range(5):
        await asyncio.sleep(0)
