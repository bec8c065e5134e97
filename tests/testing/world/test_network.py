"""Faults of the simulated network; what it shares with a real one is in test_transport.py."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.environment import Environment
from pykbroker.testing.world.machine import Machine
from pykbroker.testing.world.network import Network
from pykbroker.testing.world.randomness import Dice
from pykbroker.testing.world.virtual_time import EventQueue

PORT = 9092
SECOND = 1_000_000


class Pair:
    """Two machines, `near` connected to `far`."""

    def __init__(self, seed: int = 1) -> None:
        self.queue = EventQueue()
        self.network = Network(self.queue, Dice(seed, "network"))
        self.near = Machine(seed, self.queue, self.network, "near")
        self.far = Machine(seed, self.queue, self.network, "far")
        self.near_world: Environment = self.near.boot()
        self.far_world: Environment = self.far.boot()
        self.port = self.listen()
        self.client: Any = self.connect()
        self.server: Any = self.port.accept()[0]

    def listen(self) -> Any:
        return self.far_world.transport.listen("far", PORT, backlog=3, receive_buffer_bytes=0)

    def connect(self, timeout_ms: int = 60_000) -> Any:
        outcome = self.near_world.transport.connect("far", PORT, timeout_ms=timeout_ms)
        self.run(120 * SECOND, lambda: outcome.done)
        return outcome.value

    def run(self, for_us: int, until: Any = lambda: False) -> None:
        end_us = self.queue.now_us + for_us
        while not until():
            due_us = self.queue.next_due_us()
            if due_us is None or due_us > end_us:
                self.queue.now_us = end_us
                return
            self.queue.step()

    def received(self, sock: Any) -> bytes:
        self.run(SECOND)
        try:
            return bytes(sock.recv(1 << 20))
        except BlockingIOError:
            return b"nothing"


def test_a_cut_link_holds_back_one_direction_until_it_is_healed() -> None:
    pair = Pair()
    pair.network.cut("near", "far")
    pair.client.send(b"to far")
    pair.server.send(b"to near")
    assert pair.received(pair.client) == b"to near"
    assert pair.received(pair.server) == b"nothing"
    pair.client.send(b", and more")
    pair.network.heal("near", "far")
    pair.client.send(b", in order")
    assert pair.received(pair.server) == b"to far, and more, in order"


def test_connecting_over_a_cut_link_times_out() -> None:
    for sender, receiver in (("near", "far"), ("far", "near")):
        pair = Pair()
        pair.network.cut(sender, receiver)
        assert isinstance(pair.connect(timeout_ms=3_000), TimeoutError)


def test_a_slow_link_delays_and_keeps_the_order() -> None:
    pair = Pair()
    pair.network.slow("near", "far", 900_000)
    for number in range(20):
        pair.client.send(b"%02d" % number)
    arrived = b""
    while len(arrived) < 40:
        content = pair.received(pair.server)
        arrived += b"" if content == b"nothing" else content
    assert arrived == b"".join(b"%02d" % number for number in range(20))
    assert pair.queue.now_us > SECOND // 5


def test_a_broken_connection_is_reset_on_both_sides() -> None:
    pair = Pair()
    pair.client.send(b"lost")
    pair.client.break_both()
    pair.run(SECOND)
    for sock in (pair.client, pair.server):
        with pytest.raises(ConnectionResetError):
            sock.recv(10)
    assert pair.network.connections() == []


def test_a_killed_process_ends_its_streams() -> None:
    pair = Pair()
    pair.server.send(b"last words")
    pair.far.end()
    assert pair.received(pair.client) == b"last words"
    assert pair.received(pair.client) == b""
    assert isinstance(pair.connect(), ConnectionRefusedError)


def test_a_machine_without_power_says_nothing() -> None:
    pair = Pair()
    pair.far.power_off(reorder=False)
    assert pair.received(pair.client) == b"nothing"
    pair.client.send(b"is anybody there?")
    assert isinstance(pair.connect(timeout_ms=2_000), TimeoutError)
    assert pair.received(pair.client) == b"nothing"
    pair.far_world = pair.far.boot()
    pair.run(SECOND)
    with pytest.raises(ConnectionResetError):
        pair.client.recv(10)
    pair.listen()
    assert not isinstance(pair.connect(), OSError)


def test_a_connection_to_a_machine_that_lost_power_is_reset_in_the_end() -> None:
    pair = Pair()
    pair.network.reset_half_open()
    pair.server.send(b"here")
    assert pair.received(pair.client) == b"here"
    pair.far.power_off(reorder=False)
    pair.network.reset_half_open()
    with pytest.raises(ConnectionResetError):
        pair.client.recv(10)


def test_a_connection_attempt_waits_for_a_machine_that_comes_back() -> None:
    pair = Pair()
    pair.far.power_off(reorder=False)
    outcome = pair.near_world.transport.connect("far", PORT, timeout_ms=30_000)
    pair.run(5 * SECOND)
    done = [outcome.done]
    pair.far_world = pair.far.boot()
    pair.listen()
    pair.run(5 * SECOND)
    assert [*done, outcome.done] == [False, True]
    assert not isinstance(outcome.value, OSError)


def test_a_process_that_has_ended_gets_nothing_any_more() -> None:
    pair = Pair()
    calls: list[bool] = []
    pair.far_world.transport.add_reader(pair.server, lambda: calls.append(True))
    outcome = pair.near_world.transport.connect("far", PORT, timeout_ms=1_000)
    pair.near.end()
    pair.far.end()
    pair.run(10 * SECOND)
    assert calls == []
    assert not outcome.done
    assert pair.near.host.endpoints == {}


def test_a_full_backlog_keeps_connections_waiting() -> None:
    pair = Pair()
    outcomes = [pair.near_world.transport.connect("far", PORT, timeout_ms=60_000) for _ in range(5)]
    pair.run(2 * SECOND)
    assert [outcome.done for outcome in outcomes].count(True) == 3
    for _ in range(3):
        pair.port.accept()
    pair.run(5 * SECOND)
    assert all(outcome.done for outcome in outcomes)


def test_the_same_seed_gives_the_same_times() -> None:
    def times(seed: int) -> list[int]:
        pair = Pair(seed)
        arrivals: list[int] = []
        pair.network.on_segment = lambda *_: arrivals.append(pair.queue.now_us)
        for _ in range(10):
            pair.client.send(bytes(100))
            pair.run(1_000)
        return arrivals

    assert times(3) == times(3)
    assert times(3) != times(4)
