"""Free ports, for nodes that must know each other's ports before they start."""

from __future__ import annotations

import random
import socket
from typing import Final

# Below the range that systems use for outgoing connections: such a connection could take a port
# before the intended node listens on it.
_RANGE: Final = range(10_000, 32_768)


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Return `count` different unused ports. Raises OSError if there are not enough."""
    ports: list[int] = []
    for port in random.SystemRandom().sample(_RANGE, len(_RANGE)):
        if len(ports) == count:
            break
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
            except OSError:
                continue  # in use, or bound by a server that does not listen yet
        ports.append(port)
    if len(ports) < count:
        raise OSError(f"fewer than {count} ports of {host} are free")
    return ports


def bind_failure(port: int, host: str = "127.0.0.1") -> str | None:
    """Return why a server could not bind to a port (it may be in use); None if it could."""
    with socket.socket() as probe:
        # As servers do, so that closed connections of an earlier server do not matter.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen()
        except OSError as error:
            return error.strerror
    return None
