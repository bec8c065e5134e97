"""Kept ports are for their node alone, before it runs and while it is down."""

from __future__ import annotations

import socket

import pytest

from pykbroker.environment.real import ports
from pykbroker.environment.real.ports import free_ports
from pykbroker.testing import Broker
from tests.harness.ports import HOST, KeptPorts


def test_a_node_listens_on_a_kept_port_that_is_free_for_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = KeptPorts(2)
    try:
        first, second = sorted(kept.numbers)
        monkeypatch.setattr(ports, "_RANGE", range(first, second + 1, second - first))
        broker = Broker()
        broker.port = first
        for _ in range(2):
            with pytest.raises(OSError, match="fewer than 1 ports"):
                free_ports(1)
            with broker:
                socket.create_connection((HOST, first), timeout=60).close()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((HOST, first), timeout=60)
    finally:
        kept.close()
    assert sorted(free_ports(2)) == [first, second]
