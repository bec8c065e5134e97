"""What an outgoing connection does between its TCP connection and its first request.

    wrap           the stream that requests go through: the socket itself, or TLS around it
    authenticate   the exchange that proves who this node is: none, or SASL

Both are a seam: `Plaintext` is the only implementation until TLS and SASL exist, and configuration
refuses every other protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pykbroker.deferred import Deferred
from pykbroker.environment.transport import StreamSocket
from pykbroker.protocol.primitives import Message

# exchange(message, version) -> Deferred of the response, or of a KafkaError
ExchangeFunction = Callable[[Message, int], Deferred]


class ClientSecurity(Protocol):
    """The security protocol of outgoing connections."""

    def wrap(self, sock: StreamSocket, host: str) -> StreamSocket:
        """The stream through which this connection talks to `host`. OSError: it cannot."""

    async def authenticate(self, exchange: ExchangeFunction) -> None:
        """Prove who this node is; runs before ApiVersions. KafkaError: the peer refused."""


class Plaintext:
    """No encryption and no authentication."""

    __slots__ = ()

    def wrap(self, sock: StreamSocket, host: str) -> StreamSocket:
        """See `ClientSecurity`."""
        return sock

    async def authenticate(self, exchange: ExchangeFunction) -> None:
        """See `ClientSecurity`."""
