"""The seam for TLS and SASL: a stream that is wrapped, an exchange before the first request."""

from __future__ import annotations

import asyncio
from typing import Any

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.api import API_VERSIONS
from pykbroker.protocol.headers import RequestHeader
from pykbroker.protocol.primitives import Message
from tests.network.fake_nodes import (
    HEARTBEAT,
    Caller,
    Conversation,
    FakeNode,
    heartbeat,
    negotiate_then_echo,
    run,
    wait_for,
)


class Masked:
    """A stream that inverts every byte, and an authentication of one Heartbeat: the seam."""

    def __init__(self) -> None:
        self.was_refused = False

    def wrap(self, sock: Any, host: str) -> Any:
        return MaskedStream(sock)

    async def authenticate(self, exchange: Any) -> None:
        response = await exchange(heartbeat(77), 0)
        if response.error_code:
            self.was_refused = True
            raise KafkaError(ErrorCode.SASL_AUTHENTICATION_FAILED)


class MaskedStream:
    def __init__(self, sock: Any) -> None:
        self._sock = sock
        self.fileno = sock.fileno
        self.close = sock.close

    def recv(self, size: int) -> bytes:
        return masked(self._sock.recv(size))

    def send(self, content: Any, flags: int = 0) -> int:
        sent: int = self._sock.send(masked(content))
        return sent

    def sendmsg(self, buffers: Any) -> int:
        return self.send(b"".join(buffers))


def masked(content: Any) -> bytes:
    return bytes(byte ^ 0xFF for byte in content)


def test_security_wraps_the_stream_and_authenticates_before_the_first_request() -> None:
    keys: list[int] = []

    class MaskedWriter:
        def __init__(self, writer: Any) -> None:
            self._writer = writer
            self.drain = writer.drain
            self.close = writer.close

        def write(self, content: bytes) -> None:
            self._writer.write(masked(content))

    class MaskedReader:
        def __init__(self, reader: asyncio.StreamReader) -> None:
            self._reader = reader

        async def readexactly(self, size: int) -> bytes:
            return masked(await self._reader.readexactly(size))

    class MaskedNode(FakeNode):
        async def _serve(self, reader: asyncio.StreamReader, writer: Any) -> None:
            masked_reader: Any = MaskedReader(reader)
            await super()._serve(masked_reader, MaskedWriter(writer))

    async def answer(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        keys.append(header.api_key)
        if header.api_key == HEARTBEAT and message.generation_id == 77:
            await conversation.reply(header, heartbeat_response(0))
        else:
            await negotiate_then_echo(conversation, header, message)

    async def body(caller: Caller) -> None:
        async with MaskedNode(answer) as node:
            assert (await wait_for(caller.send(node.peer, 5))).throttle_time_ms == 5
            assert keys == [HEARTBEAT, API_VERSIONS, HEARTBEAT]

    run(body, security=Masked())


def heartbeat_response(error_code: int) -> Message:
    from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse

    return HeartbeatResponse(error_code=error_code)


def test_a_peer_that_refuses_authentication_gets_no_request() -> None:
    async def refuse(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        assert header.api_key == HEARTBEAT
        assert message.generation_id == 77
        await conversation.reply(header, heartbeat_response(ErrorCode.ILLEGAL_SASL_STATE))

    class Refused(Masked):
        def wrap(self, sock: Any, host: str) -> Any:
            return sock

    security = Refused()

    async def body(caller: Caller) -> None:
        async with FakeNode(refuse) as node:
            failure = await wait_for(caller.send(node.peer, 5))
            assert failure.code == ErrorCode.NETWORK_EXCEPTION
            assert security.was_refused
            assert len(node.conversations[0].requests) == 1

    run(body, security=security)
