from __future__ import annotations

import socket

import pytest

from pykbroker.environment.real import ports
from pykbroker.environment.real.ports import bind_failure, free_ports


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


def test_why_a_server_could_not_bind() -> None:
    (port,) = free_ports(1)
    assert bind_failure(port) is None
    with socket.create_server(("127.0.0.1", port)) as server:
        assert bind_failure(port) == "Address already in use"
        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = server.accept()
        accepted.close()  # first, so that this side waits
        client.close()
    assert bind_failure(port) is None
