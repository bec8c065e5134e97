"""Idle connections fall due once, active ones move their deadline, busy ones have none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.network.idle_connections import IdleConnections

MAX_IDLE_MS = 10_000


def _connection(last_active: float = 0.0) -> Any:
    return SimpleNamespace(
        last_active_ns=int(last_active * 1e9), in_flight=False, stream_ended=False, idle_task=None
    )


def _watch(*connections: Any) -> IdleConnections[Any]:
    idle: IdleConnections[Any] = IdleConnections(MAX_IDLE_MS, 0)
    for connection in connections:
        idle.watch(connection, 0)
    return idle


def test_idle_for_too_long() -> None:
    connection = _connection()
    idle = _watch(connection)
    assert idle.advance(MAX_IDLE_MS - 100) == []
    assert idle.advance(MAX_IDLE_MS) == [connection]
    assert idle.next_deadline_ms() is None


def test_activity_moves_the_deadline() -> None:
    connection = _connection()
    idle = _watch(connection)
    connection.last_active_ns = 6_000_000_000
    assert idle.advance(MAX_IDLE_MS) == []
    assert idle.advance(15_900) == []
    assert idle.advance(16_000) == [connection]


def test_one_that_waits_for_us_is_not_idle() -> None:
    connection = _connection()
    connection.in_flight = True
    idle = _watch(connection)
    assert idle.advance(MAX_IDLE_MS) == []
    connection.in_flight = False
    assert idle.advance(2 * MAX_IDLE_MS) == [connection]


def test_unless_its_peer_may_be_gone() -> None:
    connection = _connection()
    connection.in_flight = connection.stream_ended = True
    assert _watch(connection).advance(MAX_IDLE_MS) == [connection]


def test_a_closed_one_drops_out() -> None:
    connection = _connection()
    idle = _watch(connection)
    idle.forget(connection)
    idle.forget(connection)
    assert connection.idle_task is None
    assert idle.advance(MAX_IDLE_MS) == []
    assert idle.next_deadline_ms() is None


def test_a_negative_limit_is_none() -> None:
    idle: IdleConnections[Any] = IdleConnections(-1, 0)
    connection = _connection()
    idle.watch(connection, 0)
    assert idle.next_deadline_ms() is None
    assert idle.advance(1 << 40) == []
    idle.forget(connection)
