from __future__ import annotations

import socket

from pykbroker.environment.real.ports import free_ports


def test_the_ports_are_different_and_free() -> None:
    ports = free_ports(5)
    assert len(set(ports)) == 5
    for port in ports:
        socket.create_server(("127.0.0.1", port)).close()
