"""The state of the cluster at one offset of the metadata log.

State: topics (by name and by id), brokers, controllers, configs, features, the next producer id;
and records of kinds that nothing here interprets yet (ACLs, SCRAM, quotas, tokens), kept unchanged
for snapshots.
Built by `MetadataDelta.apply`, from an empty one on; `records()` produces a snapshot.
Invariants: immutable. Parts that did not change are shared with the previous image, so a change of
one topic costs little more than that topic, however many there are (`shared_table.py`).
Source: Kafka's `MetadataImage.java` and the classes beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pykbroker.decision import MetadataRecord
from pykbroker.kraft.metadata_version import (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    METADATA_VERSION,
    MINIMUM_METADATA_VERSION,
    supports_controller_registration,
)
from pykbroker.kraft.partition_image import PartitionImage
from pykbroker.kraft.registration import BrokerRegistration, ControllerRegistration
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from pykbroker.protocol.messages.producer_ids_record import ProducerIdsRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.values import NamedTuple

# ConfigResource.Type: the numbers on the wire and in records.
TOPIC_RESOURCE: Final = 2
BROKER_RESOURCE: Final = 4
BROKER_LOGGER_RESOURCE: Final = 8
CLIENT_METRICS_RESOURCE: Final = 16
GROUP_RESOURCE: Final = 32

ConfigResource = tuple[int, str]
NO_CONFIGS: Final[Mapping[str, str]] = {}


class Provenance(NamedTuple):
    """The last record in an image. `offset` -1: none."""

    offset: int
    epoch: int
    timestamp_ms: int


NO_PROVENANCE: Final = Provenance(-1, -1, -1)


class TopicImage(NamedTuple):
    """A topic and its partitions, by number."""

    name: str
    id: bytes
    partitions: dict[int, PartitionImage]


def _own(table: Mapping[Any, Any] | None) -> Mapping[Any, Any]:
    return {} if table is None else table


class MetadataImage:
    """All of the cluster's metadata at `provenance`. Read only."""

    __slots__ = (
        "brokers",
        "configs",
        "controllers",
        "features",
        "kept_records",
        "next_producer_id",
        "provenance",
        "topics_by_id",
        "topics_by_name",
    )

    def __init__(
        self,
        *,
        provenance: Provenance = NO_PROVENANCE,
        topics_by_name: Mapping[str, TopicImage] | None = None,
        topics_by_id: Mapping[bytes, TopicImage] | None = None,
        brokers: Mapping[int, BrokerRegistration] | None = None,
        controllers: Mapping[int, ControllerRegistration] | None = None,
        configs: Mapping[ConfigResource, dict[str, str]] | None = None,
        features: Mapping[str, int] | None = None,
        next_producer_id: int = -1,
        kept_records: Mapping[Any, MetadataRecord] | None = None,
    ) -> None:
        self.provenance = provenance
        self.topics_by_name: Mapping[str, TopicImage] = _own(topics_by_name)
        self.topics_by_id: Mapping[bytes, TopicImage] = _own(topics_by_id)
        self.brokers: Mapping[int, BrokerRegistration] = _own(brokers)
        self.controllers: Mapping[int, ControllerRegistration] = _own(controllers)
        self.configs: Mapping[ConfigResource, dict[str, str]] = _own(configs)
        # Finalised levels above 0, metadata.version included; kraft.version lives in raft.
        self.features: Mapping[str, int] = _own(features)
        self.next_producer_id = next_producer_id
        self.kept_records: Mapping[Any, MetadataRecord] = _own(kept_records)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetadataImage):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    @property
    def offset(self) -> int:
        """The offset of the last record in this image; -1 if there is none."""
        return self.provenance.offset

    @property
    def partition_count(self) -> int:
        """How many partitions there are. (This looks at each topic.)"""
        return sum(len(topic.partitions) for topic in self.topics_by_id.values())

    @property
    def metadata_version(self) -> int:
        """The finalised level; the lowest supported level while the log has none."""
        return self.features.get(METADATA_VERSION, MINIMUM_METADATA_VERSION)

    @property
    def has_eligible_leaders(self) -> bool:
        """Whether `eligible.leader.replicas.version` is finalised at 1 (KIP-966)."""
        return self.features.get(ELIGIBLE_LEADER_REPLICAS_VERSION, 0) > 0

    def topic(self, name: str) -> TopicImage | None:
        """Return the topic with this name; None if there is none."""
        return self.topics_by_name.get(name)

    def topic_by_id(self, topic_id: bytes) -> TopicImage | None:
        """Return the topic with this id; None if there is none."""
        return self.topics_by_id.get(topic_id)

    def partition(self, name: str, partition: int) -> PartitionImage | None:
        """Return the partition, None if there is no such topic or partition."""
        topic = self.topics_by_name.get(name)
        return None if topic is None else topic.partitions.get(partition)

    def config(self, resource_type: int, name: str) -> Mapping[str, str]:
        """Return the dynamic configuration of a resource; empty if nothing is set."""
        return self.configs.get((resource_type, name), NO_CONFIGS)

    def topic_config(self, name: str) -> Mapping[str, str]:
        """Overrides of a topic."""
        return self.configs.get((TOPIC_RESOURCE, name), NO_CONFIGS)

    def cluster_config(self) -> Mapping[str, str]:
        """Dynamic defaults of all brokers (the broker resource with an empty name)."""
        return self.configs.get((BROKER_RESOURCE, ""), NO_CONFIGS)

    def broker_config(self, broker_id: int) -> Mapping[str, str]:
        """Dynamic configuration of one broker."""
        return self.configs.get((BROKER_RESOURCE, str(broker_id)), NO_CONFIGS)

    def group_config(self, group: str) -> Mapping[str, str]:
        """Overrides of a group."""
        return self.configs.get((GROUP_RESOURCE, group), NO_CONFIGS)

    def alive_brokers(self) -> list[BrokerRegistration]:
        """Brokers that are not fenced, in the order of their ids."""
        return [broker for _, broker in sorted(self.brokers.items()) if not broker.fenced]

    def records(self) -> Iterator[MetadataRecord]:
        """Yield the records that build this image from scratch, as far as its metadata.version can
        express it, in the order of Kafka's snapshots, except that the records of kinds that nothing
        here interprets come last.
        """
        level = self.metadata_version
        # metadata.version first: a reader needs it to interpret the rest.
        for name in sorted(self.features, key=lambda name: (name != METADATA_VERSION, name)):
            yield MetadataRecord(FeatureLevelRecord(name=name, feature_level=self.features[name]))
        for broker in self.brokers.values():
            yield MetadataRecord(*broker.to_record(level))
        if supports_controller_registration(level):
            for controller in self.controllers.values():
                yield MetadataRecord(*controller.to_record())
        eligible = self.has_eligible_leaders
        for topic in self.topics_by_name.values():
            yield MetadataRecord(TopicRecord(name=topic.name, topic_id=topic.id))
            for number, partition in topic.partitions.items():
                yield MetadataRecord(
                    *partition.to_record(topic.id, number, level, has_eligible_leaders=eligible)
                )
        for (resource_type, name), entries in self.configs.items():
            for key, value in entries.items():
                yield MetadataRecord(
                    ConfigRecord(
                        resource_type=resource_type, resource_name=name, name=key, value=value
                    )
                )
        if self.next_producer_id >= 0:
            yield MetadataRecord(
                ProducerIdsRecord(
                    broker_id=-1, broker_epoch=-1, next_producer_id=self.next_producer_id
                )
            )
        yield from self.kept_records.values()
