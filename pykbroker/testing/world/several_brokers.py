"""The world of several brokers: topics with replicas, and clients that use them under faults.

    1  the nodes elect a controller, register, serve; topics are created
    2  producers and readers, and in some lives members of a group, transactional producers and
       administrators (of topics, and of replicas and leaders) work while faults happen
    3  no more faults: all replicas of all partitions get in sync (unless a log needs another record
       for that, see `_waits_for_a_record`: then the life ends)
    4  clients show that everything works, producers end, readers reach the end
    5  replicas have what was promised, and no two have different batches at one offset in topics
       that are not compacted; all nodes fail, and this still holds

The nodes of one life in two have several log directories (`directory_moves.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.primitives import uuid_to_str
from pykbroker.replication.partition import ACKS_ALL
from pykbroker.testing.world.catalog import Catalog
from pykbroker.testing.world.clients.administrator import Administrator
from pykbroker.testing.world.clients.client import Client
from pykbroker.testing.world.clients.group_member import GroupMember
from pykbroker.testing.world.clients.producer import ProducerClient
from pykbroker.testing.world.clients.reader import Position, ReaderClient
from pykbroker.testing.world.clients.reassigner import Reassigner
from pykbroker.testing.world.cluster_faults import ClusterFaults
from pykbroker.testing.world.cluster_topics import CLUSTER_PROPERTIES, TWO_IN_SYNC, ClusterSetUp
from pykbroker.testing.world.directory_moves import DirectoryMoves, directories_of
from pykbroker.testing.world.election_rules import ElectionRules
from pykbroker.testing.world.group_ledger import GroupLedger
from pykbroker.testing.world.invariants import (
    CoordinatorTerms,
    ImageEveryWhere,
    MetadataOffsets,
    NoBugs,
)
from pykbroker.testing.world.ledger import batches_of, readable_end, records_of
from pykbroker.testing.world.marker_invariants import CommittedMarkers
from pykbroker.testing.world.node import Node, NodeState, add_image_rule, add_rule
from pykbroker.testing.world.power_losses import PowerLosses
from pykbroker.testing.world.quorum_invariants import QuorumRules
from pykbroker.testing.world.randomness import SeededSource
from pykbroker.testing.world.replication_invariants import ReplicationRules
from pykbroker.testing.world.shape import Shape
from pykbroker.testing.world.transactions import TOPIC as TRANSACTIONAL_TOPIC
from pykbroker.testing.world.transactions import Transactions, TransactionSetUp
from pykbroker.testing.world.world import Violation, World
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.kraft.metadata_log import LogBatch
    from pykbroker.kraft.partition_image import PartitionImage
    from pykbroker.replication.partition import Partition

SECOND = 1_000_000
START_US = 60 * SECOND
DRAIN_US = 90 * SECOND
CALM_US = 5 * SECOND
FAULTS_US = (2 * SECOND, 8 * SECOND)
INTERNAL = (GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC)


class SeveralBrokers:
    """The world of several brokers."""

    def __init__(self, seed: int, scale: int = 1, shape: Shape | None = None) -> None:
        self.world = World(seed)
        self.dice = self.world.dice("scenario")
        self.shape = shape or Shape()
        self.scale = scale
        self.catalog = Catalog()
        self.group = GroupLedger("group", may_move=True)
        cluster_id = uuid_to_str(SeededSource(self.world.dice("cluster")).new_uuid())
        more = directories_of(seed)
        properties_of = self.shape.properties({**CLUSTER_PROPERTIES, **more})
        self.nodes = [
            Node(self.world, node_id, properties, cluster_id)
            for node_id, properties in properties_of.items()
        ]
        for node in self.nodes:
            node.on_ended = self._ended
        self.brokers = [node for node in self.nodes if node.node_id in self.shape.broker_ids]
        controllers = [node for node in self.nodes if node.node_id in self.shape.controller_ids]
        self.quorum = QuorumRules()
        self.elections = ElectionRules()
        self.quorum.on_committed = self._committed
        self.rules = ReplicationRules(self.brokers)
        self.power = PowerLosses(self.nodes)
        add_rule(controllers, self.quorum)
        add_rule(self.nodes, NoBugs())
        add_rule(self.nodes, self.rules)  # also where a controller of its own commits metadata
        add_rule(self.brokers, CommittedMarkers(self.brokers, self.rules, self.newest_image))
        add_image_rule(self.nodes, MetadataOffsets())
        add_image_rule(self.brokers, ImageEveryWhere())
        add_image_rule(self.brokers, CoordinatorTerms(self.group.process_ended))
        self.moves = DirectoryMoves(self.world, self.brokers, self._replicas) if more else None
        self.bootstrap = [node.peer for node in self.brokers]
        self.producers: list[ProducerClient] = []
        self.readers: list[ReaderClient] = []
        self.members: list[GroupMember] = []
        self.operators: list[Administrator] = []
        self.reassigners: list[Reassigner] = []
        self.transactions: Transactions | None = None
        self.faults: ClusterFaults | None = None
        self._judged: MetadataImage | None = None
        """The image of which `_is_complete` tells."""
        self._is_complete = False

    # ---------------------------------------------------------------- the phases

    def run(self) -> str:
        """Run one life; return the digest of its timeline."""
        self._begin()
        self._add_clients()
        names = [client.name for client in self._clients()]
        faults = self.faults = ClusterFaults(self.world, self.nodes, names)
        if self.transactions is not None:
            self.transactions.add_faults(faults)
        if self.moves is not None:
            self.moves.add_faults(faults)
        for client in self._clients():
            client.start()
        faults.start()
        self.world.run_for(self.dice.randint(*FAULTS_US) * self.scale)
        faults.mend()
        for reassigner in self.reassigners:
            reassigner.stop()
        if self.moves is not None:
            self.moves.stop()
        if not self.world.run_until(self._is_in_sync, self.world.now_us + DRAIN_US):
            if self._waits_for_a_record():
                return self.world.timeline.digest
            raise Violation("replicas do not join the ISR although no faults are active")
        self.world.network.reset_half_open()
        self.world.calm_since_us = faults.pauses_end_us()
        self.world.timeline.note("world", "is calm")
        self._drain()
        self._settle_moves()
        self._check_logs()
        self._fail_once_more()
        self._settle_moves()
        self._check_logs()
        return self.world.timeline.digest

    def _wait(
        self, condition: Callable[[], bool], otherwise: str, limit_us: int = START_US
    ) -> None:
        if not self.world.run_until(condition, self.world.now_us + limit_us):
            raise Violation(otherwise)

    def _settle_moves(self) -> None:
        if self.moves is not None:
            self.moves.settle()

    def _begin(self) -> None:
        for node in self.nodes:
            node.start()
        self._wait(self._all_serve, "the nodes do not start")
        factor = min(3, len(self.brokers))
        administrator = Administrator(self.world, "admin", self.bootstrap, self.catalog, factor)
        set_up = ClusterSetUp(administrator, self._latest_wall_ms)
        set_up.start()
        self._wait(lambda: set_up.is_done, "the topics are not created")
        dice = self.world.dice("transactional life")
        preparation = TransactionSetUp(
            administrator, dice.randint(2, 4), is_durable=True, configs=TWO_IN_SYNC
        )
        preparation.start()
        self._wait(lambda: preparation.is_done, "transactions are not prepared")
        self._wait(self._flush_transactions, "a broker does not receive its flush setting")
        if dice.one_in(2):
            self.transactions = Transactions(
                self.world,
                self.brokers,
                self.catalog,
                is_durable=True,
                level=preparation.level,
                wait=self._wait,
            )
        for topic in self.catalog.topics.values():
            for index, ledger in enumerate(topic.ledgers):
                key = TopicPartition(topic.name, index)
                ledger.committed_end = _end_of(self.rules, topic.topic_id, index)
                ledger.is_everywhere = partial(self._is_everywhere, key)
                ledger.is_led_by = partial(self._is_led_by, key)

    def _flush_transactions(self) -> bool:
        topics = (TRANSACTIONAL_TOPIC, *INTERNAL)
        return all(
            partition.log.config.flush_messages == 1
            for node in self.brokers
            for key, partition in self._hosted_by(node)
            if key.topic in topics
        )

    def _latest_wall_ms(self) -> int:
        return max(node.machine.clock.latest_ms() for node in self.nodes)

    def _add_clients(self) -> None:
        world, bootstrap, dice = self.world, self.bootstrap, self.dice
        names = sorted(self.catalog.topics.keys() - {TRANSACTIONAL_TOPIC})
        for number in range(dice.randint(1, 3)):
            batches = dice.randint(15, 60) * self.scale
            self.producers.append(
                ProducerClient(world, f"producer-{number}", bootstrap, self.catalog, names, batches)
            )
        for number in range(dice.randint(1, 2)):
            self.readers.append(
                ReaderClient(world, f"reader-{number}", bootstrap, self.catalog, names)
            )
        topic = self.catalog.topics[names[0]]
        for number in range(dice.choice((0, 2, 3))):
            name = f"member-{number}"
            self.members.append(GroupMember(world, name, bootstrap, self.group, topic))
        if dice.one_in(2):
            operator = Administrator(world, "operator", bootstrap, self.catalog, 2)
            operator.is_one_of_several = True
            self.operators.append(operator)
        if dice.one_in(2):
            partitions = [*self._partitions_of(*names, TRANSACTIONAL_TOPIC, *INTERNAL)]
            self.reassigners.append(
                Reassigner(world, "reassigner", bootstrap, partitions, self.shape.broker_ids)
            )
        if self.transactions is not None:
            self.transactions.add_clients(self.scale)
        if self.moves is not None:
            self.moves.add_clients()

    def _replicas(self) -> dict[TopicPartition, bytes]:
        """Return all partitions, with the ids of their topics."""
        return {
            TopicPartition(topic.name, index): topic_id
            for topic_id, topic in self.newest_image().topics_by_id.items()
            for index in topic.partitions
        }

    def _partitions_of(self, *names: str) -> Iterator[TopicPartition]:
        image = self.newest_image()
        for name in names:
            topic = image.topic(name)
            for index in () if topic is None else topic.partitions:
                yield TopicPartition(name, index)

    def _clients(self) -> Sequence[Client]:
        others = [] if self.transactions is None else self.transactions.clients()
        movers = [] if self.moves is None else self.moves.clients
        return [
            *self.producers,
            *self.readers,
            *self.members,
            *self.operators,
            *self.reassigners,
            *others,
            *movers,
        ]

    def _drain(self) -> None:
        self._wait(
            lambda: self._all_serve() and all(client.is_done for client in self.producers),
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

    def _fail_once_more(self) -> None:
        """End all nodes, by power only if their logs are flushed; wait until they are in sync."""
        is_power = self.dice.one_in(2)
        for node in self.nodes:
            if is_power and self._is_all_flushed(node):
                node.power_off(reorder=False)
            else:
                node.kill()
        for node in self.nodes:
            node.start()
        self._wait(self._is_in_sync, "the cluster does not start again", DRAIN_US)
        if self.transactions is not None:
            self.transactions.check_again()

    def _is_all_flushed(self, node: Node) -> bool:
        return all(
            partition.log.recovery_point == partition.log.log_end_offset
            for _, partition in self._hosted_by(node)
        )

    def _committed(self, batch: LogBatch) -> None:
        """Check a committed batch, and pass the newest image to the rules."""
        self.elections.take(batch)
        self.rules.image = self.newest_image()
        if self.moves is not None:
            self.moves.rules.committed(self.rules.image)
        for key, offset in self.power.committed(batch).items():
            self._excuse(key, offset)

    def newest_image(self) -> MetadataImage:
        """Return the newest metadata that a running node has read; an empty image if none runs."""
        drivers = [getattr(node.server, "kraft", None) for node in self.nodes]
        images: list[MetadataImage] = [each.image for each in drivers if each is not None]
        return max(images, key=lambda image: image.offset, default=MetadataImage())

    # ---------------------------------------------------------------- ends of processes

    def _ended(self, node: Node, is_power: bool) -> None:
        self.group.process_ended()
        if node.server is not None and not node.was_asked_to_stop:
            kraft = getattr(node.server, "kraft", None)
            if kraft is not None:
                self.elections.crashed(node.node_id, kraft.broker.broker_epoch)
        self.rules.process_ended(node)
        losses = self.power.process_ended(node, is_power=is_power)
        if self.transactions is not None:
            self.transactions.process_ended(node, is_power=is_power)
        if self.moves is not None and node in self.brokers:
            self.moves.rules.process_ended(node, is_power=is_power)
        for key, offset in losses.items():
            self._excuse(key, offset)
        if self.faults is not None:
            self.faults.restart_later(node)

    def _excuse(self, key: TopicPartition, offset: int) -> None:
        topic_id = self.power.topic_id(key.topic)
        end = 0 if topic_id is None else self.rules.committed_end(topic_id, key.partition)
        if topic_id is None or offset >= end:
            return
        self.world.timeline.note("world", f"{key} may lose everything from {offset} on")
        self.rules.forget(topic_id, key.partition, offset)
        self.catalog.power_failures += 1
        if key.topic == GROUP_METADATA_TOPIC:
            self.group.power_lost()
        topic = self.catalog.topics.get(key.topic)
        if topic is not None and key.partition < len(topic.ledgers):
            topic.may_lose = True
            topic.ledgers[key.partition].may_lose_from(offset, max(end, self._appended_end(key)))

    def _appended_end(self, key: TopicPartition) -> int:
        """Return where the longest log of a partition ends, 0 if no running node has one. Fetches
        that are under way may still commit all of it.
        """
        hosted = (partition for node in self.brokers for partition in self._hosted_by(node))
        return max((each.log.log_end_offset for found, each in hosted if found == key), default=0)

    # ---------------------------------------------------------------- what is awaited

    def _all_serve(self) -> bool:
        return all(node.state is NodeState.UP for node in self.nodes)

    def _servers(self) -> list[BrokerServer]:
        return [node.server for node in self.brokers if node.server is not None]

    def _hosted_by(self, node: Node) -> Iterator[tuple[TopicPartition, Partition]]:
        if node.server is not None and hasattr(node.server, "replica_manager"):
            for partition in node.server.replica_manager.partitions():
                yield partition.topic_partition, partition

    def _is_in_sync(self) -> bool:
        """Return whether all nodes serve, brokers have the same, complete metadata, and replicas
        end at the same offset, their high watermark.
        """
        if not self._all_serve():
            return False
        images = [server.image for server in self._servers()]
        if any(image.offset != images[0].offset for image in images):
            return False
        if images[0] is not self._judged:
            self._judged = images[0]
            self._is_complete = _is_complete(images[0])
        return self._is_complete and self._replicas_have_equal_ends()

    def _waits_for_a_record(self) -> bool:
        """Return whether a leader has a log that ends in a gap, as after a power failure, and
        fewer replicas in sync than acks=all needs. As in Kafka, no replica can catch up
        until something is appended, with acks=1 or a lower min.insync.replicas.
        """
        for node in self.brokers:
            for key, partition in self._hosted_by(node):
                log = partition.log
                if not partition.is_leader or partition.may_append(ACKS_ALL):
                    continue
                if max(readable_end(log), log.log_start_offset) < log.log_end_offset:
                    self.world.timeline.note("world", f"{key} needs a record behind its gap")
                    return True
        return False

    def _replicas_have_equal_ends(self) -> bool:
        ends: dict[TopicPartition, int] = {}
        for node in self.brokers:
            for key, partition in self._hosted_by(node):
                end = partition.log.log_end_offset
                if partition.high_watermark != end or ends.setdefault(key, end) != end:
                    return False
        return True

    def _readers_are_done(self) -> bool:
        compacted: list[tuple[Position, PartitionLog]] = []
        for reader in self.readers:
            for position in reader.positions:
                log = self._log_of_leader(position.partition)
                if log is None:
                    return False
                if position.offset < log.log_end_offset:
                    if not log.config.compact:
                        return False
                    compacted.append((position, log))
        return all(position.offset >= readable_end(log) for position, log in compacted)

    def _log_of_leader(self, key: TopicPartition) -> PartitionLog | None:
        for server in reversed(self._servers()):
            if hasattr(server, "replica_manager"):
                partition = server.replica_manager.find(*key)
                if partition is not None and partition.is_leader:
                    return partition.log
        return None

    # ---------------------------------------------------------------- the logs

    def _check_logs(self) -> None:
        """Compare every replica with the promises and, unless it is compacted, with another one."""
        self._wait(self._is_in_sync, "replicas do not join the ISR at the end", DRAIN_US)
        contents: dict[TopicPartition, dict[int, bytes]] = {}
        for node in self.brokers:
            for key, partition in self._hosted_by(node):
                log = partition.log
                self._settle(key, log)
                if log.config.compact:
                    continue
                content = {header.base_offset: batch for header, batch in batches_of(log)}
                other = contents.setdefault(key, content)
                for base in other.keys() & content.keys():
                    if other[base] != content[base]:
                        raise Violation(f"{node.name} {key}: has a different batch at {base}")
            node.note("has all that was promised")

    def _settle(self, key: TopicPartition, log: PartitionLog) -> None:
        """Compare a replica with what clients were promised."""
        topic, index = self.catalog.topics.get(key.topic), key.partition
        if topic is None or topic.name == TRANSACTIONAL_TOPIC or not topic.ledgers[index:]:
            return
        records = records_of(log)
        everywhere = self._records_everywhere(key) if topic.may_lose else None
        topic.ledgers[index].settle(records, log.log_start_offset, log.log_end_offset, everywhere)

    def _is_led_by(self, key: TopicPartition, node_id: int) -> bool:
        partition = self.newest_image().partition(*key)
        return partition is not None and partition.leader == node_id

    def _is_everywhere(self, key: TopicPartition, offset: int, identity: bytes) -> bool:
        return (offset, identity) in self._records_everywhere(key)

    def _records_everywhere(self, key: TopicPartition) -> set[tuple[int, bytes]]:
        """Return the offsets and ids of the records that all replicas on running nodes have."""
        found = []
        for node in self.brokers:
            replica = dict(self._hosted_by(node)).get(key)
            if replica is not None:
                with node.machine.files.peeked():
                    records = records_of(replica.log)
                found.append({(record.offset, record.identity) for record in records})
        return set.intersection(*found) if found else set()


def _is_complete(image: MetadataImage) -> bool:
    """Return whether partitions have leaders, all replicas in sync, and none `_is_under_way`."""
    return all(
        partition.leader >= 0
        and set(partition.isr) == set(partition.replicas)
        and not _is_under_way(partition)
        for topic in image.topics_by_id.values()
        for partition in topic.partitions.values()
    )


def _is_under_way(partition: PartitionImage) -> bool:
    """Return whether a reassignment will end. As in Kafka, one that removes a replica that the one
    before was still adding does not, until it is cancelled.
    """
    adding, removing = set(partition.adding_replicas), set(partition.removing_replicas)
    return bool(adding | removing) and not adding & removing


def _end_of(rules: ReplicationRules, topic_id: bytes, index: int) -> Callable[[], int]:
    return lambda: rules.committed_end(topic_id, index)
