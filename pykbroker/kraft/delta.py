"""The changes from one metadata image to the next: it takes records and produces an image.

State: the base image, and the parts that records have changed since.
In:  `replay(message, version)`, in the order of the log.
Out: `apply(provenance) -> MetadataImage`; and for publishers what changed: `changed_topics`,
     `deleted_topics`, `changed_configs`, `brokers` and others.
Invariant: the base image is not modified.
Source: Kafka's `MetadataDelta.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar, TypeVar

from pykbroker.decision import MetadataRecord
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.kraft.image import TOPIC_RESOURCE, MetadataImage, Provenance, TopicImage
from pykbroker.kraft.metadata_version import KRAFT_VERSION
from pykbroker.kraft.partition_image import PartitionImage
from pykbroker.kraft.registration import BrokerRegistration, ControllerRegistration
from pykbroker.kraft.shared_table import merged
from pykbroker.protocol.primitives import uuid_to_str

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class InconsistentMetadata(Exception):
    """A metadata record that does not fit the records before it."""


class MetadataDelta:
    """Changes on top of `image`."""

    def __init__(self, image: MetadataImage) -> None:
        self.image = image
        # Topics by id: the new state, or None for a deleted topic.
        self.topics: dict[bytes, TopicImage | None] = {}
        # Partitions of each topic in `topics` that differ from the image.
        self.changed_partitions: dict[bytes, set[int]] = {}
        self.brokers: dict[int, BrokerRegistration | None] = {}
        self.controllers: dict[int, ControllerRegistration | None] = {}
        self.configs: dict[tuple[int, str], dict[str, str]] = {}
        self.features: dict[str, int] = {}
        self.next_producer_id: int | None = None
        # Records of kinds that nothing here interprets yet, by a key of their subject; None:
        # removed.
        self.kept: dict[Any, MetadataRecord | None] = {}
        self._ids_by_name: dict[str, bytes | None] = {}

    # Queries of publishers.

    @property
    def is_empty(self) -> bool:
        """Whether no record set or removed anything. (No-op records do not.)"""
        return not (
            self.topics
            or self.brokers
            or self.controllers
            or self.configs
            or self.features
            or self.kept
            or self.next_producer_id is not None
        )

    @property
    def changed_topics(self) -> dict[bytes, TopicImage]:
        """Topics created or changed, by id, in their new state."""
        return {topic_id: topic for topic_id, topic in self.topics.items() if topic is not None}

    @property
    def deleted_topics(self) -> dict[bytes, TopicImage]:
        """Topics of the base image that were deleted, by id, in their former state."""
        before = self.image.topics_by_id
        return {
            topic_id: before[topic_id]
            for topic_id, topic in self.topics.items()
            if topic is None and topic_id in before
        }

    @property
    def changed_configs(self) -> set[tuple[int, str]]:
        """(resource type, resource name) with a key set or removed."""
        return set(self.configs)

    # Records.

    def replay(self, message: Any, version: int = 0) -> None:
        """Apply one record. Raises InconsistentMetadata if it does not fit the records before it,
        or if its kind is unknown.
        """
        name = type(message).__name__
        handler = self._HANDLERS.get(name)
        if handler is not None:
            handler(self, message)
            return
        keeper = _KEPT_RECORDS.get(name)
        if keeper is None:
            raise InconsistentMetadata(f"a metadata record of unknown kind: {name}")
        key, stays = keeper(message)
        self.kept[key] = MetadataRecord(message, version) if stays else None

    def apply(self, provenance: Provenance, breathe: Breathe = go_on) -> MetadataImage:
        """Return the image with all changes; unchanged parts are shared with the base image.
        `breathe` is called between topics.
        """
        before = self.image
        return MetadataImage(
            provenance=provenance,
            topics_by_name=self._topics_by_name(breathe),
            topics_by_id=merged(before.topics_by_id, self.topics, breathe),
            brokers=merged(before.brokers, self.brokers),
            controllers=merged(before.controllers, self.controllers),
            configs=self._merged_configs(),
            features=self._merged_features(),
            next_producer_id=(
                before.next_producer_id if self.next_producer_id is None else self.next_producer_id
            ),
            kept_records=merged(before.kept_records, self.kept),
        )

    def _topics_by_name(self, breathe: Breathe) -> Mapping[str, TopicImage]:
        changes: dict[str, TopicImage | None] = {
            name: None for name, topic_id in self._ids_by_name.items() if topic_id is None
        }
        for topic in paced(self.topics.values(), breathe):
            if topic is not None:
                changes[topic.name] = topic
        return merged(self.image.topics_by_name, changes, breathe)

    def _merged_configs(self) -> Mapping[tuple[int, str], dict[str, str]]:
        changes = {resource: entries or None for resource, entries in self.configs.items()}
        return merged(self.image.configs, changes)

    def _merged_features(self) -> Mapping[str, int]:
        changes = {name: level or None for name, level in self.features.items()}
        return merged(self.image.features, changes)

    def note_deleted_name(self, name: str) -> None:
        """Record the deletion of a topic with this name (another one may have it now)."""
        self._ids_by_name[name] = None

    # The current state.

    def topic(self, topic_id: bytes) -> TopicImage | None:
        """Return the topic with this id, including changes; None if there is none."""
        if topic_id in self.topics:
            return self.topics[topic_id]
        return self.image.topics_by_id.get(topic_id)

    def _topic_to_change(self, topic_id: bytes) -> TopicImage:
        """Return a copy of the topic whose `partitions` may be modified."""
        changed = self.topics.get(topic_id)
        if changed is not None:
            return changed
        topic = self.topic(topic_id)
        if topic is None:
            raise InconsistentMetadata(f"no topic has the id {uuid_to_str(topic_id)}")
        changed = topic._replace(partitions=dict(topic.partitions))
        self.topics[topic_id] = changed
        self.changed_partitions[topic_id] = set()
        return changed

    def _replay_topic(self, record: Any) -> None:
        name, topic_id = record.name, record.topic_id
        known = self._ids_by_name.get(name)
        if name not in self._ids_by_name:
            topic = self.image.topics_by_name.get(name)
            known = None if topic is None else topic.id
        if known is not None:
            raise InconsistentMetadata(f"topic {name} exists with the id {uuid_to_str(known)}")
        self._ids_by_name[name] = topic_id
        self.topics[topic_id] = TopicImage(name, topic_id, {})
        self.changed_partitions[topic_id] = set()

    def _replay_partition(self, record: Any) -> None:
        topic = self._topic_to_change(record.topic_id)
        topic.partitions[record.partition_id] = PartitionImage.from_record(record)
        self.changed_partitions[record.topic_id].add(record.partition_id)

    def _replay_partition_change(self, record: Any) -> None:
        topic = self._topic_to_change(record.topic_id)
        partition = topic.partitions.get(record.partition_id)
        if partition is None:
            raise InconsistentMetadata(f"{topic.name} has no partition {record.partition_id}")
        topic.partitions[record.partition_id] = partition.merge(record)
        self.changed_partitions[record.topic_id].add(record.partition_id)

    def _replay_remove_topic(self, record: Any) -> None:
        topic = self.topic(record.topic_id)
        if topic is None:
            raise InconsistentMetadata(f"no topic has the id {uuid_to_str(record.topic_id)}")
        self.topics[record.topic_id] = None
        self._ids_by_name[topic.name] = None
        self.changed_partitions.pop(record.topic_id, None)
        # The configuration of a topic is deleted with it, without records of its own.
        resource = (TOPIC_RESOURCE, topic.name)
        if resource in self.configs or resource in self.image.configs:
            self.configs[resource] = {}

    def _replay_config(self, record: Any) -> None:
        resource = (record.resource_type, record.resource_name)
        entries = self.configs.get(resource)
        if entries is None:
            entries = dict(self.image.configs.get(resource, {}))
            self.configs[resource] = entries
        if record.value is None:
            entries.pop(record.name, None)
        else:
            entries[record.name] = record.value

    def _replay_feature_level(self, record: Any) -> None:
        # kraft.version is in the quorum's control records; Kafka once wrote it here too.
        if record.name != KRAFT_VERSION:
            self.features[record.name] = record.feature_level

    def _replay_register_broker(self, record: Any) -> None:
        self.brokers[record.broker_id] = BrokerRegistration.from_record(record)

    def _broker(self, broker_id: int, epoch: int) -> BrokerRegistration:
        if broker_id in self.brokers:
            broker = self.brokers[broker_id]
        else:
            broker = self.image.brokers.get(broker_id)
        if broker is None or broker.epoch != epoch:
            raise InconsistentMetadata(f"broker {broker_id} is not registered with epoch {epoch}")
        return broker

    def _replay_broker_change(self, record: Any) -> None:
        broker = self._broker(record.broker_id, record.broker_epoch)
        self.brokers[record.broker_id] = broker.merge(record)

    def _replay_fence(self, record: Any) -> None:
        self.brokers[record.id] = self._broker(record.id, record.epoch)._replace(fenced=True)

    def _replay_unfence(self, record: Any) -> None:
        self.brokers[record.id] = self._broker(record.id, record.epoch)._replace(fenced=False)

    def _replay_unregister_broker(self, record: Any) -> None:
        self._broker(record.broker_id, record.broker_epoch)
        self.brokers[record.broker_id] = None

    def _replay_register_controller(self, record: Any) -> None:
        self.controllers[record.controller_id] = ControllerRegistration.from_record(record)

    def _replay_unregister_controller(self, record: Any) -> None:
        self.controllers[record.controller_id] = None

    def _replay_producer_ids(self, record: Any) -> None:
        self.next_producer_id = record.next_producer_id

    def clear_eligible_leaders(self, record: Any, breathe: Breathe = go_on) -> None:
        """Apply a `ClearElrRecord`: clear the eligible leaders of one topic, or of all (an empty
        name; KIP-966). `breathe` is called between topics and partitions.
        """
        if not record.topic_name:
            known = self.image.topics_by_id
            made = [topic_id for topic_id in self.topics if topic_id not in known]
            for topic_id in paced(chain(known, made), breathe):
                self._forget_eligible_leaders(topic_id, breathe)
            return
        made_id = self._ids_by_name.get(record.topic_name)
        if made_id is not None:
            self._forget_eligible_leaders(made_id, breathe)
            return
        topic = self.image.topics_by_name.get(record.topic_name)
        if topic is None:
            raise InconsistentMetadata(f"no topic is called {record.topic_name}")
        self._forget_eligible_leaders(topic.id, breathe)

    def _forget_eligible_leaders(self, topic_id: bytes, breathe: Breathe) -> None:
        topic = self.topic(topic_id)
        if topic is None:
            return  # deleted in the same batch
        cleared = [number for number, at in topic.partitions.items() if at.elr or at.last_known_elr]
        if not cleared:
            return
        partitions = self._topic_to_change(topic_id).partitions
        self.changed_partitions[topic_id].update(cleared)
        for number in paced(cleared, breathe):
            partitions[number] = partitions[number].without_eligible_leaders()

    def _ignore(self, record: Any) -> None:
        """Ignore no-op records, transaction markers (`MetadataReplay` handles them), and ZooKeeper
        remnants.
        """

    _HANDLERS: ClassVar[dict[str, Callable[[MetadataDelta, Any], None]]] = {
        "TopicRecord": _replay_topic,
        "PartitionRecord": _replay_partition,
        "PartitionChangeRecord": _replay_partition_change,
        "RemoveTopicRecord": _replay_remove_topic,
        "ConfigRecord": _replay_config,
        "FeatureLevelRecord": _replay_feature_level,
        "RegisterBrokerRecord": _replay_register_broker,
        "BrokerRegistrationChangeRecord": _replay_broker_change,
        "FenceBrokerRecord": _replay_fence,
        "UnfenceBrokerRecord": _replay_unfence,
        "UnregisterBrokerRecord": _replay_unregister_broker,
        "RegisterControllerRecord": _replay_register_controller,
        "UnregisterControllerRecord": _replay_unregister_controller,
        "ProducerIdsRecord": _replay_producer_ids,
        "ClearElrRecord": clear_eligible_leaders,
        "NoOpRecord": _ignore,
        "BeginTransactionRecord": _ignore,
        "EndTransactionRecord": _ignore,
        "AbortTransactionRecord": _ignore,
        "ZkMigrationStateRecord": _ignore,
    }


def _quota_key(record: Any) -> tuple[Any, bool]:
    entity = tuple(sorted((part.entity_type, part.entity_name) for part in record.entity))
    return ("quota", entity, record.key), not record.remove


# Kinds of records that nothing here interprets yet: each kind's key, and whether the record is
# kept.
_KEPT_RECORDS: dict[str, Callable[[Any], tuple[Any, bool]]] = {
    "AccessControlEntryRecord": lambda record: (("acl", record.id), True),
    "RemoveAccessControlEntryRecord": lambda record: (("acl", record.id), False),
    "UserScramCredentialRecord": lambda record: (("scram", record.name, record.mechanism), True),
    "RemoveUserScramCredentialRecord": lambda record: (
        ("scram", record.name, record.mechanism),
        False,
    ),
    "DelegationTokenRecord": lambda record: (("token", record.token_id), True),
    "RemoveDelegationTokenRecord": lambda record: (("token", record.token_id), False),
    "ClientQuotaRecord": _quota_key,
}


def delta_between(
    before: MetadataImage, after: MetadataImage, breathe: Breathe = go_on
) -> MetadataDelta:
    """Return the changes from one image to another, even if records were skipped (a snapshot).

    A topic that was deleted and recreated under its name is both a deleted and a changed topic.
    `breathe` is called between topics (`environment/slices.py`).
    """
    delta = MetadataDelta(before)
    delta.topics = dict(paced(_changed(before.topics_by_id, after.topics_by_id), breathe))
    for topic_id, topic in paced(delta.topics.items(), breathe):
        if topic is None:
            delta.note_deleted_name(before.topics_by_id[topic_id].name)
        else:
            old = before.topics_by_id.get(topic_id)
            known = {} if old is None else old.partitions
            delta.changed_partitions[topic_id] = {
                number for number, at in topic.partitions.items() if known.get(number) != at
            }
    delta.brokers = dict(_changed(before.brokers, after.brokers))
    delta.controllers = dict(_changed(before.controllers, after.controllers))
    configs = dict(_changed(before.configs, after.configs))
    delta.configs = {resource: entries or {} for resource, entries in configs.items()}
    features = dict(_changed(before.features, after.features))
    delta.features = {name: level or 0 for name, level in features.items()}
    if after.next_producer_id != before.next_producer_id:
        delta.next_producer_id = after.next_producer_id
    delta.kept = dict(_changed(before.kept_records, after.kept_records))
    return delta


def _changed(
    before: Mapping[KeyT, ValueT], after: Mapping[KeyT, ValueT]
) -> Iterator[tuple[KeyT, ValueT | None]]:
    """Return new or different entries, and removed keys with None."""
    if before is after:
        return
    for key, value in after.items():
        old = before.get(key)
        if old is not value and old != value:
            yield key, value
    for key in before:
        if key not in after:
            yield key, None
