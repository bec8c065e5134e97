"""Counting connections against the limits."""

from __future__ import annotations

import pytest

from pykbroker.network.connection_limits import ConnectionLimits, UnknownHost, limits_by_address
from tests.network.conftest import TRANSPORT

MANY = 2**31 - 1


def _limits(
    max_connections: int = MANY, per_address: int = MANY, protected: str | None = None
) -> ConnectionLimits:
    limits = ConnectionLimits(max_connections, per_address, {"10.0.0.1": 1}, protected)
    limits.add_listener("A", MANY)
    limits.add_listener("B", 1)
    return limits


def test_a_listener_has_its_own_limit() -> None:
    limits = _limits()
    assert limits.opened("B", "10.0.0.2")
    assert not limits.may_accept("B")
    assert limits.may_accept("A")
    limits.closed("B", "10.0.0.2")
    assert limits.may_accept("B")
    assert limits.total == 0


def test_the_broker_limit_spares_the_protected_listener() -> None:
    limits = _limits(max_connections=1, protected="B")
    assert limits.opened("A", "10.0.0.2")
    assert not limits.may_accept("A")
    assert limits.may_accept("B")
    assert not limits.exceeded()
    assert limits.opened("B", "10.0.0.2")
    assert limits.exceeded()


def test_a_lone_listener_is_not_protected() -> None:
    limits = ConnectionLimits(1, MANY, {}, "A")
    limits.add_listener("A", MANY)
    limits.opened("A", "10.0.0.2")
    assert not limits.may_accept("A")


def test_addresses_and_their_overrides() -> None:
    limits = _limits(per_address=2)
    assert [limits.opened("A", "10.0.0.2") for _ in range(3)] == [True, True, False]
    assert [limits.opened("A", "10.0.0.1") for _ in range(2)] == [True, False]
    assert limits.total == 3
    limits.closed("A", "10.0.0.1")
    assert limits.opened("A", "10.0.0.1")


def test_overrides_may_name_hosts() -> None:
    assert limits_by_address({"localhost": 3}, TRANSPORT)["127.0.0.1"] == 3
    assert limits_by_address({"::1": 4, "0:0:0:0:0:0:0:2": 5}, TRANSPORT) == {"::1": 4, "::2": 5}
    assert limits_by_address({"::ffff:10.0.0.1": 6}, TRANSPORT) == {"10.0.0.1": 6}
    with pytest.raises(UnknownHost, match=r"max\.connections\.per\.ip\.overrides: no such host: "):
        limits_by_address({"no such host": 1}, TRANSPORT)


def test_a_lower_limit_is_exceeded() -> None:
    limits = _limits()
    assert limits.opened("A", "10.0.0.2")
    limits.update(0, MANY)
    assert limits.exceeded()
