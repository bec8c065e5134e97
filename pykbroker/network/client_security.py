"""The steps of an outgoing connection between connecting and its first request.

    wrap           returns the stream for requests: the socket itself, or TLS around it
    authenticate   the exchange that proves who this node is: none, or SASL

`Plaintext` is the only implementation until TLS and SASL exist; the configuration rejects every
other protocol.
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
        """Return the stream through which this connection talks to `host`.
        Raises OSError on failure.
        """

    async def authenticate(self, exchange: ExchangeFunction) -> None:
        """Authenticate this node; runs before ApiVersions. Raises KafkaError
        if the peer rejects it.
        """


class Plaintext:
    """No encryption and no authentication."""

    __slots__ = ()

    def wrap(self, sock: StreamSocket, host: str) -> StreamSocket:
        """See `ClientSecurity`."""
        return sock

    async def authenticate(self, exchange: ExchangeFunction) -> None:
        """See `ClientSecurity`."""
