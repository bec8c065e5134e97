"""The channel: bounded, in order, one turn however many requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pykbroker.network.request_channel import ChannelConnection, RequestChannel
from tests.network.conftest import Served, frame, read_reply


class Loop:
    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []

    def call_soon(self, function: Callable[[], None]) -> None:
        self.soon.append(function)


def _channel(max_requests: int = 2) -> tuple[RequestChannel, Loop, list[str]]:
    loop = Loop()
    channel = RequestChannel(loop, max_requests)  # type: ignore[arg-type]
    turns: list[str] = []
    channel.attach_worker(lambda: turns.append("turn"))
    return channel, loop, turns


def test_many_requests_one_turn() -> None:
    channel, loop, _ = _channel(500)
    requests: list[Any] = [object() for _ in range(10)]
    for request in requests:
        channel.put(request)
    assert len(loop.soon) == 1
    assert [channel.queue.popleft() for _ in range(10)] == requests


def test_what_is_left_after_a_turn_gets_another() -> None:
    channel, loop, _ = _channel()
    channel.put(object())  # type: ignore[arg-type]
    channel.turn_finished()
    assert len(loop.soon) == 2
    channel.queue.popleft()
    channel.turn_finished()
    assert len(loop.soon) == 2
    channel.wake()
    assert len(loop.soon) == 3


def test_a_wake_within_a_turn_is_not_lost() -> None:
    channel, loop, _ = _channel()
    channel.wake()
    channel.woken = False  # the worker is about to write
    channel.wake()
    channel.turn_finished()
    assert len(loop.soon) == 2
    channel.woken = False
    channel.turn_finished()
    assert len(loop.soon) == 2


def test_what_is_put_off_asks_for_a_turn_and_is_done_once() -> None:
    channel, loop, _ = _channel()
    done: list[str] = []
    channel.after_sends(lambda: done.append("first"))
    assert (len(loop.soon), done) == (1, [])
    channel.after_sends(lambda: channel.after_sends(lambda: done.append("put off again")))
    channel.do_put_off()
    assert (len(loop.soon), done) == (1, ["first"])
    channel.turn_finished()
    assert len(loop.soon) == 2
    channel.do_put_off()
    assert done == ["first", "put off again"]
    channel.turn_finished()
    assert len(loop.soon) == 2


def test_full() -> None:
    channel, _, _ = _channel(1)
    assert not channel.full
    channel.put(object())  # type: ignore[arg-type]
    assert channel.full


def test_connections_that_wait_are_admitted_in_order_as_far_as_there_is_room() -> None:
    channel, _, _ = _channel(2)
    admitted: list[int] = []

    class Waiting:
        def __init__(self, number: int) -> None:
            self.number = number

        def resume_hand_over(self) -> None:
            admitted.append(self.number)
            channel.put(self)  # type: ignore[arg-type]

    for number in range(5):
        channel.wait(Waiting(number))  # type: ignore[arg-type]
    channel.admit_waiting()
    assert admitted == [0, 1]
    channel.queue.popleft()
    channel.admit_waiting()
    assert admitted == [0, 1, 2]
    assert [each.number for each in channel.waiting] == [3, 4]  # type: ignore[attr-defined]


def test_with_a_full_channel_everyone_is_served_in_the_end(
    serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(queued_max_requests=2)
    waited: list[object] = []
    wait = RequestChannel.wait

    def note(channel: RequestChannel, connection: ChannelConnection) -> None:
        waited.append(connection)
        wait(channel, connection)

    monkeypatch.setattr(RequestChannel, "wait", note)
    clients = [served.connect() for _ in range(10)]
    served.until(lambda: len(served.server.connections) == 10)
    large = bytes(50_000)

    def send_all() -> None:
        for number, sock in enumerate(clients):
            sock.sendall(frame(large if number % 2 else b"small", number) + frame(b"2nd", 100))

    served.call(send_all)
    for number, sock in enumerate(clients):
        assert read_reply(sock) == (number, large if number % 2 else b"small")
        assert read_reply(sock) == (100, b"2nd")
        sock.close()
    assert max(served.rounds) <= 2
    assert waited
