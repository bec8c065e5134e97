"""Rules about replicated partitions, checked after events that change a replica.

    one leader per epoch
    a leader's high watermark and log start never move back in its epoch
    what is below a leader's high watermark is committed: no replica has other batches there (not
    compared in compacted topics), a new leader has all of them, a replica that was found to have
    them does not truncate them
    log start <= high watermark <= log end; the last stable offset and what was flushed are not
    above the high watermark and the log end
    a follower's high watermark is not above what its leaders have committed
    a running replica that is in sync or eligible (KIP-966) has all that is committed (checked when
    metadata is committed)
    with too few in sync, no record of an idempotent producer (acks=all) enters a leader's log
    a topic that flushes with every record has flushed every record, also on followers

Which losses power failures excuse is decided elsewhere (`power_losses.py`); `forget` applies it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING
from zlib import crc32

from pykbroker.testing.world.ledger import batches_of
from pykbroker.testing.world.node import Node, NodeState
from pykbroker.testing.world.world import Violation
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.log.partition.partition_log import PartitionLog
    from pykbroker.replication.partition import Partition

PartitionKey = tuple[bytes, int]
STATE_OF = attrgetter(
    "hosted",
    "leader_epoch",
    "is_leader",
    "high_watermark",
    "replicas",
    "isr",
    "log",
    "log.local.is_offline",
    "log.local.config",
    "log.local.log_start_offset",
    "log.local.log_end_offset",
    "log.queue.next_offset",
)
"""What a `View` is made of, and more: a replica is looked at when one of these has changed."""
READ_COMMITTED = 1


class View(NamedTuple):
    """The state of a replica after an event."""

    epoch: int
    is_leader: bool
    start: int
    high: int
    end: int
    queued_end: int
    """The end, with what is going to be written at the end of the round."""
    has_enough: bool
    """Whether as many are in sync as min.insync.replicas asks for, at most all replicas."""


class Seen(NamedTuple):
    """All replicas of a node, after one of its events."""

    starts: int
    has_failed: bool
    partitions: list[Partition]
    states: list[tuple[object, ...]]

    def changed_since(self, before: Seen | None) -> list[Partition]:
        """Return the partitions that are not as they were; all if the node has started since, has
        failed, or has other partitions.
        """
        if before is None or self[:3] != before[:3]:
            return self.partitions
        pairs = zip(self.partitions, self.states, before.states, strict=True)
        return [partition for partition, state, old in pairs if state != old]


class Batch(NamedTuple):
    """A committed batch."""

    last_offset: int
    epoch: int
    content: int
    """A checksum of all its bytes."""


class CommittedLog:
    """What is committed in one partition: it was below the high watermark of a leader, and no
    power failure may have taken it. `batches` are those that were compared so far.
    """

    def __init__(self) -> None:
        self.end = 0
        self.batches: dict[int, Batch] = {}
        self.was_cut = False
        """A power failure may have taken some of it: high watermarks of before tell nothing."""
        self.cut_epoch = -1
        """The leader epoch at that time."""

    def forget(self, offset: int, epoch: int) -> None:
        """Allow for the loss of everything from `offset` on, in this leader epoch."""
        if offset < self.end:
            self.was_cut = True
            self.cut_epoch = epoch
            self.end = offset
            self.batches = {
                base: batch for base, batch in self.batches.items() if batch.last_offset < offset
            }


class ReplicationRules:
    """Checks the rules of replicated partitions."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = list(nodes)
        self._seen: dict[int, Seen] = {}
        """Node id -> its replicas after its last event."""
        self._views: dict[tuple[int, int, PartitionKey], View] = {}
        self._logs: dict[tuple[int, int, PartitionKey], PartitionLog] = {}
        self._replicas: dict[tuple[int, int, PartitionKey], Partition] = {}
        self._compared: dict[tuple[int, int, PartitionKey], int] = {}
        self._accepted: dict[tuple[int, int, PartitionKey], int] = {}
        """The end of what came while enough were in sync."""
        self._leaders: dict[tuple[PartitionKey, int], int] = {}
        self._latest_epochs: dict[PartitionKey, int] = {}
        """The latest epoch in which a node has led."""
        self._committed: dict[PartitionKey, CommittedLog] = {}
        self.leader_changes: dict[str, int] = {}
        """Topic -> in how many epochs its partitions were led, all together."""
        self.cuts = 0
        """How often the log of a replica was truncated."""
        self.image: MetadataImage | None = None
        """The newest that is committed anywhere, if it is to be compared with what nodes have."""
        self._newest: MetadataImage | None = None

    def committed_end(self, topic_id: bytes, index: int) -> int:
        """Return the end of what is committed; 0 if nothing is known to be."""
        found = self._committed.get((topic_id, index))
        return 0 if found is None else found.end

    def forget(self, topic_id: bytes, index: int, offset: int) -> None:
        """Allow for power failures that may have taken everything from `offset` on."""
        key = (topic_id, index)
        self._log_of(key).forget(offset, self._epoch_of(key))
        for place, compared in self._compared.items():
            if place[2] == key:
                self._compared[place] = min(compared, offset)
        for place in [each for each in self._views if each[2] == key]:
            del self._views[place]  # a leader that still has it says again that it is committed
        self._seen.clear()

    def process_ended(self, node: Node) -> None:
        """Record what leaders committed in the event in which their process ended."""
        manager = getattr(node.server, "replica_manager", None)
        if manager is not None and node.state is not NodeState.STARTING:
            for partition in manager.partitions():
                key = (partition.topic_id, partition.index)
                self._take_last_word((node.node_id, node.starts, key), partition)

    def _log_of(self, key: PartitionKey) -> CommittedLog:
        found = self._committed.get(key)
        if found is None:
            found = self._committed[key] = CommittedLog()
        return found

    # ---------------------------------------------------------------- after an event

    def check(self, node: Node, server: BrokerServer | None) -> None:
        """See `NodeRule`. A node that shuts down, or has failed, may still commit something."""
        if self.image is not None:
            self._newest, self.image = self.image, None
            self._check_in_sync(self._newest)
        manager = getattr(node.server, "replica_manager", None)
        if manager is None or node.state is NodeState.STARTING:
            return
        partitions = list(manager.partitions())
        now = Seen(node.starts, node.has_failed, partitions, list(map(STATE_OF, partitions)))
        before = self._seen.get(node.node_id)
        if now != before:
            self._seen[node.node_id] = now
            for partition in now.changed_since(before):
                self._look_at(node, partition)

    def _look_at(self, node: Node, partition: Partition) -> None:
        """Check one replica, if its view has changed or it has another log."""
        log = partition.log
        key = (partition.topic_id, partition.index)
        place = (node.node_id, node.starts, key)
        if node.has_failed or not partition.hosted or log.is_offline:
            self._take_last_word(place, partition)
            return
        view = View(
            partition.leader_epoch,
            partition.is_leader,
            log.log_start_offset,
            partition.high_watermark,
            log.log_end_offset,
            log.next_offset,
            _has_enough(partition),
        )
        if self._replicas.get(place) is not partition:  # it was moved away and back
            self._replicas[place] = partition
            self._views.pop(place, None)
        is_moved = self._logs.get(place) is not log
        if is_moved:
            self._logs[place] = log  # also to another directory of its node
            self._compared.pop(place, None)
        before = self._views.get(place)
        if view != before or is_moved:
            self._views[place] = view
            with node.machine.files.peeked():
                self._check_replica(node, partition, view, before)

    def _take_last_word(self, place: tuple[int, int, PartitionKey], partition: Partition) -> None:
        """Record what a leader that has failed, is no longer hosted, or whose process ends may have
        committed in the same event.
        """
        before = self._views.pop(place, None)
        if before is not None and before.is_leader and not self._is_outdated(place[2], before):
            committed = self._log_of(place[2])
            committed.end = max(committed.end, partition.high_watermark)

    def _check_replica(
        self, node: Node, partition: Partition, view: View, before: View | None
    ) -> None:
        name = f"{node.name} {partition.topic_partition}"
        key = (partition.topic_id, partition.index)
        place = (node.node_id, node.starts, key)
        self._check_offsets(name, partition, view)
        if before is not None and view.end < before.end:
            self._check_cut(name, place, view)
        elif before is not None and view.end > before.end:
            self._check_flushed(name, partition)
        committed = self._log_of(key)
        if view.is_leader and self._is_outdated(key, view):
            return
        if view.is_leader:
            self._check_leader(name, node, partition, view, before)
            committed.end = max(committed.end, view.high)
            self._compare(name, place, partition, view.high)
        elif view.high > committed.end and not committed.was_cut:
            raise Violation(
                f"{name}: its high watermark is {view.high}, leaders have committed {committed.end}"
            )
        elif before is None or view.epoch != before.epoch or view.end < before.end:
            return
        elif not committed.was_cut or view.high != before.high or view.end > before.end:
            # Otherwise its log was only moved, or deleted from: it may not have heard yet of what
            # its leader lost.
            self._compare(name, place, partition, min(view.high, committed.end))

    def _is_outdated(self, key: PartitionKey, view: View) -> bool:
        """Return whether a leader of before a power failure was replaced: it does not know yet what
        its successor has lost.
        """
        return view.epoch <= self._log_of(key).cut_epoch and view.epoch < self._epoch_of(key)

    def _epoch_of(self, key: PartitionKey) -> int:
        """Return the leader epoch in the newest committed metadata; -1 if it is not known."""
        image = self.image or self._newest
        topic = None if image is None else image.topics_by_id.get(key[0])
        found = None if topic is None else topic.partitions.get(key[1])
        return -1 if found is None else found.leader_epoch

    def _check_offsets(self, name: str, partition: Partition, view: View) -> None:
        if not view.start <= view.high <= view.end:
            raise Violation(
                f"{name}: start {view.start}, high watermark {view.high}, end {view.end}"
            )
        if partition.log.recovery_point > view.end:
            raise Violation(
                f"{name}: flushed up to {partition.log.recovery_point}, the end is {view.end}"
            )
        stable = partition.bound(READ_COMMITTED)
        if stable > view.high:
            raise Violation(f"{name}: the last stable offset {stable} is above {view.high}")

    def _check_flushed(self, name: str, partition: Partition) -> None:
        log = partition.log
        if log.config.flush_messages == 1 and log.recovery_point < log.log_end_offset:
            raise Violation(
                f"{name}: took up to {log.log_end_offset} and flushed up to {log.recovery_point}; "
                "it has to flush every record"
            )

    def _check_cut(self, name: str, place: tuple[int, int, PartitionKey], view: View) -> None:
        self.cuts += 1
        compared = self._compared.get(place, 0)
        if view.end < compared:
            raise Violation(
                f"{name}: was truncated at {view.end}; everything up to {compared} is committed"
            )

    def _check_elected(
        self, name: str, place: tuple[int, int, PartitionKey], partition: Partition, view: View
    ) -> None:
        """Check that a new leader has all that is committed. One that learns late that it was
        elected need not have what came since.
        """
        committed = self._log_of(place[2])
        if view.end < committed.end:
            raise Violation(
                f"{name}: leads epoch {view.epoch} with a log that ends at {view.end}; "
                f"committed is {committed.end}"
            )
        self._compare(name, place, partition, committed.end)

    def _check_leader(
        self, name: str, node: Node, partition: Partition, view: View, before: View | None
    ) -> None:
        key = (partition.topic_id, partition.index)
        known = self._leaders.get((key, view.epoch))
        if known is None:
            self._leaders[key, view.epoch] = node.node_id
            topic = partition.topic
            self.leader_changes[topic] = self.leader_changes.get(topic, 0) + 1
            if view.epoch >= self._latest_epochs.get(key, 0):
                self._latest_epochs[key] = view.epoch
                self._check_elected(name, (node.node_id, node.starts, key), partition, view)
        elif known != node.node_id:
            raise Violation(f"{name}: epoch {view.epoch} is also led by node {known}")
        if before is None or not before.is_leader or before.epoch != view.epoch:
            return
        if view.high < before.high or view.start < before.start:
            raise Violation(f"{name}: went from {before} to {view}")
        place = (node.node_id, node.starts, key)
        if before.has_enough or view.has_enough:
            self._accepted[place] = view.queued_end
        first = max(before.end, self._accepted.get(place, before.end))
        for header, _ in batches_of(partition.log, first, view.end):
            if header.producer_id >= 0:
                raise Violation(
                    f"{name}: took {header.base_offset} of producer {header.producer_id} with "
                    f"{len(partition.isr.members)} in sync"
                )

    # ---------------------------------------------------------------- after a change of metadata

    def _check_in_sync(self, image: MetadataImage) -> None:
        """Check that in-sync and eligible replicas that run have all that is committed, whatever
        the leader knows.
        """
        for node in self._nodes:
            for partition in _healthy(node):
                topic = image.topics_by_id.get(partition.topic_id)
                found = None if topic is None else topic.partitions.get(partition.index)
                if found is None or node.node_id not in (*found.isr, *found.elr):
                    continue
                end = self.committed_end(partition.topic_id, partition.index)
                if partition.log.log_end_offset < end:
                    raise Violation(
                        f"{node.name} {partition.topic_partition}: in sync or eligible, and ends at"
                        f" {partition.log.log_end_offset}; committed is {end}"
                    )

    def _compare(
        self, name: str, place: tuple[int, int, PartitionKey], partition: Partition, end: int
    ) -> None:
        """Check that what this replica has below `end`, and was not compared before, equals what
        others have there. Compacted logs are not compared.
        """
        start = self._compared.get(place, 0)
        if end <= start:
            return
        self._compared[place] = end
        if partition.log.config.compact:
            return  # each replica compacts by itself
        known = self._log_of(place[2]).batches
        for header, payload in batches_of(partition.log, start, end):
            found = Batch(header.last_offset, header.partition_leader_epoch, crc32(payload))
            other = known.setdefault(header.base_offset, found)
            if other != found:
                raise Violation(
                    f"{name}: has {found} at {header.base_offset}, committed is {other}"
                )


def _has_enough(partition: Partition) -> bool:
    wanted = min(partition.log.config.min_insync_replicas, len(partition.replicas))
    return len(partition.isr.members) >= wanted


def _healthy(node: Node) -> Iterator[Partition]:
    """Yield the replicas that a node serves, if it is up: none whose directory is offline."""
    if node.server is not None and node.state is NodeState.UP and not node.has_failed:
        for partition in node.server.replica_manager.partitions():
            if partition.hosted and not partition.log.is_offline:
                yield partition
