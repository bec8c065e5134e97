"""Versions, deadlines, failures and the back-off of one connection."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from pykbroker.deferred import Deferred
from pykbroker.environment.real.ports import free_ports
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.api import API_VERSIONS
from pykbroker.protocol.headers import RequestHeader
from pykbroker.protocol.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from pykbroker.protocol.messages.fetch_request import FetchRequest
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.types import Peer
from tests.network.fake_nodes import (
    HEARTBEAT,
    Caller,
    Conversation,
    FakeNode,
    run,
    wait_for,
)


def test_at_most_the_allowed_number_is_in_flight() -> None:
    async def body(caller: Caller) -> None:
        held: list[tuple[Conversation, RequestHeader]] = []

        async def hold(conversation: Conversation, header: RequestHeader, message: Any) -> None:
            if header.api_key == API_VERSIONS:
                await conversation.offer(header)
            else:
                held.append((conversation, header))
                if len(held) == 2:  # a third one does not come before one is answered
                    reading = asyncio.ensure_future(conversation.reader.read(1))
                    done, _ = await asyncio.wait([reading], timeout=0.05)
                    seen.append(len(done))
                    for waiting, asked in held:
                        await waiting.heartbeat(asked, 0)

        seen: list[int] = []
        async with FakeNode(hold) as node:
            sent = [caller.send(node.peer, number) for number in range(3)]
            assert (await wait_for(sent[1])).throttle_time_ms == 0
            assert seen == [0]

    run(body, max_in_flight=2)


@pytest.mark.parametrize(
    ("offered", "max_version", "used"),
    [((0, 4), None, 4), ((0, 3), None, 3), ((2, 9), None, 4), ((0, 4), 1, 1), ((0, 0), 3, 0)],
)
def test_the_highest_common_version_is_used(
    offered: tuple[int, int], max_version: int | None, used: int
) -> None:
    async def answer(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        if header.api_key == API_VERSIONS:
            await conversation.offer(header, ((HEARTBEAT, *offered), (API_VERSIONS, 0, 4)))
        else:
            assert header.api_version == used
            await conversation.heartbeat(header, 5 if used else 0)

    async def body(caller: Caller) -> None:
        async with FakeNode(answer) as node:
            response = await wait_for(caller.send(node.peer, max_version=max_version))
            assert response.error_code == 0
            assert node.conversations[0].requests[1][0].api_version == used

    run(body)


def test_no_common_version_fails_that_request_only() -> None:
    async def answer(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        if header.api_key == API_VERSIONS:
            await conversation.offer(header, ((HEARTBEAT, 2, 4),))
        else:
            await conversation.heartbeat(header, 1)

    async def body(caller: Caller) -> None:
        async with FakeNode(answer) as node:
            too_low = await wait_for(caller.send(node.peer, max_version=1))
            not_offered = await wait_for(caller.send(node.peer, message=FetchRequest()))
            static = HeartbeatRequest(group_id="g", member_id="m", group_instance_id="i")
            unencodable = await wait_for(caller.send(node.peer, message=static, max_version=2))
            for failure in (too_low, not_offered, unencodable):
                assert failure.code == ErrorCode.UNSUPPORTED_VERSION
            assert (await wait_for(caller.send(node.peer))).throttle_time_ms == 1
            assert len(node.conversations) == 1

    run(body)


def test_a_peer_that_refuses_our_api_versions_is_asked_in_its_own() -> None:
    versions: list[int] = []

    async def answer(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        if header.api_key != API_VERSIONS:
            await conversation.heartbeat(header, 1)
            return
        versions.append(header.api_version)
        if header.api_version > 2:
            rows = [ApiVersion(api_key=API_VERSIONS, min_version=0, max_version=2)]
            code = ErrorCode.UNSUPPORTED_VERSION
            refusal = ApiVersionsResponse(error_code=code, api_keys=rows)
            await conversation.reply(header, refusal, version=0)
        else:
            await conversation.offer(header)

    async def body(caller: Caller) -> None:
        async with FakeNode(answer) as node:
            assert (await wait_for(caller.send(node.peer))).throttle_time_ms == 1
            assert versions == [5, 2]

    run(body)


def test_a_slow_answer_times_out_and_closes_the_connection() -> None:
    async def slow(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        if header.api_key == API_VERSIONS:
            await conversation.offer(header)
        elif message.generation_id == 1 or len(conversation.node.conversations) > 1:
            await conversation.heartbeat(header, 9)

    async def body(caller: Caller) -> None:
        async with FakeNode(slow) as node:
            # Connected: a request that expires before it was sent takes no other with it.
            assert (await wait_for(caller.send(node.peer, 1))).throttle_time_ms == 9
            first = caller.send(node.peer, timeout_ms=300)
            second = caller.send(node.peer)
            assert (await wait_for(first)).code == ErrorCode.REQUEST_TIMED_OUT
            assert (await wait_for(second)).code == ErrorCode.NETWORK_EXCEPTION
            assert (await wait_for(caller.send(node.peer))).throttle_time_ms == 9

    run(body)


def test_a_peer_that_does_not_negotiate_is_left_when_nobody_waits() -> None:
    """It restarted just after it had received ApiVersions; the next request connects anew."""
    silent = [True]

    async def answer(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        if header.api_key != API_VERSIONS:
            await conversation.heartbeat(header, 9)
        elif not silent:
            await conversation.offer(header)

    async def body(caller: Caller) -> None:
        async with FakeNode(answer) as node:
            hurried = await wait_for(caller.send(node.peer, timeout_ms=500))
            assert hurried.code == ErrorCode.REQUEST_TIMED_OUT
            silent.clear()
            assert (await wait_for(caller.send(node.peer))).throttle_time_ms == 9

    run(body)


def test_a_peer_that_negotiates_slowly_is_awaited_while_somebody_waits() -> None:
    has_expired = asyncio.Event()

    async def answer(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        if header.api_key == API_VERSIONS:
            await has_expired.wait()
            await conversation.offer(header)
        else:
            await conversation.heartbeat(header, 9)

    async def body(caller: Caller) -> None:
        async with FakeNode(answer) as node:
            hurried = caller.send(node.peer, timeout_ms=300)
            patient = caller.send(node.peer)
            assert (await wait_for(hurried)).code == ErrorCode.REQUEST_TIMED_OUT
            has_expired.set()
            assert (await wait_for(patient)).throttle_time_ms == 9
            assert len(node.conversations) == 1

    run(body)


def test_a_deadline_in_the_past_sends_nothing() -> None:
    async def body(caller: Caller) -> None:
        async with FakeNode() as node:
            outcome = caller.send(node.peer, timeout_ms=0)
            assert outcome.value.code == ErrorCode.REQUEST_TIMED_OUT
            assert not node.conversations

    run(body)


def test_a_request_that_waits_for_the_back_off_times_out_alone() -> None:
    async def body(caller: Caller) -> None:
        gone = Peer(3, "127.0.0.1", free_ports(1)[0])
        assert (await wait_for(caller.send(gone))).code == ErrorCode.NETWORK_EXCEPTION
        hurried = caller.send(gone, timeout_ms=100)
        patient = caller.send(gone)
        assert (await wait_for(hurried)).code == ErrorCode.REQUEST_TIMED_OUT
        assert not patient.done

    run(body, reconnect_backoff_ms=60_000, reconnect_backoff_max_ms=60_000)


def test_a_refused_connection_fails_and_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async def body(caller: Caller) -> None:
        port = free_ports(1)[0]
        gone = Peer(7, "127.0.0.1", port)
        for _ in range(4):
            assert (await wait_for(caller.send(gone))).code == ErrorCode.NETWORK_EXCEPTION
        async with FakeNode(port=port) as node:
            answer = await wait_for(caller.send(gone, 4))
            while isinstance(answer, KafkaError):
                answer = await wait_for(caller.send(gone, 4))
            assert answer.throttle_time_ms == 4
            assert len(node.conversations) == 1

    with caplog.at_level(logging.WARNING):
        run(body, reconnect_backoff_ms=1)
    (record,) = caplog.records
    assert "cannot connect: Connection refused" in record.getMessage()


def test_the_back_off_doubles_and_is_bounded() -> None:
    async def body(caller: Caller) -> None:
        gone = Peer(7, "127.0.0.1", free_ports(1)[0])
        clock = caller.environment.clock
        took_ms = []
        for _ in range(5):
            began_ns = clock.monotonic_ns()
            assert (await wait_for(caller.send(gone))).code == ErrorCode.NETWORK_EXCEPTION
            took_ms.append((clock.monotonic_ns() - began_ns) / 1e6)
        for measured_ms, backoff_ms in zip(took_ms[1:], (20, 40, 80, 80), strict=True):
            assert measured_ms >= backoff_ms * 0.8 - 2

    run(body, reconnect_backoff_ms=20, reconnect_backoff_max_ms=80)


def test_an_idle_connection_that_the_peer_closed_is_opened_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def body(caller: Caller) -> None:
        async with FakeNode() as node:
            await wait_for(caller.send(node.peer))
            node.conversations[0].writer.close()
            answer = await wait_for(caller.send(node.peer, 2))
            while isinstance(answer, KafkaError):  # it was sent before the end was seen
                answer = await wait_for(caller.send(node.peer, 2))
            assert answer.throttle_time_ms == 2

    run(body)


def test_a_listener_may_send_again_at_once() -> None:
    async def body(caller: Caller) -> None:
        again: list[Deferred] = []
        gone = Peer(7, "127.0.0.1", free_ports(1)[0])
        first = caller.send(gone)
        done = Deferred()

        def retry(outcome: object) -> None:
            if len(again) == 3:
                done.resolve(outcome)
            else:
                again.append(caller.send(gone))
                again[-1].on_resolved(retry)

        first.on_resolved(retry)
        assert (await wait_for(done)).code == ErrorCode.NETWORK_EXCEPTION

    run(body, reconnect_backoff_ms=1)
