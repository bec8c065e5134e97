"""Responses matched to requests, and peers that misbehave."""

from __future__ import annotations

import asyncio
import logging
import struct
from typing import Any

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.api import API_VERSIONS
from pykbroker.protocol.headers import RequestHeader
from pykbroker.protocol.messages.api_versions_request import ApiVersionsRequest
from tests.network.fake_nodes import (
    HEARTBEAT,
    Caller,
    Conversation,
    FakeNode,
    negotiate_then_echo,
    run,
    wait_for,
)


def test_requests_in_flight_are_answered_in_their_order() -> None:
    async def body(caller: Caller) -> None:
        async with FakeNode() as node:
            sent = [caller.send(node.peer, number) for number in range(20)]
            answers = [await wait_for(deferred) for deferred in sent]
            assert [answer.throttle_time_ms for answer in answers] == list(range(20))
            assert len(node.conversations) == 1
            requests = node.conversations[0].requests
            assert [header.api_key for header, _ in requests] == [API_VERSIONS] + [HEARTBEAT] * 20
            assert {header.client_id for header, _ in requests} == {"tester"}
            asked = requests[0][1]
            assert isinstance(asked, ApiVersionsRequest)
            assert asked.client_software_name == "pykbroker"

    run(body)


GARBAGE = {
    "another correlation id": struct.pack(">iih", 6, 99, 0),
    "not Kafka": b"HTTP/1.1 400 Bad Request\r\n\r\n" + bytes(1 << 16),
    "a length below zero": struct.pack(">i", -4),
    "no length": struct.pack(">i", 0),
    "cut short": struct.pack(">iib", 5, 1, 0),
    "bytes left over": struct.pack(">iibihbi", 16, 1, 0, 0, 0, 0, 0),
}


@pytest.mark.parametrize("kind", [kind for kind in GARBAGE if kind != "not Kafka"])
def test_a_peer_that_misbehaves_is_logged_once(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    async def misbehave(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        if header.api_key == API_VERSIONS:
            await conversation.offer(header)
        else:
            await conversation.say(GARBAGE[kind])

    async def body(caller: Caller) -> None:
        async with FakeNode(misbehave) as node:
            for _ in range(3):
                failure = await wait_for(caller.send(node.peer))
                assert failure.code == ErrorCode.NETWORK_EXCEPTION
            assert len(node.conversations) == 3

    with caplog.at_level(logging.WARNING):
        run(body, reconnect_backoff_ms=1)
    assert len(caplog.records) == 1


def test_a_response_to_no_request_closes_the_connection() -> None:
    async def talkative(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        await negotiate_then_echo(conversation, header, message)
        if header.api_key == HEARTBEAT and len(conversation.node.conversations) == 1:
            await conversation.say(struct.pack(">iih", 6, 2, 0))

    async def body(caller: Caller) -> None:
        async with FakeNode(talkative) as node:
            assert (await wait_for(caller.send(node.peer, 3))).throttle_time_ms == 3
            answer = await wait_for(caller.send(node.peer, 4))
            while isinstance(answer, KafkaError) or len(node.conversations) == 1:
                answer = await wait_for(caller.send(node.peer, 4))
            assert answer.throttle_time_ms == 4

    run(body, reconnect_backoff_ms=1)


def test_garbage_that_claims_a_large_frame_takes_no_memory() -> None:
    async def garbage(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        await conversation.say(GARBAGE["not Kafka"])

    async def body(caller: Caller) -> None:
        async with FakeNode(garbage) as node:
            caller.send(node.peer)
            (link,) = caller.pool._links.values()
            while link._connection is None or not link._connection._buffer:
                await asyncio.sleep(0.001)
            assert len(link._connection._buffer) < 1 << 18

    run(body)


def test_a_connection_that_closes_half_way_fails_all_its_requests() -> None:
    async def closing(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        if header.api_key == API_VERSIONS:
            await conversation.offer(header)
        else:
            await conversation.say(struct.pack(">ii", 100, 1))
            conversation.writer.close()

    async def body(caller: Caller) -> None:
        async with FakeNode(closing) as node:
            sent = [caller.send(node.peer, number) for number in range(9)]
            codes = {(await wait_for(deferred)).code for deferred in sent}
            assert codes == {ErrorCode.NETWORK_EXCEPTION}

    run(body)
