"""Free ports for servers that cannot be asked to choose one themselves."""

from __future__ import annotations

import socket


def free_ports(count: int) -> list[int]:
    """`count` different ports of 127.0.0.1 that nothing listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports
