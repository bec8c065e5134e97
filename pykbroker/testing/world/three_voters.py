"""The world of a quorum: several nodes that replicate metadata, and brokers that observe them.

Each node is broker and controller; or some are voters, and the others brokers that only follow.

    1  the nodes start together, elect a leader, register, serve
    2  administrators send changes to any broker while faults come
    3  no more faults: there is a leader, every node serves, every node has the same metadata
    4  the metadata has all that was promised

Topics have one replica: this world checks the metadata.
"""

from __future__ import annotations

from collections.abc import Callable

from pykbroker.protocol.primitives import uuid_to_str
from pykbroker.testing.world.catalog import Catalog
from pykbroker.testing.world.clients.administrator import Administrator
from pykbroker.testing.world.faults import Faults
from pykbroker.testing.world.invariants import ImageEveryWhere, MetadataOffsets, PartitionOffsets
from pykbroker.testing.world.node import Node, NodeState, add_image_rule, add_rule
from pykbroker.testing.world.quorum_invariants import QuorumRules
from pykbroker.testing.world.randomness import SeededSource
from pykbroker.testing.world.shape import Shape
from pykbroker.testing.world.world import Violation, World

SECOND = 1_000_000
START_US = 60 * SECOND
DRAIN_US = 90 * SECOND
FAULTS_US = (2 * SECOND, 8 * SECOND)
CALM_US = 5 * SECOND


PROPERTIES = {"auto.create.topics.enable": "false", "offsets.topic.replication.factor": "1"}


class ThreeVoters:
    """The world of a quorum of several nodes."""

    def __init__(self, seed: int, scale: int = 1, shape: Shape | None = None) -> None:
        self.world = World(seed)
        self.dice = self.world.dice("scenario")
        self.catalog = Catalog()
        self.scale = scale
        shape = shape or Shape()
        cluster_id = uuid_to_str(SeededSource(self.world.dice("cluster")).new_uuid())
        self.nodes = [
            Node(self.world, node_id, properties, cluster_id)
            for node_id, properties in shape.properties(PROPERTIES).items()
        ]
        self.brokers = [node for node in self.nodes if node.node_id in shape.broker_ids]
        for node in self.nodes:
            node.on_ended = self._ended
        self.rules = QuorumRules()
        self.administrators: list[Administrator] = []
        self.faults: Faults | None = None
        add_rule(self.nodes, self.rules)
        add_image_rule(self.nodes, MetadataOffsets())
        add_image_rule(self.brokers, ImageEveryWhere())
        add_rule(self.brokers, PartitionOffsets())

    def run(self) -> str:
        """Run one life; return the digest of its timeline."""
        for node in self.nodes:
            node.start()
        self._wait(self._all_serve, "the nodes do not start", START_US)
        bootstrap = [node.peer for node in self.brokers]
        for number in range(self.dice.randint(1, 2)):
            client = Administrator(self.world, f"operator-{number}", bootstrap, self.catalog)
            client.is_one_of_several = True
            self.administrators.append(client)
        names = [client.name for client in self.administrators]
        faults = self.faults = Faults(self.world, self.nodes, names)
        for client in self.administrators:
            client.start()
        faults.start()
        self.world.run_for(self.dice.randint(*FAULTS_US) * self.scale)
        faults.heal()
        self._wait(self._all_serve, "not all nodes serve although no faults are active", DRAIN_US)
        self.world.run_for(CALM_US)
        for client in self.administrators:
            client.stop()
        self._wait(
            lambda: all(client.is_done for client in self.administrators),
            "a client waits although no faults are active",
            DRAIN_US,
        )
        self._wait(self._all_agree, "the nodes do not converge on the same metadata", DRAIN_US)
        self._check_promises()
        return self.world.timeline.digest

    def _wait(self, condition: Callable[[], bool], otherwise: str, limit_us: int) -> None:
        if not self.world.run_until(condition, self.world.now_us + limit_us):
            raise Violation(otherwise)

    def _ended(self, node: Node, is_power: bool) -> None:
        if self.faults is not None:
            self.faults.restart_later(node)

    def _all_serve(self) -> bool:
        return all(node.state is NodeState.UP for node in self.nodes)

    def _all_agree(self) -> bool:
        if not self._all_serve():
            return False
        offsets = set()
        for node in self.nodes:
            server = node.server
            assert server is not None
            offsets.add(server.image.offset)
            if server.image.offset + 1 < self.rules.committed_end:
                return False
        return len(offsets) == 1

    def _check_promises(self) -> None:
        """Compare the topics of each node, and the values that were set, with the promises; check
        that all nodes have the same metadata.
        """
        images = []
        for node in self.nodes:
            server = node.server
            assert server is not None
            image = server.image
            images.append(list(map(repr, image.records())))
            self.catalog.check_topics(
                {topic.name: len(topic.partitions) for topic in image.topics_by_id.values()}
            )
            for name, topic in self.catalog.topics.items():
                if image.topic(name) is not None:
                    overrides = image.topic_config(name)
                    answered = set(topic.configs)
                    found = {key: overrides.get(key) for key in answered}
                    self.catalog.check_configs(name, found)
            node.note("has the metadata that was promised")
        if any(records != images[0] for records in images):
            raise Violation("nodes have different metadata at the same offset")
