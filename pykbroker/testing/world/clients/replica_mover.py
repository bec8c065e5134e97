"""An operator of disks: moves replicas between the log directories of their nodes, at any time.

Also to a directory that is offline or does not exist, to where a replica already is, and elsewhere
while a move is under way; and it may name partitions that have no replica on the node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from pykbroker.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest
from pykbroker.protocol.messages.describe_log_dirs_response import DescribeLogDirsResponse
from pykbroker.testing.world.clients.client import Client
from pykbroker.testing.world.directory_ledger import DirectoryLedger, Move, Replica
from pykbroker.testing.world.node import Node, NodeState
from pykbroker.testing.world.randomness import pick
from pykbroker.testing.world.world import World
from pykbroker.types import TopicPartition

NOWHERE = "/no-such-directory"
ACTIONS = {"move": 5, "describe": 2}
GONE = (ErrorCode.REPLICA_NOT_AVAILABLE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

Contents = dict[str, set[tuple[TopicPartition, bool]]]
"""Directory -> its partitions, and whether each is a copy."""


def contents_of(response: DescribeLogDirsResponse) -> Contents:
    """Return what is in the directories that are online."""
    return {
        directory.log_dir: {
            (TopicPartition(topic.name, log.partition_index), log.is_future_key)
            for topic in directory.topics
            for log in topic.partitions
        }
        for directory in response.results
        if not directory.error_code
    }


class ReplicaMover(Client):
    """A scripted operator. `partitions` returns the partitions that it may name, each with the id
    of its topic.
    """

    def __init__(
        self,
        world: World,
        name: str,
        nodes: Sequence[Node],
        ledger: DirectoryLedger,
        partitions: Callable[[], Mapping[TopicPartition, bytes]],
    ) -> None:
        super().__init__(world, name, [node.peer for node in nodes])
        self._nodes = list(nodes)
        self._ledger = ledger
        self._partitions = partitions
        self._latest: list[TopicPartition] = []

    async def script(self) -> None:
        """Send one request after the other until it is stopped."""
        while not self.is_stopping:
            action = getattr(self, f"_{pick(self.dice, ACTIONS)}")
            try:
                await action(self.dice.choice(self._nodes))
            except KafkaError as failure:
                self.note(f"has trouble: {failure.code}")
            await self.pause(5, self.dice.choice((20, 200, 800)))

    # ---------------------------------------------------------------- moves

    async def _move(self, node: Node) -> None:
        known = self._partitions()
        if not known:
            return
        chosen = [each for each in self._latest if each in known]
        if not chosen or self.dice.one_in(2):
            count = min(self.dice.choice((1, 1, 2, 4)), len(known))
            chosen = self.dice.sample(sorted(known), count)
        self._latest = chosen
        path = NOWHERE if self.dice.one_in(20) else self.dice.choice(node.directories)
        topics: dict[str, AlterReplicaLogDirTopic] = {}
        for topic, index in chosen:
            found = topics.setdefault(topic, AlterReplicaLogDirTopic(name=topic, partitions=[]))
            found.partitions.append(index)
        moves = {}
        for each in chosen:
            replica = Replica(node.node_id, known[each], each.partition)
            moves[each] = (replica, self._ledger.sent(replica, path))
        starts, was_doubtful = node.starts, node.has_doubtful_disk
        response = await self.ask(
            AlterReplicaLogDirsRequest(
                dirs=[AlterReplicaLogDir(path=path, topics=list(topics.values()))]
            ),
            self.version_of("AlterReplicaLogDirs"),
            peer=node.peer,
        )
        has_ended = node.starts != starts or node.state is NodeState.DOWN
        is_doubtful = was_doubtful or node.has_doubtful_disk or has_ended
        for answer in response.results:
            for result in answer.partitions:
                partition = TopicPartition(answer.topic_name, result.partition_index)
                self._take(partition, *moves[partition], result.error_code, is_doubtful)

    def _take(
        self, partition: TopicPartition, replica: Replica, move: Move, code: int, is_doubtful: bool
    ) -> None:
        path = move.path
        what = f"{partition} of node {replica.node_id} to {path}"
        self.note(f"{what}: {ErrorCode(code).name}")
        if path == NOWHERE and code == ErrorCode.LOG_DIR_NOT_FOUND:
            self._ledger.refuse(replica, move)
        elif path != NOWHERE and not code:
            self._ledger.grant(replica, move, is_certain=not is_doubtful)
        elif code in GONE or (is_doubtful and code == ErrorCode.KAFKA_STORAGE_ERROR):
            self._ledger.refuse(replica, move)
        else:
            raise self.violated(f"{what}: {ErrorCode(code).name}")

    # ---------------------------------------------------------------- where they are

    async def _describe(self, node: Node) -> None:
        response = await self.describe(node)
        logs = [log for logs in contents_of(response).values() for log in logs]
        if len(set(logs)) != len(logs):
            raise self.violated(f"a replica is in two directories of {node.name}: {logs}")

    async def describe(self, node: Node) -> DescribeLogDirsResponse:
        """Ask a node for all its directories. Raises KafkaError."""
        version = self.version_of("DescribeLogDirs")
        response: DescribeLogDirsResponse = await self.ask(
            DescribeLogDirsRequest(topics=None), version, peer=node.peer
        )
        if response.error_code:
            raise KafkaError(response.error_code)
        return response


class DirectoryAuditor(ReplicaMover):
    """Asks every node once what its online directories contain; `contents`: by node id."""

    contents: dict[int, Contents]

    async def script(self) -> None:
        """Ask, and keep the answers."""
        self.contents = {}
        for node in self._nodes:
            self.contents[node.node_id] = contents_of(await self.describe(node))
