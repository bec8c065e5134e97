"""The only place that opens connections: requests of this node to other nodes.

State: one `PeerLink` per (node id, purpose).
In: `send`, `forget`, `close`. Out: a Deferred of the response, or of a KafkaError.

A purpose has a connection of its own, so that a long-polling Fetch of raft never waits behind the
fetches of replicas. Two requests of one purpose are answered in their order.
"""

from __future__ import annotations

from pykbroker.deferred import Deferred, resolved
from pykbroker.environment import Environment
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.network.peer_link import ClientSettings, PeerLink
from pykbroker.protocol.primitives import Message
from pykbroker.types import Peer

__all__ = ["ClientPool", "ClientSettings"]


class ClientPool:
    """The outgoing connections of one node; see the module's text."""

    def __init__(self, environment: Environment, settings: ClientSettings) -> None:
        self._environment = environment
        self._settings = settings
        self._links: dict[tuple[int, str], PeerLink] = {}
        self._is_closed = False

    def send(
        self,
        peer: Peer,
        message: Message,
        deadline_ms: int,
        purpose: str = "requests",
        max_version: int | None = None,
    ) -> Deferred:
        """Send a request; a Deferred of the decoded response, or of a KafkaError as its value.

        `deadline_ms` is a time of `clock.now_ms()`. The version is the highest that both nodes
        have, at most `max_version`. The errors of the connection itself:

            NETWORK_EXCEPTION     it cannot be opened, or broke before the response came
            REQUEST_TIMED_OUT     no response until the deadline
            UNSUPPORTED_VERSION   no common version, or one that cannot carry this message

        NETWORK_EXCEPTION and REQUEST_TIMED_OUT leave open whether the peer handled the request.
        """
        if self._is_closed:
            return resolved(KafkaError(ErrorCode.NETWORK_EXCEPTION, "this node is stopping"))
        key = (peer.node_id, purpose)
        link = self._links.get(key)
        if link is not None and link.peer != peer:  # it listens elsewhere now
            del self._links[key]
            link.close()
            link = self._links.get(key)  # a listener may have sent
        if link is None:
            link = PeerLink(self._environment, self._settings, peer, purpose)
            self._links[key] = link
        return link.send(message, deadline_ms, max_version)

    def forget(self, peer: Peer) -> None:
        """Close every connection to this node: it has left the cluster. Its requests fail."""
        for key in [key for key in self._links if key[0] == peer.node_id]:
            link = self._links.pop(key, None)
            if link is not None:
                link.close()

    def close(self) -> None:
        """Close everything; later requests fail at once."""
        self._is_closed = True
        links, self._links = self._links, {}
        for link in links.values():
            link.close()
