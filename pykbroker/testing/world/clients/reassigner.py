"""An administrator of replicas: moves partitions between nodes, cancels moves, and asks for the
election of preferred leaders.
"""

from __future__ import annotations

from collections.abc import Sequence

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from pykbroker.protocol.messages.elect_leaders_request import (
    ElectLeadersRequest,
    TopicPartitions,
)
from pykbroker.testing.world.clients.client import RETRIABLE, Client
from pykbroker.testing.world.randomness import pick
from pykbroker.testing.world.world import World
from pykbroker.types import Peer, TopicPartition

PREFERRED = 0
TIMEOUT_MS = 2_000
ACTIONS = {"reassign": 3, "cancel": 1, "elect": 3}

# What a request may be answered with that asks for what is possible at some times only.
EXPECTED = RETRIABLE | {
    ErrorCode.NO_REASSIGNMENT_IN_PROGRESS,
    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
    ErrorCode.ELECTION_NOT_NEEDED,
    ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}


class Reassigner(Client):
    """A scripted administrator of replicas."""

    def __init__(
        self,
        world: World,
        name: str,
        bootstrap: Sequence[Peer],
        partitions: Sequence[TopicPartition],
        node_ids: Sequence[int],
    ) -> None:
        super().__init__(world, name, bootstrap)
        self._partitions = list(partitions)
        self._node_ids = list(node_ids)
        self.changes = 0

    async def script(self) -> None:
        """Ask for one change after the other until it is stopped."""
        while not self.is_stopping:
            action = getattr(self, f"_{pick(self.dice, ACTIONS)}")
            try:
                await action(self.dice.choice(self._partitions))
            except KafkaError as failure:
                self.note(f"has trouble: {failure.code}")
            await self.pause(50, 900)

    def _take(self, what: str, code: int) -> None:
        if code and code not in EXPECTED:
            raise self.violated(f"{what}: {ErrorCode(code).name}")
        self.changes += not code
        self.note(f"{what}: {ErrorCode(code).name}")

    async def _reassign(self, partition: TopicPartition) -> None:
        count = self.dice.choice((1, 2, 2, 3, 3))
        replicas = self.dice.sample(self._node_ids, min(count, len(self._node_ids)))
        await self._alter(partition, replicas)

    async def _cancel(self, partition: TopicPartition) -> None:
        await self._alter(partition, None)

    async def _alter(self, partition: TopicPartition, replicas: list[int] | None) -> None:
        asked = ReassignablePartition(partition_index=partition.partition, replicas=replicas)
        response = await self.ask(
            AlterPartitionReassignmentsRequest(
                timeout_ms=TIMEOUT_MS,
                topics=[ReassignableTopic(name=partition.topic, partitions=[asked])],
            ),
            self.version_of("AlterPartitionReassignments"),
            timeout_ms=2 * TIMEOUT_MS,
        )
        code = response.error_code or response.responses[0].partitions[0].error_code
        self._take(f"replicas of {partition} to {replicas}", code)

    async def _elect(self, partition: TopicPartition) -> None:
        response = await self.ask(
            ElectLeadersRequest(
                election_type=PREFERRED,
                topic_partitions=[
                    TopicPartitions(topic=partition.topic, partitions=[partition.partition])
                ],
                timeout_ms=TIMEOUT_MS,
            ),
            self.version_of("ElectLeaders"),
            timeout_ms=2 * TIMEOUT_MS,
        )
        code = response.error_code
        if not code and response.replica_election_results:
            code = response.replica_election_results[0].partition_result[0].error_code
        self._take(f"preferred leader of {partition}", code)
