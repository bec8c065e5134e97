"""What power failures may take from replicated partitions.

A replica that lost its power may lack what was not flushed. Kafka cannot distinguish it from one
whose process was killed: when a broker registers again after either, it leaves the in-sync and the
eligible replicas (KIP-966). As long as another of these runs, nothing is lost. If none of them
does, any of them, as the last known leader, may lead next, and so may a last known leader from
before: what follows the recovery point of one that lost its power may be lost.

In: a node whose process is about to end; committed metadata, because a reassignment may leave a
partition to replicas that have lost their power and are not back yet. Out: for each partition that
may lose something, the first offset that it may lose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_replay import MetadataReplay
from pykbroker.log.directories.checkpoints import CLEAN_SHUTDOWN
from pykbroker.testing.world.node import Node
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.kraft.metadata_log import LogBatch
    from pykbroker.kraft.partition_image import PartitionImage


class PowerLosses:
    """What power failures may take from replicated partitions.

    State: how far each log was flushed when its process ended; the nodes that ended uncleanly, and
    those that lost their power, with the broker epoch that each had then; the newest image, and
    the committed one.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = list(nodes)
        self._flushed: dict[int, dict[TopicPartition, int]] = {node.node_id: {} for node in nodes}
        self._ended: dict[int, int] = {}
        self._lost_power: dict[int, int] = {}
        self._newest: MetadataImage | None = None
        self._committed = MetadataReplay(MetadataImage())

    def topic_id(self, name: str) -> bytes | None:
        """Return the id of a topic in the newest image; None if there is none."""
        topic = None if self._newest is None else self._newest.topic(name)
        return None if topic is None else topic.id

    def process_ended(self, node: Node, *, is_power: bool) -> dict[TopicPartition, int]:
        """Record the state before the process is gone; return `losses`, or {} if it has stopped
        cleanly or no node has had metadata yet.
        """
        self._note_flushed(node)
        self._note_newest()
        if self._newest is None or _has_stopped_cleanly(node):
            return {}
        registration = self._newest.brokers.get(node.node_id)
        epoch = -1 if registration is None else registration.epoch
        self._ended[node.node_id] = epoch
        if is_power:
            self._lost_power[node.node_id] = epoch
        return self.losses()

    def committed(self, batch: LogBatch) -> dict[TopicPartition, int]:
        """Take the next committed batch; return the losses as of then.

        Many batches may become committed at once. The newest image then shows only what follows
        from the last one: perhaps that a node has registered again, and no longer that the
        partition was left to it before.
        """
        replay = self._committed
        replay.replay(batch.records, batch.base_offset, batch.epoch, batch.timestamp_ms)
        replay.seal()
        self._note_newest()
        return self._losses((*self._latest_images(), replay.stable))

    def losses(self) -> dict[TopicPartition, int]:
        """Return the first offset that each partition may lose by the metadata of now."""
        self._note_newest()
        return self._losses(self._latest_images())

    def _losses(self, images: Iterable[MetadataImage]) -> dict[TopicPartition, int]:
        losses: dict[TopicPartition, int] = {}
        if not self._lost_power:
            return losses
        for image in images:
            for topic in image.topics_by_id.values():
                for index, partition in topic.partitions.items():
                    key = TopicPartition(topic.name, index)
                    offset = self._lost_from(key, partition, image)
                    if offset is not None:
                        losses[key] = min(offset, losses.get(key, offset))
        return losses

    def _note_flushed(self, node: Node) -> None:
        server = node.server
        if server is None or not hasattr(server, "log_manager"):
            return
        flushed = self._flushed[node.node_id]
        for log in server.log_manager.logs():
            flushed[log.topic_partition] = log.recovery_point
        if hasattr(server, "replica_manager"):  # also those whose directory has failed since
            for partition in server.replica_manager.partitions():
                flushed[partition.topic_partition] = partition.log.recovery_point

    def _note_newest(self) -> None:
        for node in self._nodes:
            kraft = getattr(node.server, "kraft", None)
            if kraft is not None and (
                self._newest is None or kraft.image.offset > self._newest.offset
            ):
                self._newest = kraft.image

    def _latest_images(self) -> Iterator[MetadataImage]:
        """Return what each active controller has decided, and the newest image of a node."""
        for node in self._nodes:
            kraft = getattr(node.server, "kraft", None)
            driver = None if kraft is None else kraft.controller
            if driver is not None and driver.controller is not None:
                yield driver.controller.image
        if self._newest is not None:
            yield self._newest

    def _lost_from(
        self, key: TopicPartition, partition: PartitionImage, image: MetadataImage
    ) -> int | None:
        """Return the first offset that a partition may lose; None if it loses none."""
        candidates = {*partition.isr, *partition.elr} or set(partition.last_known_elr)
        if any(not _is_unnoticed(self._ended, each, image) for each in candidates):
            return None
        may_lack = {each for each in partition.last_known_elr if each in self._lost_power}
        may_lack |= {each for each in candidates if _is_unnoticed(self._lost_power, each, image)}
        return min((self._flushed[each].get(key, 0) for each in may_lack), default=None)


def _has_stopped_cleanly(node: Node) -> bool:
    """Return whether the node can say, when it registers again, that it has lost nothing: not if
    one of its directories had failed, or failed while it was closed.
    """
    files = node.machine.files
    with files.peeked():
        closed = [files.exists(f"{each}/{CLEAN_SHUTDOWN}") for each in node.directories]
    return node.has_stopped and all(closed)


def _is_unnoticed(epochs: Mapping[int, int], node_id: int, image: MetadataImage) -> bool:
    """Return whether the node is among these, and has not registered again since."""
    epoch = epochs.get(node_id)
    registration = image.brokers.get(node_id)
    return epoch is not None and (registration is None or registration.epoch <= epoch)
