"""The addresses of the other replicas of the quorum.

    learned     the address that a leader or a response gave: the most recent one
    voters      the endpoints in the voter set (or controller.quorum.voters)
    bootstrap   controller.quorum.bootstrap.servers: some replica, with an unknown id

The learned address of a node counts before that in the voter set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pykbroker.environment.randomness import RandomSource
from pykbroker.kraft.raft.quorum_state import UNKNOWN_LEADER
from pykbroker.kraft.raft.voters import VoterEndpoint, VoterNode, VoterSet
from pykbroker.types import Peer


class RaftPeers:
    """The addresses of the other replicas. `listener`: the controller
    listener on which this node contacts them.
    """

    def __init__(
        self,
        *,
        local: VoterNode,
        voters: Callable[[], VoterSet],
        bootstrap_servers: Iterable[tuple[str, int]],
        listener: str,
        random: RandomSource,
    ) -> None:
        self._local = local
        self._voters = voters
        self._listener = listener
        self._random = random
        self._learned: dict[int, Peer] = {}
        # Nodes without a known id get negative ones, as in Kafka's KafkaRaftClient.
        self._bootstrap = [
            Peer(-2 - at, host, port) for at, (host, port) in enumerate(bootstrap_servers)
        ]

    def learn(self, node_id: int, endpoint: VoterEndpoint | None) -> None:
        """Record where a node listens."""
        if endpoint is not None and node_id != self._local.key.id:
            self._learned[node_id] = Peer(node_id, endpoint.host, endpoint.port)

    def learn_one_of(self, node_id: int, endpoints: Sequence[VoterEndpoint]) -> None:
        """Record where a node listens: the endpoint on the listener that this
        node uses, else the first.
        """
        if endpoints:
            at = next((at for at in endpoints if at.name == self._listener), endpoints[0])
            self.learn(node_id, at)

    def find(self, node_id: int) -> Peer | None:
        """Return the address of a node; None if it is unknown, or is this node."""
        if node_id == self._local.key.id:
            return None
        return self._learned.get(node_id) or self._in_voters(node_id)

    def _in_voters(self, node_id: int) -> Peer | None:
        node = self._voters().nodes.get(node_id)
        if node is None or not node.endpoints:
            return None
        endpoint = self.endpoint_of(node)
        return Peer(node_id, endpoint.host, endpoint.port)

    def endpoint_of(self, node: VoterNode) -> VoterEndpoint:
        """Return the endpoint of a voter on the listener that this node uses,
        else its first one.
        """
        return next((at for at in node.endpoints if at.name == self._listener), node.endpoints[0])

    def reachable(self, leader_id: int) -> int:
        """Return `leader_id`, or UNKNOWN_LEADER if its address is unknown."""
        if leader_id == self._local.key.id or self.find(leader_id) is not None:
            return leader_id
        return UNKNOWN_LEADER

    def anywhere(self) -> Peer | None:
        """Return some replica to ask who leads: a bootstrap server, or, if none is configured,
        another voter; None if no address is known.
        """
        candidates = self._bootstrap or [
            peer for voter in self._voters().nodes if (peer := self.find(voter)) is not None
        ]
        if not candidates:
            return None
        return candidates[self._random.randrange(len(candidates))]
