"""Transactions in a world: their topic and clients, and what must hold when nothing fails any more.

With one node, in half of the lives that have them, and with several nodes always, their topic and
those of the coordinators are flushed with every record: then a power failure excuses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.messages.api_versions_request import ApiVersionsRequest
from pykbroker.testing.world.catalog import Catalog, TopicPromise
from pykbroker.testing.world.clients.administrator import Administrator
from pykbroker.testing.world.clients.client import Client
from pykbroker.testing.world.clients.committed_reader import CommittedReader
from pykbroker.testing.world.clients.hanging_aborter import HangingAborter
from pykbroker.testing.world.clients.offset_checker import OffsetChecker
from pykbroker.testing.world.clients.routed_client import GROUP, TRANSACTION
from pykbroker.testing.world.clients.transactional_client import TransactionalClient
from pykbroker.testing.world.clients.transactor import Transactor
from pykbroker.testing.world.faults import Faults
from pykbroker.testing.world.ledger import TopicRules
from pykbroker.testing.world.node import Node, NodeState, add_rule
from pykbroker.testing.world.transaction_invariants import (
    CrashesBetween,
    DifferentClocks,
    LastStableOffsets,
)
from pykbroker.testing.world.transaction_ledger import Losses, TransactionLedger
from pykbroker.testing.world.transaction_losses import losses_of
from pykbroker.testing.world.world import World

if TYPE_CHECKING:
    from pykbroker.replication.partition import Partition

TOPIC = "transactional"
INTERNAL_TOPICS = (TRANSACTION_STATE_TOPIC, GROUP_METADATA_TOPIC)
STATE_PARTITIONS = 2
DURABLE = {"flush.messages": "1"}
DRAIN_US = 60_000_000

Wait = Callable[[Callable[[], bool], str, int], None]
ClientT = TypeVar("ClientT", bound=TransactionalClient)


class Transactions:
    """The transactions of a world. `wait(condition, otherwise, limit_us)` lets the world run."""

    def __init__(
        self,
        world: World,
        nodes: Sequence[Node],
        catalog: Catalog,
        *,
        is_durable: bool,
        level: int,
        wait: Wait,
    ) -> None:
        self._world = world
        self._nodes = list(nodes)
        self._catalog = catalog
        self._wait = wait
        self._bootstrap = [node.peer for node in nodes]
        self._losses: dict[int, Losses] = {}
        self.topic = catalog.topics[TOPIC]
        self.ledger = TransactionLedger(TOPIC, self.topic.partitions, is_durable)
        self.level = level
        self.transactors: list[Transactor] = []
        self.readers: list[CommittedReader] = []
        if len(nodes) > 1:
            world.invariants.append(DifferentClocks(nodes, self.ledger))
        add_rule(nodes, LastStableOffsets(self.ledger))

    # ---------------------------------------------------------------- clients

    def add_clients(self, scale: int) -> None:
        """Add one or two transactional ids, sometimes with two clients for one of them, and one or
        two readers.
        """
        dice = self._world.dice("transactions")
        names = [f"copier-{number}" for number in range(dice.randint(1, 2))]
        for name in names:
            self._add_transactor(name, name, dice.randint(5, 20) * scale)
        if dice.one_in(2):
            rival = self._add_transactor("rival", names[0], dice.randint(3, 10) * scale)
            rival.is_rival = True
            self.transactors[0].rival = rival
        for number in range(dice.randint(1, 2)):
            self.readers.append(self._make(CommittedReader, f"committed-{number}"))

    def add_faults(self, faults: Faults) -> None:
        """Add crashes between the phases of a transaction, in lives that have crashes."""
        if "crash" in faults.weights:
            add_rule(self._nodes, CrashesBetween(self._world, faults, STATE_PARTITIONS))

    def clients(self) -> list[Client]:
        """Return the transactors and the readers."""
        return [*self.transactors, *self.readers]

    def _add_transactor(self, name: str, transactional_id: str, count: int) -> Transactor:
        client = Transactor(
            self._world,
            name,
            self._bootstrap,
            self._catalog,
            self.topic,
            self.ledger,
            transactional_id,
            self.level,
        )
        client.transactions_left = count
        client.coordinators_move = self._coordinators_move
        self.transactors.append(client)
        return client

    def _coordinators_move(self) -> bool:
        """Return whether brokers know different leader epochs of `__transaction_state`: as in
        Kafka, one that led answers from its old state until it learns of the next leader.
        """
        known = set()
        for node in self._nodes:
            if node.server is not None and hasattr(node.server, "kraft"):
                topic = node.server.image.topic(TRANSACTION_STATE_TOPIC)
                partitions = {} if topic is None else topic.partitions
                known.add(tuple(each.leader_epoch for each in partitions.values()))
        return len(known) > 1

    # ---------------------------------------------------------------- ends of processes

    def node_is_up(self, node: Node) -> None:
        """Record that its logs are loaded: what earlier ends of its process might have lost is
        forgotten, unless a directory is offline. If its clock is wrong, excuse timeouts.
        """
        directories = () if node.server is None else node.server.log_manager.directories
        if all(directory.is_online for directory in directories):
            self._losses.pop(node.node_id, None)
        if node.machine.clock.offset_us:  # perhaps set while the node was down
            self.ledger.clock_jumped()

    def process_ended(self, node: Node, *, is_power: bool) -> None:
        """Record, before the process is gone, what may be lost; excuse it if power is lost."""
        clock = node.machine.clock
        if clock.offset_us:
            self.ledger.clock_jumped()
        server = node.server
        if server is not None and hasattr(server, "replica_manager"):
            files = node.machine.files
            files.crash_at = files.fail = None
            with files.peeked():
                losses = losses_of(server, TOPIC)
            before = self._losses.get(node.node_id)
            if before is not None:
                losses = losses.and_also(before)
            self._losses[node.node_id] = losses
        if is_power and node.node_id in self._losses:
            self.ledger.power_lost(self._losses.pop(node.node_id))

    # ---------------------------------------------------------------- the end

    def drain(self) -> None:
        """Let transactors finish; check that no transaction stays open; read and compare
        everything. If power failures may have left hanging transactions, an operator aborts them.
        """
        operator = None
        if self.ledger.may_hang:
            operator = self._start(HangingAborter, "operator-of-transactions")
        self._wait(
            lambda: all(client.is_done for client in self.transactors),
            "a transactor gets no answer although no faults are active",
            DRAIN_US,
        )
        self._check("audit")
        if operator is not None:
            operator.stop()
            self._wait(lambda: operator.is_done, "an operator gets no answer", DRAIN_US)

    def check_again(self) -> None:
        """Read everything once more from its beginning, after a start; then stop the readers."""
        self.readers.append(self._start(CommittedReader, "late"))
        self._check("second audit")
        self.stop()

    def stop(self) -> None:
        """Stop all readers."""
        for reader in self.readers:
            reader.stop()

    def _check(self, name: str) -> None:
        self._wait(
            self._is_stable, "a finished transaction holds back a last stable offset", DRAIN_US
        )
        self._wait(self._is_read, "a read_committed reader does not reach the end", DRAIN_US)
        self.ledger.settle()
        checker = self._start(OffsetChecker, name)
        self._wait(lambda: checker.is_done, "an offset is not answered", DRAIN_US)

    def _make(self, kind: type[ClientT], name: str) -> ClientT:
        return kind(self._world, name, self._bootstrap, self._catalog, self.topic, self.ledger)

    def _start(self, kind: type[ClientT], name: str) -> ClientT:
        client = self._make(kind, name)
        client.start()
        return client

    def _is_stable(self) -> bool:
        return all(
            partition.bound(1) == partition.log.log_end_offset
            for partition in self._led(TOPIC, GROUP_METADATA_TOPIC)
        )

    def _is_read(self) -> bool:
        ends = {at.index: _end_of_batches(at.log) for at in self._led(TOPIC)}
        return len(ends) == self.topic.partitions and all(
            reader.is_done or all(reader.positions[index] >= end for index, end in ends.items())
            for reader in self.readers
        )

    def _led(self, *topics: str) -> list[Partition]:
        return [
            partition
            for node in self._nodes
            if node.server is not None and node.state is NodeState.UP
            for partition in node.server.replica_manager.partitions()
            if partition.topic in topics and partition.is_leader
        ]


def _end_of_batches(log: PartitionLog) -> int:
    """Return where a reader gets to: an empty last segment may be beyond offsets that power
    failures took.
    """
    if log.active.size:
        return log.log_end_offset
    ends = [segment.next_offset() for segment in log.segments if segment.size]
    return max(ends, default=log.log_start_offset)


class TransactionSetUp(TransactionalClient):
    """Creates the topics before the faults begin, through an administrator."""

    def __init__(
        self,
        administrator: Administrator,
        partitions: int,
        *,
        is_durable: bool,
        configs: Mapping[str, str] = {},
    ) -> None:
        """`configs` go to the topic and to the internal ones."""
        catalog = administrator.catalog
        topic = TopicPromise(TOPIC, partitions, TopicRules(is_flushed=is_durable))
        ledger = TransactionLedger(TOPIC, partitions, is_durable)
        super().__init__(
            administrator.world, "set-up-2", administrator.bootstrap, catalog, topic, ledger
        )
        self._administrator = administrator
        self._configs = {**configs, **(DURABLE if is_durable else {})}
        self.level = 0
        """The finalised transaction.version."""

    async def script(self) -> None:
        """Create and configure the topics, and read the transaction.version."""
        configs = {"segment.ms": "700", **self._configs}
        await self._administrator.create(TOPIC, self.topic.partitions, self.topic.rules, configs)
        await self._administrator.learn_ids()
        for kind in (GROUP, TRANSACTION):  # creates the internal topics
            await self.ask_again(partial(self.coordinator, kind, "any"))
        if self._configs:
            for name in INTERNAL_TOPICS:
                await self._administrator.set_configs(name, self._configs)
        response = await self.ask(
            ApiVersionsRequest(client_software_name="world", client_software_version="1"), 3
        )
        for feature in response.finalized_features:
            if feature.name == "transaction.version":
                self.level = feature.max_version_level
