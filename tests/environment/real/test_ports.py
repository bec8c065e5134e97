from __future__ import annotations

import socket

import pytest

from pykbroker.environment.real import ports
from pykbroker.environment.real.ports import free_ports


def test_the_ports_are_different_and_free() -> None:
    found = free_ports(5)
    assert len(set(found)) == 5
    for port in found:
        socket.create_server(("127.0.0.1", port)).close()


def test_ports_in_use_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = sorted(free_ports(2))
    monkeypatch.setattr(ports, "_RANGE", range(first, second + 1, second - first))
    with socket.create_server(("127.0.0.1", first)):
        assert free_ports(1) == [second]
        with pytest.raises(OSError, match="fewer than 2 ports"):
            free_ports(2)
