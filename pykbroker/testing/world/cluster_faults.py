"""The faults of a cluster, in addition to those of one node.

isolate       a node is cut off from all other nodes: from them, to them, or both
lag           what a node and the other nodes send to each other is delayed
kill_several, power_several, stop_several     nodes end together, or shortly after each other
part          two nodes cannot reach each other; then, sometimes, one of them is killed: the last
              in-sync replica may fail, and an eligible one be left
late          what a node has sent to another arrives after the node has lost its power, and perhaps
              restarted: messages of its former life may arrive during the present one
"""

from __future__ import annotations

from collections.abc import Sequence

from pykbroker.testing.world.faults import MS, WEIGHTS, Faults
from pykbroker.testing.world.node import Node
from pykbroker.testing.world.world import World

CLUSTER_WEIGHTS = {
    **WEIGHTS,
    "isolate": 4,
    "lag": 2,
    "kill_several": 2,
    "power_several": 1,
    "stop_several": 2,
    "part": 5,
    "late": 3,
}
USUAL_JITTER_US = 500
MOST_BETWEEN_MS = 300


class ClusterFaults(Faults):
    """The faults of a cluster, in addition to those of one node."""

    def __init__(self, world: World, nodes: Sequence[Node], clients: Sequence[str]) -> None:
        super().__init__(world, nodes, clients, CLUSTER_WEIGHTS)

    def _others(self, node: Node) -> list[str]:
        return [other.name for other in self.nodes if other is not node]

    def _isolate(self, node: Node) -> None:
        how = self.dice.choice(("receives nothing", "cannot send", "is isolated"))
        duration_ms = self.dice.choice((200, 1_500, 4_000, 7_000))
        self.world.timeline.note("network", f"{node.name} {how} for {duration_ms} ms")
        network = self.world.network
        for other in self._others(node):
            if how != "cannot send":
                network.cut(other, node.name)
                self._later(duration_ms, duration_ms, network.heal, other, node.name)
            if how != "receives nothing":
                network.cut(node.name, other)
                self._later(duration_ms, duration_ms, network.heal, node.name, other)

    def _lag(self, node: Node) -> None:
        jitter_ms = self.dice.choice((20, 150, 1_200))
        duration_ms = self.dice.choice((500, 3_000))
        self.world.timeline.note("network", f"{node.name} lags by up to {jitter_ms} ms")
        network = self.world.network
        for other in self._others(node):
            for sender, receiver in ((node.name, other), (other, node.name)):
                network.slow(sender, receiver, jitter_ms * MS)
                self._later(
                    duration_ms, duration_ms, network.slow, sender, receiver, USUAL_JITTER_US
                )

    def _part(self, node: Node) -> None:
        other = self.dice.choice([each for each in self.nodes if each is not node])
        duration_ms = self.dice.choice((2_500, 4_000))
        self.world.timeline.note("network", f"{node.name} and {other.name} apart: {duration_ms} ms")
        network = self.world.network
        for sender, receiver in ((node.name, other.name), (other.name, node.name)):
            network.cut(sender, receiver)
            self._later(duration_ms, duration_ms + 800, network.heal, sender, receiver)
        if self.dice.one_in(2):
            self._later(duration_ms, duration_ms, self._kill_unless_over, node)

    def _late(self, node: Node) -> None:
        other = self.dice.choice([each for each in self.nodes if each is not node])
        duration_ms = self.dice.choice((900, 1_800))
        self.world.timeline.note("network", f"{node.name} to {other.name}: {duration_ms} ms late")
        network = self.world.network
        network.cut(node.name, other.name)
        self._later(20, 300, self._power_unless_over, node)
        self._later(duration_ms, duration_ms, network.heal, node.name, other.name)

    def _several(self, node: Node) -> list[Node]:
        count = self.dice.randint(2, len(self.nodes))
        others = self.dice.sample(self.nodes, count)
        return [node, *(other for other in others if other is not node)]

    def _kill_several(self, node: Node) -> None:
        for each in self._several(node):
            self._later(0, self.dice.choice((0, MOST_BETWEEN_MS)), self._kill_unless_over, each)

    def _kill_unless_over(self, node: Node) -> None:
        if not self.is_over:
            self._kill(node)

    def _stop_several(self, node: Node) -> None:
        for each in self._several(node):
            self._later(0, self.dice.choice((0, MOST_BETWEEN_MS)), self._stop_unless_over, each)

    def _stop_unless_over(self, node: Node) -> None:
        if not self.is_over:
            self._stop(node)

    def _power_several(self, node: Node) -> None:
        for each in self._several(node):
            self._later(0, self.dice.choice((0, MOST_BETWEEN_MS)), self._power_unless_over, each)

    def _power_unless_over(self, node: Node) -> None:
        if not self.is_over:
            self._power(node)
