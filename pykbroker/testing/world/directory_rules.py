"""Rules about replicas that move between the log directories of a node.

    when a copy takes the place of a log, it has what the log has from the start of the copy on, and
    what was flushed is flushed (`check_same`; in compacted topics, not all of it is compared)
    after the faults, every move ends; then every replica is in one directory, one of those that
    operators were promised, if any; and neither a copy nor a log that it replaced is left
    the metadata says in which directory each replica is

A directory that fails when a copy is renamed may contain the copy under the name of the log, which
is served from the other directory. When both work again, the node does not start, as in Kafka, and
an operator deletes the copy (`repair`). The same holds for a log whose replica left the node while
its directory was offline, and came back to another directory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from pykbroker.kraft.image import MetadataImage
from pykbroker.log.directories.checkpoints import (
    PARTITION_METADATA,
    CorruptCheckpoint,
    PartitionMetadata,
)
from pykbroker.log.directories.directory_loader import METADATA_TOPIC
from pykbroker.log.directories.partition_directories import (
    DELETE,
    FUTURE,
    DirectoryName,
    parse_directory_name,
)
from pykbroker.testing.world.clients.replica_mover import Contents
from pykbroker.testing.world.directory_ledger import DirectoryLedger, Replica
from pykbroker.testing.world.ledger import batches_of
from pykbroker.testing.world.node import Node
from pykbroker.testing.world.world import Violation, World
from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.log.partition.partition_log import PartitionLog

DUPLICATE = re.compile(r"Duplicate log directories for (\S+) are found in both (\S+) and (\S+):")
LIMIT_US = 60_000_000


class DirectoryRules:
    """Checks the rules of moves."""

    def __init__(self, nodes: Sequence[Node], ledger: DirectoryLedger) -> None:
        self.nodes = list(nodes)
        self.ledger = ledger
        self.moves = 0
        self._copies: dict[int, dict[TopicPartition, tuple[PartitionLog, PartitionLog]]] = {}
        """Node id -> the logs that were being moved after its last event, and their copies."""
        self._half_moved: dict[tuple[int, str], tuple[str, bytes]] = {}
        """Node id and partition -> directory and topic id of a copy that may have its name."""
        self._was_absent: set[Replica] = set()
        """Replicas that were not on their nodes in some committed metadata."""
        self._image = MetadataImage()
        self.repairs = 0
        for node in nodes:
            node.can_repair = self.repair

    # ---------------------------------------------------------------- while it happens

    def check(self, node: Node, server: BrokerServer | None) -> None:
        """See `NodeRule`."""
        if server is None:
            return
        before = self._copies.pop(node.node_id, None)
        manager = server.log_manager
        for key, (log, copy) in (before or {}).items():
            if manager.get(key) is copy:
                self.moves += 1
                with node.machine.files.peeked():
                    check_same(f"{node.name} {key}", log, copy)
            elif copy.is_offline:
                self._half_moved[node.node_id, str(key)] = _place_of(copy)
        moving = {}
        for key in manager.future_partitions():
            current, future = manager.get(key), manager.future(key)
            if current is not None and future is not None:
                moving[key] = (current, future)
        if moving:
            self._copies[node.node_id] = moving

    def process_ended(self, node: Node, *, is_power: bool) -> None:
        """Record, before the process is gone, which copies may have the name of the log; when power
        is lost, also where replicas were.
        """
        manager = getattr(node.server, "replica_manager", None)
        if node.server is not None and manager is not None:
            self._forget_whole(node, node.server)
        for key, (_, copy) in self._copies.pop(node.node_id, {}).items():
            self._half_moved[node.node_id, str(key)] = _place_of(copy)
        self.ledger.process_ended(node.node_id)
        if is_power:
            paths = {
                (partition.topic_id, partition.index): partition.log.log_directory
                for partition in (() if manager is None else manager.partitions())
                if partition.log.recovery_point  # else it may be created anew, anywhere
            }
            self.ledger.power_lost(node.node_id, paths)

    def _forget_whole(self, node: Node, server: BrokerServer) -> None:
        """Forget the copies that have become the logs: an operator must not delete them.

        While a directory is offline, the log may be in it, and its copy served instead.
        """
        if all(each.is_online for each in server.log_manager.directories):
            for partition in server.replica_manager.partitions():
                key = (node.node_id, str(partition.topic_partition))
                path, _ = self._half_moved.get(key, ("", b""))
                if path == partition.log.log_directory:
                    del self._half_moved[key]

    def committed(self, image: MetadataImage) -> None:
        """Record where replicas are no longer, or not yet."""
        self.ledger.take(image)
        self._image = image
        for topic in image.topics_by_id.values():
            for index, partition in topic.partitions.items():
                for node in self.nodes:
                    if node.node_id not in partition.replicas:
                        self._was_absent.add(Replica(node.node_id, topic.id, index))

    def repair(self, node: Node, failure: BaseException) -> bool:
        """Delete one of two logs of a partition because of which a node does not start. Return
        False if it does not start for another reason, or neither log is known to be superfluous.
        """
        found = DUPLICATE.search(str(failure))
        if found is None:
            return False
        name, paths = found[1], (found[2], found[3])
        path = self._half_moved_to(node, name) or self._left_behind(node, name, paths)
        if path not in paths:
            return False
        node.note(f"has {path} deleted")
        self.repairs += 1
        with node.machine.files.peeked():
            node.machine.files.remove_tree(path)
            node.machine.files.sync_dir(path.rpartition("/")[0])
        return True

    def _half_moved_to(self, node: Node, name: str) -> str:
        """Return the path of a copy that may have the name of the log, and forget it; "" if there
        is none.
        """
        directory, topic_id = self._half_moved.pop((node.node_id, name), ("", b""))
        if not directory:
            return ""
        self.ledger.ended(Replica(node.node_id, topic_id, int(name.rpartition("-")[2])))
        return f"{directory}/{name}"

    def _left_behind(self, node: Node, name: str, paths: tuple[str, str]) -> str:
        """Return the path of a log whose replica has left the node while its directory was offline,
        and come back to another directory; "" if there is none.
        """
        topic_name, _, index = name.rpartition("-")
        topic = self._image.topic(topic_name)
        if topic is None or node.server is None:
            return ""
        if Replica(node.node_id, topic.id, int(index)) not in self._was_absent:
            return ""
        assigned = topic.partitions[int(index)].directory_of(node.node_id)
        others = [
            f"{each.path}/{name}"
            for each in node.server.log_manager.directories
            if each.directory_id != assigned
        ]
        return next((path for path in paths if path in others), "")

    # ---------------------------------------------------------------- when all is calm

    def settle(self, world: World) -> None:
        """Let all moves end, and check what is on the disks."""
        if not world.run_until(lambda: not self._unfinished(), world.now_us + LIMIT_US):
            raise Violation(f"although no faults are active, {self._unfinished()}")
        for node in self.nodes:
            with node.machine.files.peeked():
                self._check_disk(node)

    def _unfinished(self) -> str:
        """Return what is not over yet; "" if everything is."""
        for node in self.nodes:
            server = node.server
            if server is None or not hasattr(server, "log_manager"):
                return f"{node.name} does not serve"
            offline = [each.path for each in server.log_manager.directories if not each.is_online]
            if offline:
                return f"{node.name} has {offline} offline"
            moving = server.log_manager.future_partitions()
            if moving:
                return f"{node.name} still moves {moving}"
            for path, name, parsed in _logs_on(node):
                if parsed.kind in (DELETE, FUTURE):
                    return f"{node.name} still has {path}/{name}"
            wrong = _registered_elsewhere(server, node.node_id)
            if wrong:
                return f"the metadata has {wrong} of {node.name} elsewhere"
        return ""

    def _check_disk(self, node: Node) -> None:
        server = node.server
        assert server is not None
        found: dict[TopicPartition, list[str]] = {}
        for path, name, parsed in _logs_on(node):
            if parsed.topic_partition.topic == METADATA_TOPIC:
                continue
            if parsed.kind:
                self._check_stray(node, server, f"{path}/{name}", parsed.topic_partition)
            else:
                found.setdefault(parsed.topic_partition, []).append(path)
        hosted = {}
        for partition in server.replica_manager.partitions():
            path = partition.log.log_directory
            hosted[partition.topic_partition] = [path]
            replica = Replica(node.node_id, partition.topic_id, partition.index)
            self.ledger.check(f"{node.name} {partition.topic_partition}", replica, path)
        if found != hosted:
            raise Violation(f"{node.name}: has logs in {found}, and hosts {hosted}")

    def _check_stray(
        self, node: Node, server: BrokerServer, path: str, partition: TopicPartition
    ) -> None:
        """Check that a log that was set aside was not that of a replica of this node.

        A power failure may take the id of the topic, together with all records.
        """
        name = f"{path}/{PARTITION_METADATA}"
        try:
            topic_id = PartitionMetadata.from_bytes(node.machine.files.read_file(name), name)[0]
        except (FileNotFoundError, CorruptCheckpoint):
            return
        replica = Replica(node.node_id, topic_id, partition.partition)
        topic = server.image.topics_by_id.get(topic_id)
        if topic is not None and replica not in self._was_absent:
            raise Violation(f"{node.name}: set {path} aside, which it hosts")

    def compare(self, contents: dict[int, Contents]) -> None:
        """Compare the answers to DescribeLogDirs with what there is."""
        for node in self.nodes:
            server = node.server
            assert server is not None
            expected: Contents = {path: set() for path in node.directories}
            for log in server.log_manager.logs():
                expected[log.log_directory].add((log.topic_partition, False))
            if contents[node.node_id] != expected:
                raise Violation(
                    f"{node.name}: describes {contents[node.node_id]}, and has {expected}"
                )


def _place_of(copy: PartitionLog) -> tuple[str, bytes]:
    return copy.log_directory, copy.topic_id or b""


def _logs_on(node: Node) -> Iterator[tuple[str, str, DirectoryName]]:
    """Yield the directories of partitions: where, its name, what that means."""
    files = node.machine.files
    for path in node.directories:
        for name in files.listdir(path):
            parsed = parse_directory_name(name) if files.is_dir(f"{path}/{name}") else None
            if parsed is not None:
                yield path, name, parsed


def _registered_elsewhere(server: BrokerServer, node_id: int) -> list[TopicPartition]:
    wrong = []
    for partition in server.replica_manager.partitions():
        topic = server.image.topics_by_id.get(partition.topic_id)
        found = None if topic is None else topic.partitions.get(partition.index)
        directory = server.log_manager.directory_id_of(partition.log)
        if found is None or found.directory_of(node_id) != directory:
            wrong.append(partition.topic_partition)
    return wrong


# ---------------------------------------------------------------- a log and its copy


def check_same(name: str, log: PartitionLog, copy: PartitionLog) -> None:
    """Check that a copy that has just taken the place of a log has what the log has from the start
    of the copy on.

    Of compacted logs, batches, producers and aborted transactions are not compared: while the
    directory of the copy was offline, the log may have been compacted. The log may start earlier: a
    failure may have taken back a deletion of the first records, whose promise the ledgers know.
    """
    start = copy.log_start_offset
    if copy.log_end_offset != log.log_end_offset or start < log.log_start_offset:
        raise Violation(f"{name}: {copy} has taken the place of {log}")
    if copy.recovery_point < log.recovery_point:
        raise Violation(
            f"{name}: was flushed up to {log.recovery_point}, its copy up to {copy.recovery_point}"
        )
    batches, found = _batches(log, start), _batches(copy, start)
    if log.config.compact:
        copied = set(found)
        batches = [each for each in batches if each in copied]
    elif found != batches:
        different = sorted(each.base_offset for each in set(found) ^ set(batches))
        raise Violation(f"{name}: its copy has other batches from {different[0]} on")
    for epoch in {batch.epoch for batch in batches} & dict(log.leader_epochs.epochs.entries).keys():
        if _end_of(epoch, copy, batches) != _end_of(epoch, log, batches):
            raise Violation(f"{name}: leader epoch {epoch} ends elsewhere in its copy")
    for what, of in PARTS.items():
        expected, found_part = of(log, start, batches), of(copy, start, batches)
        if not log.config.compact and found_part != expected:
            raise Violation(f"{name}: had {what} {expected}, its copy {found_part}")
    begun_before = {
        entry.producer_id
        for entry in log.producers.active_producers()
        if 0 <= entry.current_txn_first_offset < start
    }
    if _open(copy) - begun_before != _open(log) - begun_before:
        raise Violation(f"{name}: had open transactions {_open(log)}, its copy {_open(copy)}")


def _end_of(epoch: int, log: PartitionLog, batches: Sequence[Batch]) -> tuple[int, int]:
    """Return (the epoch that ends, where the next one begins): at its first batch, or at the end of
    the log, because a copy does not know where batches were that were compacted or lost.
    """
    found, end = log.end_offset_for_epoch(epoch)
    later = (each.base_offset for each in batches if each.base_offset >= end)
    return found, next(later, log.log_end_offset)


class Batch(NamedTuple):
    """A batch of a log."""

    base_offset: int
    epoch: int
    producer_id: int
    is_control: bool
    content: int
    """A checksum of all its bytes."""


def _batches(log: PartitionLog, start: int) -> list[Batch]:
    return [
        Batch(
            header.base_offset,
            header.partition_leader_epoch,
            header.producer_id,
            header.is_control,
            crc32(batch),
        )
        for header, batch in batches_of(log, start)
    ]


def _producers(log: PartitionLog, start: int, batches: Sequence[Batch]) -> list[tuple[int, ...]]:
    """Return the state of producers that have records in `batches`: others are only in memory."""
    known = {batch.producer_id for batch in batches if not batch.is_control}
    return sorted(
        (entry.producer_id, entry.producer_epoch, entry.last_sequence, entry.last_offset)
        for entry in log.producers.active_producers()
        if entry.producer_id in known
    )


def _aborted(log: PartitionLog, start: int, batches: Sequence[Batch]) -> list[tuple[int, int]]:
    """Return (producer id, first offset) of aborted transactions that begin at `start` or later."""
    found = log.aborted_transactions(start, log.log_end_offset)
    return [each for each in found if each[1] >= start]


def _open(log: PartitionLog) -> set[int]:
    """Return the ids of producers with an open transaction."""
    entries = log.producers.active_producers()
    return {entry.producer_id for entry in entries if entry.current_txn_first_offset >= 0}


PARTS: dict[str, Callable[[PartitionLog, int, Sequence[Batch]], object]] = {
    "producers": _producers,
    "aborted transactions": _aborted,
}
