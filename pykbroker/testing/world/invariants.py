"""Rules about the internal state of nodes that serve (`NodeRule`, `ImageRule`).

`CoordinatorTerms` is no rule: it reports a change. Rules about what clients see are in the ledgers,
the catalog and the clients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.testing.world.node import Node
from pykbroker.testing.world.world import Violation

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.replication.partition import Partition


class PartitionOffsets:
    """Log start <= high watermark <= log end; the first two never move back while a node runs.

    The recovery point never passes the log end, nor the last stable offset the high watermark. For
    partitions with one replica; those whose directory is offline are left out.
    """

    def __init__(self) -> None:
        self._before: dict[tuple[int, int, str], tuple[int, int, int]] = {}

    def check(self, node: Node, server: BrokerServer | None) -> None:
        """See `NodeRule`."""
        for partition in () if server is None else server.replica_manager.partitions():
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
    """No node that serves has counted an internal error (`unexpected_errors`)."""

    def check(self, node: Node, server: BrokerServer | None) -> None:
        """See `NodeRule`."""
        if server is not None and server.counters.unexpected_errors:
            raise Violation(f"{node.name} has met a bug: see its log")


class MetadataOffsets:
    """The image of a node never moves back: it contains committed records.

    For a single node not even across a crash; one of several may not know at its start what is
    committed.
    """

    def __init__(self, *, is_single: bool = False) -> None:
        self._is_single = is_single
        self._applied: dict[tuple[int, int], int] = {}

    def check_image(self, node: Node, server: BrokerServer, image: MetadataImage) -> None:
        """See `ImageRule`."""
        key = (node.node_id, 0 if self._is_single else node.starts)
        before = self._applied.get(key, -1)
        if image.offset < before:
            raise Violation(f"{node.name}: metadata went from {before} back to {image.offset}")
        self._applied[key] = image.offset


class ImageEveryWhere:
    """A node hosts the replicas that its image says, and no others; those whose log it could not
    open or create are left out.
    """

    def check_image(self, node: Node, server: BrokerServer, image: MetadataImage) -> None:
        """See `ImageRule`."""
        hosted = {
            (partition.topic, partition.index) for partition in server.replica_manager.partitions()
        }
        offline = set(server.replica_manager.hosting.offline)
        wanted = {
            (topic.name, index)
            for topic in image.topics_by_id.values()
            for index, partition in topic.partitions.items()
            if node.node_id in partition.replicas
        }
        if wanted - offline != hosted - offline:
            raise Violation(
                f"{node.name}: hosts {sorted(hosted ^ wanted)} differently from its image"
            )


class CoordinatorTerms:
    """Calls `on_change` when a partition of `__consumer_offsets` has another leader epoch: another
    coordinator does not know what the one before had only in memory.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._epochs: dict[int, int] = {}
        self._offset = -1

    def check_image(self, node: Node, server: BrokerServer, image: MetadataImage) -> None:
        """See `ImageRule`."""
        if image.offset <= self._offset:
            return
        self._offset = image.offset
        topic = image.topic(GROUP_METADATA_TOPIC)
        epochs = {} if topic is None else topic.partitions
        latest = {index: partition.leader_epoch for index, partition in epochs.items()}
        if any(self._epochs.get(index, epoch) != epoch for index, epoch in latest.items()):
            self._on_change()
        self._epochs = latest
