"""Ports that are kept for nodes which take a while to start."""

from __future__ import annotations

import socket

from pykbroker.environment.real.ports import free_ports

HOST = "127.0.0.1"


class KeptPorts:
    """Unused ports that nothing else is given before the intended node listens on them, or while it
    is down: each is bound here, by a socket that does not listen.

    A node binds the port all the same, as servers set SO_REUSEADDR; `free_ports` and the system
    leave it out.
    """

    def __init__(self, count: int) -> None:
        self._sockets: list[socket.socket] = []
        self.numbers: list[int] = []
        while len(self.numbers) < count:
            self._keep(free_ports(1)[0])

    def _keep(self, port: int) -> None:
        kept = socket.socket()
        try:
            kept.bind((HOST, port))
        except OSError:  # another process has just taken it
            kept.close()
            return
        # Only now: two sockets that both allow it could bind the port here.
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._sockets.append(kept)
        self.numbers.append(port)

    def close(self) -> None:
        """Give them back."""
        for kept in self._sockets:
            kept.close()
