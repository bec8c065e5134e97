"""Requests of this node to other nodes, through the client pool.

The pool is created, and its code imported, with the first request: a single node never needs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.types import Peer

if TYPE_CHECKING:
    from pykbroker.config import BrokerConfig
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.network.client_pool import ClientPool
    from pykbroker.protocol.primitives import Message


def broker_peer(image: MetadataImage, broker_id: int, listener: str) -> Peer | None:
    """Return a broker at its listener of this name; None if no such broker or listener of it is
    registered.
    """
    broker = image.brokers.get(broker_id)
    at = None if broker is None else broker.listeners.get(listener)
    return None if at is None else Peer(broker_id, at.host, at.port)


class Outgoing:
    """Sends requests to other nodes."""

    def __init__(self, environment: Environment, config: BrokerConfig) -> None:
        self._environment = environment
        self._config = config
        self._pool: ClientPool | None = None

    def send(
        self,
        peer: Peer,
        message: Message,
        deadline_ms: int,
        purpose: str = "requests",
        max_version: int | None = None,
    ) -> Deferred:
        """Send a request to another node; see `ClientPool.send`."""
        if self._pool is None:
            from pykbroker.network.client_pool import ClientPool, ClientSettings

            settings = ClientSettings(
                client_id=f"broker-{self._config.node_id}",
                setup_timeout_ms=self._config.socket_connection_setup_timeout_ms,
                setup_timeout_max_ms=self._config.socket_connection_setup_timeout_max_ms,
            )
            self._pool = ClientPool(self._environment, settings)
        return self._pool.send(peer, message, deadline_ms, purpose, max_version)

    def close(self) -> None:
        """Close every connection; waiting requests fail."""
        if self._pool is not None:
            self._pool.close()
