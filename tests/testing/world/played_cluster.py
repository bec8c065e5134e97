"""The cluster world by hand: the commands of `tests/scenarios/cluster_*.txt`.

Three real brokers and one controller, one partition `t-0`, no faults but those of the script. Time
is the world's, so that a script gives the same at each run; all rules of the world hold throughout.

    topic 1 2 3 KEY=VALUE        its replicas, and configurations
    produce A B [acks 1]         one record each; acks=all without more
    cut 1 101, heal 1 101        nothing gets from 1 to the controller, or what was held back, too
    kill 1, power 1, stop 1, start 1 2      at once; a stop and a start last until they are done
    after 500                    milliseconds
    until 2 ends 3               as soon as the log of 2 ends at 3
    show                         the partition in the metadata, and the log of each broker
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from pykbroker.deferred import Deferred, spawn
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.record_batch import build_batch, iter_records
from pykbroker.replication.partition import Partition
from pykbroker.testing.world.clients.routed_client import RoutedClient
from pykbroker.testing.world.ledger import batches_of
from pykbroker.testing.world.node import Node, NodeState, node_address
from pykbroker.testing.world.several_brokers import SeveralBrokers
from pykbroker.testing.world.shape import Shape
from pykbroker.types import Peer, TopicPartition

MS = 1_000
LIMIT_US = 60_000 * MS
TOPIC = "t"
TRIES = 20
PRODUCE_VERSION = 12  # the last with names


class PlayedClient(RoutedClient):
    """Sends when it is told to."""

    async def script(self) -> None:
        """Nothing by itself."""

    async def create(self, replicas: list[int], configs: dict[str, str]) -> None:
        """The topic, with one partition."""
        topic = CreatableTopic(
            name=TOPIC,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=replicas)],
            configs=[CreatableTopicConfig(name=key, value=at) for key, at in configs.items()],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=5_000)
        response = await self.ask(request, 7)
        assert not response.topics[0].error_code, response.topics[0]

    async def produce(self, value: str, acks: int) -> str:
        """What becomes of one record."""
        partition = TopicPartition(TOPIC, 0)
        for _ in range(TRIES):
            self.forget_leaders()
            for peer in await self.leaders_of([partition]):
                return f"{value}: {await self._send(peer, value, acks)}"
            await self.environment.scheduler.sleep(100)
        return f"{value}: no leader"

    async def _send(self, peer: Peer, value: str, acks: int) -> str:
        now_ms = self.environment.clock.wall_ms()
        records = bytes(build_batch([(None, value.encode(), now_ms, [])]))
        part = PartitionProduceData(index=0, records=records)
        request = ProduceRequest(
            acks=acks,
            timeout_ms=400,
            topic_data=[TopicProduceData(name=TOPIC, partition_data=[part])],
        )
        try:
            response = await self.ask(request, PRODUCE_VERSION, peer=peer, timeout_ms=2_000)
        except KafkaError as failure:
            return f"no answer ({ErrorCode(failure.code).name})"
        answer = response.responses[0].partition_responses[0]
        if answer.error_code:
            return ErrorCode(answer.error_code).name
        return f"at {answer.base_offset}"


class PlayedCluster:
    """See the module's text."""

    def __init__(self, seed: int = 0) -> None:
        self.lines: list[str] = []
        self.cluster = SeveralBrokers(seed, shape=Shape(3, 1))
        self.world = self.cluster.world
        self.nodes = {node.node_id: node for node in self.cluster.brokers}
        self.client = PlayedClient(self.world, "client", self.cluster.bootstrap)

    def run(self, command: str) -> None:
        """One line of a script."""
        name, *words = command.split()
        with self.world.logs_captured():
            getattr(self, f"_{name}")(*words)

    def _done(self, work: Coroutine[Deferred, Any, Any]) -> Any:
        """Let time pass until it is done; its value."""
        deferred = spawn(work)
        assert self.world.run_until(lambda: deferred.done, self.world.now_us + LIMIT_US)
        if isinstance(deferred.value, BaseException):
            raise deferred.value
        return deferred.value

    # ---------------------------------------------------------------- commands

    def _topic(self, *words: str) -> None:
        """All nodes start, and the topic is there."""
        replicas = [int(word) for word in words if "=" not in word]
        configs = dict(word.split("=", 1) for word in words if "=" in word)
        for node in self.cluster.nodes:
            node.start()
        assert self.world.run_until(self._all_serve, LIMIT_US)
        self._done(self.client.create(replicas, configs))
        self._after("300")
        self._show()

    def _produce(self, *words: str) -> None:
        values, acks = list(words), -1
        if "acks" in values:
            acks = int(values.pop())
            values.pop()
        for value in values:
            self.lines.append(self._done(self.client.produce(value, acks)))

    def _cut(self, sender: str, receiver: str) -> None:
        self.world.network.cut(node_address(int(sender)), node_address(int(receiver)))

    def _heal(self, sender: str, receiver: str) -> None:
        self.world.network.heal(node_address(int(sender)), node_address(int(receiver)))

    def _all_serve(self) -> bool:
        return all(node.state is NodeState.UP for node in self.cluster.nodes)

    def _kill(self, node_id: str) -> None:
        self.nodes[int(node_id)].kill()

    def _power(self, node_id: str) -> None:
        self.nodes[int(node_id)].power_off(reorder=False)

    def _start(self, *node_ids: str) -> None:
        """Start together, and wait until all of them serve."""
        nodes = [self.nodes[int(each)] for each in node_ids]
        for node in nodes:
            node.start()
        until_us = self.world.now_us + LIMIT_US
        assert self.world.run_until(lambda: all(n.state is NodeState.UP for n in nodes), until_us)

    def _stop(self, node_id: str) -> None:
        node = self.nodes[int(node_id)]
        node.stop()
        until_us = self.world.now_us + LIMIT_US
        assert self.world.run_until(lambda: node.state is NodeState.DOWN, until_us)

    def _after(self, milliseconds: str) -> None:
        self.world.run_for(int(milliseconds) * MS)

    def _until(self, node_id: str, _: str, end: str) -> None:
        node = self.nodes[int(node_id)]

        def is_there() -> bool:
            partition = _partition_of(node)
            return partition is not None and partition.log.log_end_offset >= int(end)

        assert self.world.run_until(is_there, self.world.now_us + LIMIT_US)

    def _show(self) -> None:
        found = self.cluster.newest_image().partition(TOPIC, 0)
        assert found is not None
        self.lines.append(
            f"leader {found.leader} in epoch {found.leader_epoch}, in sync {_ids(found.isr)}, "
            f"eligible {_ids(found.elr)}, last known {_ids(found.last_known_elr)}"
        )
        for node_id, node in self.nodes.items():
            if node_id in found.replicas:
                self.lines.append(f"{node_id}: {_told(node)}")


def _ids(node_ids: tuple[int, ...]) -> str:
    return " ".join(map(str, sorted(node_ids))) or "-"


def _partition_of(node: Node) -> Partition | None:
    manager = getattr(node.server, "replica_manager", None)
    return None if manager is None else manager.find(TOPIC, 0)


def _told(node: Node) -> str:
    """Each record with its leader epoch, and the high watermark."""
    partition = _partition_of(node)
    if partition is None:
        return "down"
    with node.machine.files.peeked():
        records = [
            f"{bytes(record.value or b'').decode()}@{header.partition_leader_epoch}"
            for header, batch in batches_of(partition.log)
            for record in iter_records(memoryview(batch))
        ]
    return f"{' '.join(records) or 'empty'}, high watermark {partition.high_watermark}"
