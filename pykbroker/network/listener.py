"""A bound listener: its name, its socket, and the limits on its connections."""

from __future__ import annotations

from pykbroker.environment.transport import Transport
from pykbroker.errors import StartError
from pykbroker.network.connection_limits import ConnectionLimits


class BindError(StartError):
    """A listener cannot be bound."""


class Listener:
    """One bound listening socket. Creating it raises BindError if it cannot be bound.

    `port` is the actual port, even if port 0 was requested. `is_controller` listeners serve the
    APIs of a controller, the others those of a broker.
    """

    __slots__ = ("host", "is_controller", "limits", "name", "port", "security_protocol", "sock")

    def __init__(
        self,
        transport: Transport,
        name: str,
        host: str,
        port: int,
        security_protocol: str,
        limits: ConnectionLimits,
        *,
        is_controller: bool,
        backlog: int,
        receive_buffer_bytes: int,
    ) -> None:
        self.name = name
        self.host = host
        self.security_protocol = security_protocol
        self.limits = limits
        self.is_controller = is_controller
        try:
            self.sock = transport.listen(
                host, port, backlog=backlog, receive_buffer_bytes=receive_buffer_bytes
            )
        except OSError as failure:
            reason = failure.strerror or str(failure)
            raise BindError(
                f"Socket server failed to bind to {host or '*'}:{port}: {reason}."
            ) from None
        self.port = self.sock.port

    def close(self) -> None:
        """Release the port."""
        self.sock.close()

    def __repr__(self) -> str:
        return f"{self.name}://{self.host}:{self.port}"
