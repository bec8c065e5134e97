"""Free ports, for nodes that must know each other's before they start."""

from __future__ import annotations

import socket


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """`count` different ports that nothing listens on now."""
    sockets = [socket.create_server((host, 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports
