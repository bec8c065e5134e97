"""Connections by peer and purpose."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.api import API_VERSIONS
from pykbroker.protocol.headers import RequestHeader
from tests.network.fake_nodes import (
    Caller,
    Conversation,
    FakeNode,
    run,
    wait_for,
)


def test_each_purpose_has_a_connection_of_its_own() -> None:
    async def body(caller: Caller) -> None:
        async with FakeNode() as node:
            for purpose in ("raft", "fetch", "raft"):
                await wait_for(caller.send(node.peer, purpose=purpose))
            assert [len(at.requests) for at in node.conversations] == [3, 2]

    run(body)


def test_forget_and_a_new_address_close_the_connection() -> None:
    async def silent(conversation: Conversation, header: RequestHeader, message: Any) -> None:
        if header.api_key == API_VERSIONS:
            await conversation.offer(header)

    async def body(caller: Caller) -> None:
        async with FakeNode(silent) as silent_node, FakeNode() as node:
            waiting = caller.send(silent_node.peer)
            moved = caller.send(node.peer, 2)
            assert waiting.value.code == ErrorCode.NETWORK_EXCEPTION
            assert (await wait_for(moved)).throttle_time_ms == 2
            other = caller.send(node.peer, purpose="other")
            caller.pool.forget(node.peer)
            assert other.value.code == ErrorCode.NETWORK_EXCEPTION
            assert (await wait_for(caller.send(node.peer, 3))).throttle_time_ms == 3

    run(body)


def test_closing_fails_what_waits_and_what_comes_later() -> None:
    async def body(caller: Caller) -> None:
        async with FakeNode() as node:
            waiting = caller.send(node.peer)
            caller.pool.close()
            assert waiting.value.code == ErrorCode.NETWORK_EXCEPTION
            assert caller.send(node.peer).value.code == ErrorCode.NETWORK_EXCEPTION

    run(body)


def test_connecting_may_take_longer_after_each_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(caller: Caller) -> None:
        async with FakeNode() as node:
            peer = node.peer
        asked: list[int] = []
        kind = type(caller.environment.transport)
        connect = kind.connect

        def watched(transport: Any, host: str, port: int, *, timeout_ms: int) -> Any:
            asked.append(timeout_ms)
            return connect(transport, host, port, timeout_ms=timeout_ms)

        monkeypatch.setattr(kind, "connect", watched)
        for _ in range(4):
            failure = await wait_for(caller.send(peer))
            assert failure.code == ErrorCode.NETWORK_EXCEPTION
        for timeout_ms, wanted_ms in zip(asked, (100, 200, 300, 300), strict=True):
            assert 0.8 * wanted_ms <= timeout_ms <= 1.2 * wanted_ms

    run(body, setup_timeout_ms=100, setup_timeout_max_ms=300, reconnect_backoff_ms=1)
