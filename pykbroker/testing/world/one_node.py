"""The world of one node that is broker and controller.

    1  the node formats itself, an administrator creates topics
    2  producers, readers, another administrator and in some lives members of a group work while
       faults come; one life in three has transactional producers and read_committed readers
       (`transactions.py`)
    3  no more faults; producers end, readers reach the end of the partitions that they read
    4  the logs are compared with the promises; the node stops, starts, and they are compared again

One life in two has several log directories, between which replicas move (`directory_moves.py`).

`run` returns the digest of the timeline, or raises what ended the life, such as a `Violation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from pykbroker.testing.world.catalog import Catalog, TopicPromise, TopicState
from pykbroker.testing.world.clients.administrator import Administrator
from pykbroker.testing.world.clients.client import Client
from pykbroker.testing.world.clients.group_member import GroupMember
from pykbroker.testing.world.clients.producer import ProducerClient
from pykbroker.testing.world.clients.reader import ReaderClient
from pykbroker.testing.world.directory_moves import DirectoryMoves, directories_of
from pykbroker.testing.world.faults import Faults
from pykbroker.testing.world.group_ledger import GroupLedger
from pykbroker.testing.world.invariants import (
    CoordinatorTerms,
    ImageEveryWhere,
    MetadataOffsets,
    NoBugs,
    PartitionOffsets,
)
from pykbroker.testing.world.ledger import TopicRules, readable_end, records_of
from pykbroker.testing.world.mutants.mutant import Mutant, Patch, applied, constant
from pykbroker.testing.world.node import DATA_DIRECTORY, Node, NodeState
from pykbroker.testing.world.transactions import (
    STATE_PARTITIONS,
    Transactions,
    TransactionSetUp,
)
from pykbroker.testing.world.transactions import TOPIC as TRANSACTIONAL_TOPIC
from pykbroker.testing.world.world import Violation, World
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.log.partition.partition_log import PartitionLog

SECOND = 1_000_000
START_US = 60 * SECOND
DRAIN_US = 40 * SECOND
CALM_US = 4 * SECOND
FAULTS_US = (1 * SECOND, 4 * SECOND)

PROPERTIES = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://node-1:9092,CONTROLLER://node-1:9093",
    "advertised.listeners": "PLAINTEXT://node-1:9092",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@node-1:9093",
    "log.dirs": DATA_DIRECTORY,
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": "2",
    "offsets.topic.replication.factor": "1",
    "offsets.load.buffer.size": "300",
    "group.min.session.timeout.ms": "500",
    "group.initial.rebalance.delay.ms": "50",
    "log.retention.check.interval.ms": "600",
    "log.index.size.max.bytes": "8192",
    "log.initial.task.delay.ms": "100",
    "log.cleaner.backoff.ms": "400",
    "log.cleaner.threads": "1",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "metadata.log.max.record.bytes.between.snapshots": "3000",
    "max.incremental.fetch.session.cache.slots": "16",
    "transaction.state.log.num.partitions": str(STATE_PARTITIONS),
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.load.buffer.size": "300",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "300",
}

TOPICS: dict[str, tuple[TopicRules, dict[str, str]]] = {
    "plain": (TopicRules(), {"segment.ms": "900"}),
    "flushed": (TopicRules(is_flushed=True), {"flush.messages": "1", "segment.ms": "1500"}),
    "batched": (TopicRules(), {"flush.messages": "4", "segment.ms": "150"}),
    "compacted": (
        TopicRules(is_compacted=True),
        {
            "cleanup.policy": "compact",
            "segment.ms": "200",
            "min.cleanable.dirty.ratio": "0.01",
            "delete.retention.ms": "1000",
        },
    ),
    "retained": (
        TopicRules(retention_ms=2_000),
        {"retention.ms": "2000", "segment.ms": "300", "file.delete.delay.ms": "200"},
    ),
}


FEW_EPOCHS = Mutant(
    "few-epochs",
    "not a rule: a transactional producer exhausts its epochs within a life",
    (
        Patch("coordinator.transaction.transaction:MAX_EPOCH", constant(6)),
        Patch("coordinator.transaction.ending:MAX_EPOCH", constant(6)),
    ),
)


def has_transactions(seed: int) -> bool:
    """Return True for the last third of every sixty seeds, so that lives named in tests stay the
    same.
    """
    return seed % 60 >= 40


class OneNode:
    """The world of one node."""

    def __init__(self, seed: int, scale: int = 1) -> None:
        self.world = World(seed)
        self.dice = self.world.dice("scenario")
        self.catalog = Catalog()
        more = directories_of(seed)
        self.node = Node(self.world, 1, {**PROPERTIES, **more})
        self.node.on_up = self._settle
        self.node.on_ended = self._ended
        self.group = GroupLedger("group")
        self.scale = scale
        self.administrator = Administrator(self.world, "admin", [self.node.peer], self.catalog)
        self.producers: list[ProducerClient] = []
        self.readers: list[ReaderClient] = []
        self.members: list[GroupMember] = []
        self.transactions: Transactions | None = None
        self.has_few_epochs = has_transactions(seed) and self.world.dice("epochs").one_in(3)
        self.faults: Faults | None = None
        nodes = [self.node]
        self.node.rules += [PartitionOffsets(), NoBugs()]
        self.node.image_rules += [
            MetadataOffsets(is_single=True),
            ImageEveryWhere(),
            CoordinatorTerms(self.group.process_ended),
        ]
        self.moves = DirectoryMoves(self.world, nodes, self._replicas) if more else None

    # ---------------------------------------------------------------- the phases

    def run(self) -> str:
        """Run one life; return the digest of its timeline."""
        with applied(FEW_EPOCHS) if self.has_few_epochs else nullcontext():
            return self._live()

    def _live(self) -> str:
        self._begin()
        self._add_clients()
        faults = self.faults = Faults(
            self.world, [self.node], [client.name for client in self._clients()]
        )
        if self.transactions is not None:
            self.transactions.add_faults(faults)
        if self.moves is not None:
            self.moves.add_faults(faults)
        for client in self._clients():
            client.start()
        faults.start()
        self.world.run_for(self.dice.randint(*FAULTS_US) * self.scale)
        faults.heal()
        if self.moves is not None:
            self.moves.stop()
        self._drain()
        self._settle(self.node)
        self._settle_moves()
        self._restart()
        self._settle_moves()
        return self.world.timeline.digest

    def _settle_moves(self) -> None:
        if self.moves is not None:
            self.moves.settle()
            self._settle(self.node)

    def _restart(self) -> None:
        self.node.stop()
        self._wait(lambda: self.node.state is NodeState.DOWN, "the node does not stop")
        self.node.start()
        self._wait(lambda: self.node.state is NodeState.UP, "the node does not start again")
        if self.transactions is not None:
            self.transactions.check_again()

    def _wait(
        self, condition: Callable[[], bool], otherwise: str, limit_us: int = START_US
    ) -> None:
        if not self.world.run_until(condition, self.world.now_us + limit_us):
            raise Violation(otherwise)

    def _begin(self) -> None:
        self.node.start()
        self._wait(lambda: self.node.state is NodeState.UP, "the node does not start")
        setup = SetUp(self.administrator, self._topic_choice(), self.node)
        setup.start()
        self._wait(lambda: setup.is_done, "the topics are not created")
        if has_transactions(self.world.seed):
            dice = self.world.dice("transactional life")
            is_durable = dice.one_in(2)
            preparation = TransactionSetUp(
                self.administrator, dice.randint(2, 4), is_durable=is_durable
            )
            preparation.start()
            self._wait(lambda: preparation.is_done, "transactions are not prepared")
            self.transactions = Transactions(
                self.world,
                [self.node],
                self.catalog,
                is_durable=is_durable,
                level=preparation.level,
                wait=self._wait,
            )

    def _topic_choice(self) -> list[str]:
        names = [name for name in TOPICS if not self.dice.one_in(3)]
        return names or ["plain"]

    def _add_clients(self) -> None:
        world, bootstrap = self.world, [self.node.peer]
        names = sorted(self.catalog.topics.keys() - {TRANSACTIONAL_TOPIC})
        self.administrator = Administrator(world, "operator", bootstrap, self.catalog)
        self.administrator.kept.update(self.catalog.topics)
        for number in range(self.dice.randint(1, 3)):
            batches = self.dice.randint(10, 50) * self.scale
            self.producers.append(
                ProducerClient(world, f"producer-{number}", bootstrap, self.catalog, names, batches)
            )
        for number in range(self.dice.randint(1, 2)):
            self.readers.append(
                ReaderClient(world, f"reader-{number}", bootstrap, self.catalog, names)
            )
        topic = self.catalog.topics[names[0]]
        for number in range(self.dice.choice((0, 2, 3))):
            self.members.append(
                GroupMember(world, f"member-{number}", bootstrap, self.group, topic)
            )

        if self.transactions is not None:
            self.transactions.add_clients(self.scale)
        if self.moves is not None:
            self.moves.add_clients()

    def _clients(self) -> Sequence[Client]:
        others = [] if self.transactions is None else self.transactions.clients()
        movers = [] if self.moves is None else self.moves.clients
        return [
            *self.producers,
            *self.readers,
            *self.members,
            self.administrator,
            *others,
            *movers,
        ]

    def _replicas(self) -> dict[TopicPartition, bytes]:
        """Return the partitions that the node hosts, with the ids of their topics."""
        server = self.node.server
        if server is None or not hasattr(server, "replica_manager"):
            return {}
        return {each.topic_partition: each.topic_id for each in server.replica_manager.partitions()}

    def _drain(self) -> None:
        """Let producers finish by themselves and readers reach the end, then stop all clients."""
        self._wait(
            lambda: self.node.state is NodeState.UP and all(at.is_done for at in self.producers),
            "a producer gets no answer although no faults are active",
            DRAIN_US,
        )
        self._wait(self._readers_are_done, "a reader does not reach the end", DRAIN_US)
        self.world.run_for(CALM_US)
        if self.transactions is not None:
            self.transactions.drain()
        for client in self._clients():
            client.stop()
        self._wait(
            lambda: all(client.is_done for client in self._clients()),
            "a client waits although no faults are active",
            DRAIN_US,
        )

    def _readers_are_done(self) -> bool:
        server = self.node.server
        if server is None or self.node.state is not NodeState.UP:
            return False
        for reader in self.readers:
            for position in reader.positions:
                partition = server.replica_manager.find(position.topic.name, position.index)
                if partition is None or not partition.hosted:
                    return False
                if position.offset < readable_end(partition.log):
                    return False
        return True

    # ---------------------------------------------------------------- the logs

    def _ended(self, node: Node, is_power: bool) -> None:
        """Determine, before the process is gone, what its logs must bring back."""
        server = node.server
        assert server is not None
        logs = {(topic.name, index): log for topic, index, log in self._logs(server)}
        for topic in self.catalog.topics.values():
            for index, ledger in enumerate(topic.ledgers):
                log = logs.get((topic.name, index))
                if is_power:
                    ledger.power_lost(None if log is None else log.recovery_point)
                elif log is not None:
                    ledger.process_ended(log.log_end_offset, log.recovery_point)
        self.group.process_ended()
        if self.transactions is not None:
            self.transactions.process_ended(node, is_power=is_power)
        if self.moves is not None:
            self.moves.rules.process_ended(node, is_power=is_power)
        if is_power:
            self.catalog.power_failures += 1
            self.group.power_lost()
            for topic in self.catalog.topics.values():
                topic.may_lose = topic.may_lose or not topic.rules.is_flushed
        if self.faults is not None:
            self.faults.restart_later(node)

    def _logs(self, server: BrokerServer) -> list[tuple[TopicPromise, int, PartitionLog]]:
        if not hasattr(server, "replica_manager"):
            return []
        found = []
        for partition in server.replica_manager.partitions():
            topic = self.catalog.topics.get(partition.topic)
            if topic is None or topic.name == TRANSACTIONAL_TOPIC:
                continue
            if partition.index < len(topic.ledgers):
                found.append((topic, partition.index, partition.log))
        return found

    def _settle(self, node: Node) -> None:
        """Compare the logs of topics that exist with their promises, if they are online."""
        if self.transactions is not None:
            self.transactions.node_is_up(node)
        server = node.server
        assert server is not None
        for topic, index, log in self._logs(server):
            if topic.state is TopicState.THERE and not log.is_offline:
                with node.machine.files.peeked():
                    records = records_of(log)
                topic.ledgers[index].settle(records, log.log_start_offset, log.log_end_offset)
        node.note("has all that was promised")


class SetUp(Client):
    """Creates the topics of a world before its faults begin, through an administrator."""

    def __init__(self, administrator: Administrator, names: Sequence[str], node: Node) -> None:
        super().__init__(administrator.world, "set-up", administrator.bootstrap)
        self._administrator = administrator
        self._names = names
        self._node = node

    async def script(self) -> None:
        """Create the topics, and read their ids."""
        for name in self._names:
            rules, configs = TOPICS[name]
            own = replace(rules, latest_wall_ms=self._node.machine.clock.latest_ms)
            await self._administrator.create(name, self.dice.randint(1, 2), own, dict(configs))
        await self._administrator.learn_ids()
