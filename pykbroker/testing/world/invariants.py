"""Rules about the internal state of nodes, checked after every event.

Each is a plug-in with a `check(world)`; it keeps what it compares from event to event. Rules about
what clients see are in the ledgers and the catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.testing.world.node import Node, NodeState
from pykbroker.testing.world.world import Violation, World

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.replication.partition import Partition


def is_running(node: Node) -> bool:
    """Return whether its process runs and is healthy."""
    return node.server is not None and not node.has_failed and node.state is not NodeState.DOWN


def just_ran(world: World, nodes: Iterable[Node]) -> Iterator[tuple[Node, BrokerServer]]:
    """Return the node whose process ran the last event, if it serves: no other has changed."""
    for node in nodes:
        if node.machine.process is not world.queue.current:
            continue
        server = node.server
        is_up = node.state in (NodeState.UP, NodeState.STOPPING) and not node.has_failed
        if server is not None and is_up:
            yield node, server


class PartitionOffsets:
    """Log start <= high watermark <= log end; the first two never move back while a node runs.

    The recovery point never passes the log end, nor the last stable offset the high watermark.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = list(nodes)
        self._before: dict[tuple[int, int, str], tuple[int, int, int]] = {}

    def check(self, world: World) -> None:
        """See `Invariant`."""
        for node, server in just_ran(world, self._nodes):
            for partition in server.replica_manager.partitions():
                if partition.hosted and not partition.log.is_offline:
                    self._check_partition(node, partition)

    def _check_partition(self, node: Node, partition: Partition) -> None:
        log = partition.log
        start, high, end = log.log_start_offset, partition.high_watermark, log.log_end_offset
        key = (node.node_id, node.starts, str(partition.topic_id) + str(partition.index))
        before = self._before.get(key)
        if before == (start, high, end):
            return
        name = f"{node.name} {partition.topic_partition}"
        if not start <= high <= end:
            raise Violation(f"{name}: start {start}, high watermark {high}, end {end}")
        if before is not None and (start < before[0] or high < before[1]):
            raise Violation(
                f"{name}: start, high watermark, end went from {before} to {(start, high, end)}"
            )
        if log.recovery_point > end:
            raise Violation(f"{name}: flushed up to {log.recovery_point}, the end is {end}")
        if partition.bound(1) > high:
            raise Violation(f"{name}: the last stable offset {partition.bound(1)} is above {high}")
        self._before[key] = (start, high, end)


class NoBugs:
    """No request meets an exception that no handler expects."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = list(nodes)

    def check(self, world: World) -> None:
        """See `Invariant`."""
        for node, server in just_ran(world, self._nodes):
            if server.counters.unexpected_errors:
                raise Violation(f"{node.name} has met a bug: see its log")


class MetadataOffsets:
    """The image of a node never moves back: it contains committed records.

    For a single node not even across a crash; one of several may not know at its start what is
    committed.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = list(nodes)
        self._applied: dict[tuple[int, int], int] = {}

    def check(self, world: World) -> None:
        """See `Invariant`."""
        for node, server in just_ran(world, self._nodes):
            offset = server.image.offset
            key = (node.node_id, node.starts if len(self._nodes) > 1 else 0)
            before = self._applied.get(key, -1)
            if offset != before:
                if offset < before:
                    raise Violation(f"{node.name}: metadata went from {before} back to {offset}")
                self._applied[key] = offset


class ImageEveryWhere:
    """A node hosts what its image says: every replica in it has a partition."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = list(nodes)
        self._checked: dict[int, tuple[int, int]] = {}

    def check(self, world: World) -> None:
        """See `Invariant`."""
        for node, server in just_ran(world, self._nodes):
            at = (node.starts, server.image.offset)
            if self._checked.get(node.node_id) == at:
                continue
            self._checked[node.node_id] = at
            hosted = {
                (partition.topic, partition.index)
                for partition in server.replica_manager.partitions()
            }
            offline = set(server.replica_manager.hosting.offline)
            wanted = {
                (topic.name, index)
                for topic in server.image.topics_by_id.values()
                for index, partition in topic.partitions.items()
                if node.node_id in partition.replicas
            }
            if wanted - offline != hosted - offline:
                raise Violation(
                    f"{node.name}: hosts {sorted(hosted ^ wanted)} differently from its image"
                )


class CoordinatorTerms:
    """Says when a partition of `__consumer_offsets` gets another leader epoch: what a coordinator
    had only in memory is forgotten then, even by the same node.
    """

    def __init__(self, nodes: Sequence[Node], on_change: Callable[[], None]) -> None:
        self._nodes = list(nodes)
        self._on_change = on_change
        self._epochs: dict[int, int] = {}
        self._offset = -1

    def check(self, world: World) -> None:
        """See `Invariant`."""
        for _, server in just_ran(world, self._nodes):
            image = server.image
            if image.offset <= self._offset:
                continue
            self._offset = image.offset
            topic = image.topic(GROUP_METADATA_TOPIC)
            epochs = {} if topic is None else topic.partitions
            latest = {index: partition.leader_epoch for index, partition in epochs.items()}
            if any(self._epochs.get(index, epoch) != epoch for index, epoch in latest.items()):
                self._on_change()
            self._epochs = latest
