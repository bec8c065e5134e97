"""The partitions that this node hosts: follows the metadata image, creates and deletes their logs.

    image: this node among the replicas    not hosted -> log found or created, partition created
                                           hosted     -> new role, ISR, epochs
    image: no longer among them, deleted   hosted     -> log deleted
    disk: a log, or a copy of one, that    at the first image -> set aside as `-stray`
          the image has elsewhere or not

State: the partitions by topic name and number, the last image.
In:  `apply`, `on_broker_config`. Out: the partitions that changed, with their effects.
Invariants: a change is applied partition by partition, and other work may run in between; a topic
that was deleted and recreated in one delta gets a new log; a partition whose directory failed stays
offline while the node runs, unless it is no longer assigned to it.
Source: `ReplicaManager.applyDelta`, `BrokerMetadataPublisher`, KAFKA-15605 (stray logs).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pykbroker.config import TopicConfig
from pykbroker.environment.files import LogDirFailure
from pykbroker.errors import ErrorCode
from pykbroker.kraft.image import TOPIC_RESOURCE, MetadataImage, TopicImage
from pykbroker.kraft.partition_image import LOST_DIRECTORY, UNASSIGNED_DIRECTORY
from pykbroker.log.directories.log_creation import NothingCreated
from pykbroker.log.directories.log_directory import PartitionUnidentified
from pykbroker.replication.brokers import ClusterBrokers
from pykbroker.replication.partition import Partition
from pykbroker.replication.partition_events import Effect, PartitionAssigned
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.config import BrokerConfig
    from pykbroker.kraft.delta import MetadataDelta
    from pykbroker.kraft.partition_image import PartitionImage
    from pykbroker.log.directories.log_manager import LogManager
    from pykbroker.log.partition.partition_log import PartitionLog

_log = logging.getLogger(__name__)

Touched = list[tuple[Partition, list[Effect] | None]]
"""Partitions that changed, with the effects to carry out; None: it is no longer hosted."""


class Hosting:
    """The partitions that this node hosts."""

    def __init__(self, node_id: int, log_manager: LogManager, config: BrokerConfig) -> None:
        self.image = MetadataImage()
        self.by_name: dict[str, dict[int, Partition]] = {}
        self.brokers = ClusterBrokers()
        self._node_id = node_id
        self._log_manager = log_manager
        self._config = config
        self._lag_max_ms = config.replica_lag_time_max_ms
        self._loaded = False
        self._are_new = False  # partitions without a log: just created, or missing since the start
        self.offline: set[tuple[str, int]] = set()  # their log could not be created
        self.placed: dict[tuple[bytes, int], bytes] = {}  # if the controller does not know it
        self.lost: list[TopicPartition] = []  # of directories that failed; the manager takes them

    def apply(
        self, delta: MetadataDelta, image: MetadataImage, now_ms: int
    ) -> Iterator[tuple[Partition, list[Effect] | None]]:
        """Apply `image`; `delta` contains the changes since the previous one.

        Each partition is changed when it is asked for: the caller carries out the effects of one
        before the next one changes.
        """
        self.image = image
        self.brokers.registrations = image.brokers
        touched: Touched = []
        for topic in delta.deleted_topics.values():
            yield from self._drop_topic(topic)
        self._are_new = self._loaded
        if not self._loaded:
            self._loaded = True
            self._set_strays_aside(image)
        for topic_id, topic in delta.changed_topics.items():
            config = TopicConfig.from_overrides(self._config, image.topic_config(topic.name))
            for number in delta.changed_partitions.get(topic_id, topic.partitions):
                registration = topic.partitions.get(number)
                if registration is not None:
                    self._apply_partition(topic, number, registration, config, touched, now_ms)
                    yield from touched
                    touched.clear()
        for resource_type, name in delta.changed_configs:
            if resource_type == TOPIC_RESOURCE:
                self._update_topic_config(name)
                for partition in self.by_name.get(name, {}).values():
                    yield partition, []

    def on_broker_config(self, config: BrokerConfig) -> None:
        """Apply a new broker configuration, from which topics inherit."""
        self._config = config
        for name in self.by_name:
            self._update_topic_config(name)

    def _update_topic_config(self, name: str) -> None:
        partitions = self.by_name.get(name)
        if not partitions:
            return
        config = TopicConfig.from_overrides(self._config, self.image.topic_config(name))
        for partition in partitions.values():
            partition.log.update_config(config)
            copy = self._log_manager.future(partition.topic_partition)
            if copy is not None:
                copy.update_config(config)
            partition.refresh_config()

    def _apply_partition(
        self,
        topic: TopicImage,
        number: int,
        registration: PartitionImage,
        config: TopicConfig,
        touched: Touched,
        now_ms: int,
    ) -> None:
        partition = self.by_name.get(topic.name, {}).get(number)
        if self._node_id not in registration.replicas:
            if partition is not None:
                self._drop(partition, int(ErrorCode.NOT_LEADER_OR_FOLLOWER), touched)
            return
        if partition is not None and partition.topic_id != topic.id:
            self._drop(partition, int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), touched)
            partition = None
        if partition is None:
            partition = self._host(topic, number, registration, config, now_ms)
            if partition is None:
                return
        if not partition.hosted:
            return  # its directory is offline
        event = PartitionAssigned(
            replicas=registration.replicas,
            isr=registration.isr,
            leader=registration.leader,
            leader_epoch=registration.leader_epoch,
            partition_epoch=registration.partition_epoch,
        )
        try:
            self._note_directory(topic, number, registration, partition.log)
            effects = partition.step(event, now_ms)
        except LogDirFailure as failure:  # the new leader epoch could not be written
            self._on_failure(failure)
            return
        touched.append((partition, effects))

    def _host(
        self,
        topic: TopicImage,
        number: int,
        registration: PartitionImage,
        config: TopicConfig,
        now_ms: int,
    ) -> Partition | None:
        topic_partition = TopicPartition(topic.name, number)
        try:
            log = self._existing_log(topic_partition, topic.id, config)
            if log is None:
                log = self._new_log(topic_partition, topic.id, registration, config, now_ms)
        except LogDirFailure as failure:
            self.offline.add(topic_partition)
            self._on_failure(failure)
            registered = registration.directory_of(self._node_id)
            if (
                registered == UNASSIGNED_DIRECTORY
                or self._log_manager.directories.with_id(registered) is not None
            ):
                # The controller cannot know that the replica is in an offline directory. It may
                # have been moved there, and the node may have stopped before it reported this.
                self.placed[topic.id, number] = LOST_DIRECTORY
            return None
        except PartitionUnidentified:  # already logged at startup
            self.offline.add(topic_partition)
            return None
        self.offline.discard(topic_partition)
        partition = Partition(
            topic_partition,
            topic.id,
            log,
            self._node_id,
            self._log_manager.checkpointed_high_watermark(topic_partition),
            self._lag_max_ms,
            self.brokers,
        )
        by_number = self.by_name.setdefault(topic.name, {})
        by_number[number] = partition
        return partition

    def _note_directory(
        self, topic: TopicImage, number: int, registration: PartitionImage, log: PartitionLog
    ) -> None:
        """Note where the log is if the metadata has another directory (maybeUpdateTopicAssignment).

        A replica that was moved away and back in one delta has kept its log.
        """
        directory = self._log_manager.directory_id_of(log)
        if directory is not None and directory != registration.directory_of(self._node_id):
            self.placed[topic.id, number] = directory

    def _existing_log(
        self, topic_partition: TopicPartition, topic_id: bytes, config: TopicConfig
    ) -> PartitionLog | None:
        log = self._log_manager.get(topic_partition)
        if log is None:
            return None
        if log.topic_id != topic_id:
            self._log_manager.make_stray(log)
            return None
        log.update_config(config)
        return log

    def _new_log(
        self,
        topic_partition: TopicPartition,
        topic_id: bytes,
        registration: PartitionImage,
        config: TopicConfig,
        now_ms: int,
    ) -> PartitionLog:
        assigned = registration.directories[registration.replicas.index(self._node_id)]
        directory = self._log_manager.directories.with_id(assigned)
        path = None if directory is None else directory.path
        # It stays offline over all changes of its registration, because its log exists somewhere.
        is_new = self._are_new and topic_partition not in self.offline
        while True:
            try:
                return self._log_manager.create(
                    topic_partition, topic_id, config, path, now_ms, is_new=is_new
                )
            except LogDirFailure as failure:
                if not is_new or not self._may_retry(topic_partition, path, failure):
                    raise
                self._on_failure(failure)  # and the log is created in the next (getOrCreateLog)

    def _may_retry(
        self, topic_partition: TopicPartition, path: str | None, failure: LogDirFailure
    ) -> bool:
        """Return whether a log can be created, in `path` if that is given, though a directory has
        failed.
        """
        if path is not None:
            return failure.directory != path and isinstance(failure, NothingCreated)
        directories = self._log_manager.directories
        failed = [each for each in directories if each.path == failure.directory]
        if not any(each.is_online for each in directories if each not in failed):
            return False
        return isinstance(failure, NothingCreated) or all(
            each.remove_remains(topic_partition) for each in failed
        )

    def _on_failure(self, failure: LogDirFailure) -> None:
        self.lost += self._log_manager.on_dir_failure(failure.directory, failure)

    def _drop_topic(self, topic: TopicImage) -> Iterator[tuple[Partition, list[Effect] | None]]:
        touched: Touched = []
        for partition in list(self.by_name.get(topic.name, {}).values()):
            if partition.topic_id == topic.id:
                self._drop(partition, int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), touched)
                yield from touched
                touched.clear()
        self.offline -= {(topic.name, number) for number in topic.partitions}

    def _drop(self, partition: Partition, code: int, touched: Touched) -> None:
        partition.retire(code)
        by_number = self.by_name[partition.topic]
        del by_number[partition.index]
        if not by_number:
            del self.by_name[partition.topic]
        try:
            self._log_manager.delete(partition.topic_partition)  # and its copy in another directory
        except LogDirFailure as failure:
            self._on_failure(failure)
        touched.append((partition, None))

    def _set_strays_aside(self, image: MetadataImage) -> None:
        """Set aside logs of the last run that no longer belong to this node (KAFKA-15605).

        The copy of a log that was being moved is judged like a log: the log may be lost.
        """
        for directory in self._log_manager.directories:
            for log in self._log_manager.logs_in(directory, with_future=True):
                if not self._belongs_here(log, image):
                    _log.warning("%s does not belong to this node: set aside", log.topic_partition)
                    try:
                        self._log_manager.make_stray(log)
                    except LogDirFailure as failure:
                        self._on_failure(failure)

    def _belongs_here(self, log: PartitionLog, image: MetadataImage) -> bool:
        number = log.topic_partition.partition
        topic = image.topics_by_id.get(log.topic_id or b"")
        registration = None if topic is None else topic.partitions.get(number)
        return registration is not None and self._node_id in registration.replicas
