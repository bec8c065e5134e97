"""Heartbeat sessions run out, the oldest first."""

from __future__ import annotations

from pykbroker.kraft.controller.sessions import BrokerSessions


def test_a_session_runs_out() -> None:
    sessions = BrokerSessions(100)
    sessions.touch(1, 5, 0)
    sessions.touch(2, 6, 10)
    assert sessions.is_valid(1, 5, 99)
    assert not sessions.is_valid(1, 5, 100)
    assert not sessions.is_valid(1, 4, 0)
    assert sessions.expired(99) is None
    assert sessions.expired(500) == 1
    sessions.forget(1)
    assert sessions.expired(500) == 2
    sessions.forget(2)
    assert sessions.expired(500) is None


def test_another_epoch_is_another_session() -> None:
    sessions = BrokerSessions(100)
    sessions.touch(1, 5, 0, 40)
    sessions.begin_controlled_shutdown(1, 7)
    assert sessions.controlled_shutdown_offset(1) == 7
    sessions.touch(1, 6, 1, 3)
    assert sessions.controlled_shutdown_offset(1) == -1
    assert sessions.lowest_offset([1]) == 3


def test_the_offset_a_broker_has_read_never_goes_back() -> None:
    sessions = BrokerSessions(100)
    sessions.touch(1, 5, 0, 40)
    sessions.touch(1, 5, 1, 30)
    sessions.touch(2, 5, 1, 90)
    assert sessions.lowest_offset([1, 2]) == 40
    assert sessions.lowest_offset([]) == 2**63 - 1
