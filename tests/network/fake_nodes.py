"""Servers that stand in for other nodes, on real sockets and an asyncio loop.

A `FakeNode` answers by a function of its test; `wait_for` turns a Deferred into something that a
test's coroutine awaits.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from typing import Any, Self

from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.environment.real.scheduler import in_asyncio
from pykbroker.environment.real.world import real_environment
from pykbroker.network.client_pool import ClientPool, ClientSettings
from pykbroker.protocol.api import API_VERSIONS, request_class
from pykbroker.protocol.headers import RequestHeader, decode_request_header, encode_response
from pykbroker.protocol.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import Message
from pykbroker.types import Peer

HEARTBEAT = 12
OFFERED = ((HEARTBEAT, 0, 4), (API_VERSIONS, 0, 4))

Answer = Callable[["Conversation", RequestHeader, Message], Awaitable[None]]


async def wait_for(deferred: Deferred) -> Any:
    """The value; an exception is returned, not raised."""
    try:
        return await asyncio.wait_for(in_asyncio(deferred), 60)
    except Exception as failure:
        return failure


class Conversation:
    """One accepted connection of a FakeNode."""

    def __init__(self, node: FakeNode, reader: asyncio.StreamReader, writer: Any) -> None:
        self.node = node
        self.reader = reader
        self.writer = writer
        self.requests: list[tuple[RequestHeader, Message]] = []

    async def next_request(self) -> tuple[RequestHeader, Message]:
        size = struct.unpack(">i", await self.reader.readexactly(4))[0]
        frame = memoryview(await self.reader.readexactly(size))
        header = decode_request_header(frame)
        known = request_class(header.api_key)
        version = min(header.api_version, known.LATEST_VERSION)
        message, _ = known.decode(frame, header.body_pos, version)
        self.requests.append((header, message))
        return header, message

    async def reply(self, header: RequestHeader, response: Message, version: int = -1) -> None:
        parts: Parts = []
        used = header.api_version if version < 0 else version
        encode_response(header.api, used, header.correlation_id, response, parts)
        await self.say(join_parts(parts))

    async def say(self, content: bytes) -> None:
        self.writer.write(content)
        await self.writer.drain()

    async def offer(self, header: RequestHeader, offered: Any = OFFERED) -> None:
        """Answer ApiVersions."""
        rows = [
            ApiVersion(api_key=key, min_version=low, max_version=up) for key, low, up in offered
        ]
        await self.reply(header, ApiVersionsResponse(api_keys=rows))

    async def heartbeat(self, header: RequestHeader, throttle_time_ms: int) -> None:
        """Answer a Heartbeat; the throttle time tells responses apart."""
        await self.reply(header, HeartbeatResponse(throttle_time_ms=throttle_time_ms))


async def negotiate_then_echo(
    conversation: Conversation, header: RequestHeader, message: Any
) -> None:
    """Offer Heartbeat, and answer each with its generation id as throttle time."""
    if header.api_key == API_VERSIONS:
        await conversation.offer(header)
    else:
        await conversation.heartbeat(header, message.generation_id)


class FakeNode:
    """A server on a free port; `answer` handles each request that it receives."""

    def __init__(self, answer: Answer = negotiate_then_echo, port: int = 0) -> None:
        self.answer = answer
        self.conversations: list[Conversation] = []
        self._port = port
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for conversation in self.conversations:
            conversation.writer.close()
        await asyncio.wait_for(self._server.wait_closed(), 60)

    @property
    def peer(self) -> Peer:
        assert self._server is not None
        return Peer(7, "127.0.0.1", self._server.sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: Any) -> None:
        conversation = Conversation(self, reader, writer)
        self.conversations.append(conversation)
        try:
            while True:
                header, message = await conversation.next_request()
                await self.answer(conversation, header, message)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


Body = Callable[["Caller"], Awaitable[None]]


class Caller:
    """A pool on the running loop."""

    def __init__(self, **settings: Any) -> None:
        self.environment: Environment = real_environment(asyncio.get_running_loop())
        self.pool = ClientPool(self.environment, ClientSettings("tester", **settings))

    def send(
        self,
        peer: Peer,
        generation_id: int = 0,
        timeout_ms: int = 60_000,
        message: Message | None = None,
        **more: Any,
    ) -> Deferred:
        """Send a Heartbeat."""
        request = heartbeat(generation_id) if message is None else message
        deadline_ms = self.environment.clock.now_ms() + timeout_ms
        return self.pool.send(peer, request, deadline_ms, **more)


def heartbeat(generation_id: int) -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", generation_id=generation_id, member_id="m")


def run(body: Body, **settings: Any) -> None:
    async def main() -> None:
        caller = Caller(**settings)
        try:
            await body(caller)
        finally:
            caller.pool.close()

    asyncio.run(main())
