"""The only place in a node that opens connections: its requests to other nodes.

State: one `PeerLink` per (node id, purpose).

Each purpose has its own connection, so that raft's long-polling Fetch never waits behind the
fetches of replicas. On one connection requests are sent in order.
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
    """The outgoing connections of one node."""

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
        """Send a request; return a Deferred of the decoded response or of a KafkaError.

        `deadline_ms` is a time of `clock.now_ms()`. The version is the highest that both nodes
        have, at most `max_version`. The errors of the connection itself:

            NETWORK_EXCEPTION     it cannot be opened, or ended before the response came
            REQUEST_TIMED_OUT     no response by the deadline
            UNSUPPORTED_VERSION   no common version, or one that cannot represent this message

        After NETWORK_EXCEPTION and REQUEST_TIMED_OUT it is unknown whether the peer handled the
        request.
        """
        if self._is_closed:
            return resolved(KafkaError(ErrorCode.NETWORK_EXCEPTION, "this node is stopping"))
        key = (peer.node_id, purpose)
        link = self._links.get(key)
        if link is not None and link.peer != peer:  # its address has changed
            del self._links[key]
            link.close()
            link = self._links.get(key)  # a listener may have sent
        if link is None:
            link = PeerLink(self._environment, self._settings, peer, purpose)
            self._links[key] = link
        return link.send(message, deadline_ms, max_version)

    def forget(self, peer: Peer) -> None:
        """Close every connection to a node. Their requests fail."""
        for key in [key for key in self._links if key[0] == peer.node_id]:
            link = self._links.pop(key, None)
            if link is not None:
                link.close()

    def close(self) -> None:
        """Close all connections; later requests fail immediately."""
        self._is_closed = True
        links, self._links = self._links, {}
        for link in links.values():
            link.close()
