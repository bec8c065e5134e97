"""The cluster as seen by this node: the metadata quorum, and the metrics of controllers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pykbroker.broker.monitoring.families import Families

if TYPE_CHECKING:
    from pykbroker.kraft.image import MetadataImage, TopicImage
    from pykbroker.kraft.raft.raft import Raft


def add_quorum(families: Families, raft: Raft, image: MetadataImage) -> None:
    """This node's replica of the metadata log."""
    prefix = "kafka_server_raft_metrics"
    state = type(raft.role).__name__.lower()
    if state == "follower" and not raft.is_voter:
        state = "observer"
    families.gauge(f"{prefix}_current_state_info", "The role in the quorum.", "state").add(1, state)
    for name, value, help_ in (
        ("current_leader", raft.leader_id, "The leader of the quorum, -1 while unknown."),
        ("current_epoch", raft.epoch, "The epoch of the quorum."),
        ("high_watermark", raft.high_watermark, "The committed end of the metadata log."),
        ("log_end_offset", raft.log_end.offset, "The end of this node's metadata log."),
        ("log_end_epoch", raft.log_end.epoch, "The epoch of its last record."),
    ):
        families.gauge(f"{prefix}_{name}", help_).add(value)
    families.gauge(
        "kafka_server_broker_metadata_metrics_last_applied_record_offset",
        "The last record of the metadata log that this node has applied.",
    ).add(image.offset)
    families.gauge("kafka_brokers", "Brokers that are registered and not fenced.").add(
        len(image.alive_brokers())
    )


class ControllerFamilies:
    """Adds topics, a slice of them at a time; `finish` adds the totals."""

    def __init__(self, families: Families, image: MetadataImage, *, is_active: bool) -> None:
        self._families = families
        self._image = image
        self._is_active = is_active
        self._topics = self._partitions = self._offline = self._imbalanced = 0

    def add(self, topics: Iterable[TopicImage]) -> None:
        """Read these topics."""
        for topic in topics:
            self._topics += 1
            for partition in topic.partitions.values():
                self._partitions += 1
                self._offline += partition.leader < 0
                self._imbalanced += partition.leader != partition.replicas[0]

    def finish(self) -> None:
        """Add the totals of the cluster."""
        brokers = self._image.brokers.values()
        fenced = sum(each.fenced for each in brokers)
        for name, value, help_ in (
            ("activecontrollercount", int(self._is_active), "1 on the active controller."),
            ("globaltopiccount", self._topics, "Topics of the cluster."),
            ("globalpartitioncount", self._partitions, "Partitions of the cluster."),
            ("offlinepartitionscount", self._offline, "Partitions without a leader."),
            ("preferredreplicaimbalancecount", self._imbalanced, "Led by another replica."),
            ("activebrokercount", len(brokers) - fenced, "Registered and not fenced."),
            ("fencedbrokercount", fenced, "Registered and fenced."),
        ):
            self._families.gauge(f"kafka_controller_kafkacontroller_{name}", help_).add(value)
