"""A client that routes its requests to leaders of partitions and to coordinators.

It looks leaders up with Metadata and coordinators with FindCoordinator, at any node. It keeps what
it has found until its script forgets all leaders, or all coordinators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pykbroker.errors import KafkaError
from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.testing.world.clients.client import Client
from pykbroker.testing.world.world import World
from pykbroker.types import Peer, TopicPartition

GROUP, TRANSACTION = 0, 1
FIRST_WITH_KEYS_LIST = 4
FIRST_METADATA_THAT_CREATES_NOTHING = 4


class RoutedClient(Client):
    """A client that finds leaders and coordinators."""

    def __init__(self, world: World, name: str, bootstrap: Sequence[Peer]) -> None:
        super().__init__(world, name, bootstrap)
        self._leaders: dict[TopicPartition, Peer] = {}
        self._coordinators: dict[tuple[int, str], Peer] = {}

    @property
    def knows_one_node(self) -> bool:
        """Whether it knows one node only, which leads and coordinates everything."""
        return len(self.bootstrap) == 1

    # ---------------------------------------------------------------- who leads

    async def leaders_of(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[Peer, list[TopicPartition]]:
        """Return the partitions by their leaders; those without a known one are left out."""
        partitions = list(partitions)
        missing = sorted({each.topic for each in partitions if each not in self._leaders})
        if missing:
            try:
                await self._learn_leaders(missing)
            except KafkaError as failure:
                self.note(f"cannot look up leaders: {failure.code}")
        found: dict[Peer, list[TopicPartition]] = {}
        for each in partitions:
            if each in self._leaders:
                found.setdefault(self._leaders[each], []).append(each)
        return found

    def forget_leaders(self) -> None:
        """Forget all leaders, so that the next lookup asks again."""
        self._leaders.clear()

    async def _learn_leaders(self, topics: Sequence[str]) -> None:
        version = self.version_of("Metadata", FIRST_METADATA_THAT_CREATES_NOTHING)
        response = await self.ask(
            MetadataRequest(
                topics=[MetadataRequestTopic(name=name) for name in topics],
                allow_auto_topic_creation=False,
            ),
            version,
        )
        peers = {at.node_id: Peer(at.node_id, at.host, at.port) for at in response.brokers}
        for topic in response.topics:
            for partition in topic.partitions:
                if not partition.error_code and partition.leader_id in peers:
                    key = TopicPartition(topic.name, partition.partition_index)
                    self._leaders[key] = peers[partition.leader_id]

    # ---------------------------------------------------------------- who coordinates

    async def coordinator(self, kind: int, key: str) -> Peer:
        """Return the coordinator of a group or a transactional id. Raises KafkaError if it is not
        known and cannot be found now.
        """
        found = self._coordinators.get((kind, key))
        if found is not None:
            return found
        version = self.version_of("FindCoordinator", kind)  # version 0 knows groups only
        message = FindCoordinatorRequest(key_type=kind)
        if version >= FIRST_WITH_KEYS_LIST:
            message.coordinator_keys = [key]
        else:
            message.key = key
        response = await self.ask(message, version)
        answer = response.coordinators[0] if version >= FIRST_WITH_KEYS_LIST else response
        if answer.error_code:
            raise KafkaError(answer.error_code)
        found = Peer(answer.node_id, answer.host, answer.port)
        self._coordinators[kind, key] = found
        return found

    def forget_coordinators(self) -> None:
        """Forget all coordinators, so that the next lookup asks again."""
        self._coordinators.clear()
