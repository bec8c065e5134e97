"""The metadata as seen by the clients of each listener, prepared for Metadata answers.

State: the image, and per listener the brokers and topics as response structs. A topic's struct is
made at the first request for it in its form (`kind_of`), and again at the first after a record
changed the topic or any broker. `apply` is the last step of the publisher. The structs are shared:
they are encoded, not changed.

The structs are cached because Metadata is a hot path: clients repeatedly request topics that do not
change, so that only encoding is left to do.
Source: Kafka's `KRaftMetadataCache.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pykbroker.errors import ErrorCode
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.topic_name import is_internal
from pykbroker.protocol.messages.metadata_response import (
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

if TYPE_CHECKING:
    from pykbroker.kraft.delta import MetadataDelta
    from pykbroker.kraft.image import TopicImage
    from pykbroker.kraft.partition_image import PartitionImage

# What a version of Metadata says of unavailable brokers (KafkaApis.scala):
#   v0      replicas on them are left out, the partition is REPLICA_NOT_AVAILABLE
#   v1-v5   a leader without the client's listener is LEADER_NOT_AVAILABLE
#   v6+     it is LISTENER_NOT_FOUND
LEAVE_OUT, HIDE_LISTENER, SHOW_LISTENER = 0, 1, 2

NO_LEADER_ID: Final = -1


def kind_of(version: int) -> int:
    """Return which of LEAVE_OUT, HIDE_LISTENER and SHOW_LISTENER applies to this version of
    Metadata.
    """
    if version == 0:
        return LEAVE_OUT
    return HIDE_LISTENER if version < 6 else SHOW_LISTENER


class ListenerView:
    """Answers for the clients of one listener."""

    __slots__ = ("_brokers", "_image", "_name", "_topics")

    def __init__(self, name: str, image: MetadataImage) -> None:
        self._name = name
        self._image = image
        self._brokers: list[MetadataResponseBroker] | None = None
        self._topics: list[dict[str, MetadataResponseTopic]] = [{}, {}, {}]

    @property
    def image(self) -> MetadataImage:
        """The image from which requests are answered."""
        return self._image

    def of(self, image: MetadataImage) -> ListenerView:
        """Return a view of another image, which never changes."""
        return ListenerView(self._name, image)

    def changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Drop the cached structs that the records changed."""
        self._image = image
        if delta.brokers:
            self._brokers = None
            for by_name in self._topics:
                by_name.clear()
            return
        names = [topic.name for topic in delta.changed_topics.values()]
        names += [topic.name for topic in delta.deleted_topics.values()]
        for by_name in self._topics:
            if by_name:
                for name in names:
                    by_name.pop(name, None)

    def brokers(self) -> list[MetadataResponseBroker]:
        """The brokers that clients may contact, in the order of their ids."""
        if self._brokers is None:
            self._brokers = [
                MetadataResponseBroker(
                    node_id=broker.id, host=at.host, port=at.port, rack=broker.rack
                )
                for broker in self._image.alive_brokers()
                if (at := broker.listeners.get(self._name)) is not None
            ]
        return self._brokers

    def topic(self, name: str, kind: int) -> MetadataResponseTopic | None:
        """Return the topic, None if there is none with that name."""
        found = self._topics[kind].get(name)
        if found is None:
            topic = self._image.topics_by_name.get(name)
            if topic is None:
                return None
            found = self._make_topic(topic, kind)
            self._topics[kind][name] = found
        return found

    def _make_topic(self, topic: TopicImage, kind: int) -> MetadataResponseTopic:
        return MetadataResponseTopic(
            name=topic.name,
            topic_id=topic.id,
            is_internal=is_internal(topic.name),
            partitions=[
                self._make_partition(number, partition, kind)
                for number, partition in topic.partitions.items()
            ],
        )

    def _make_partition(
        self, number: int, partition: PartitionImage, kind: int
    ) -> MetadataResponsePartition:
        replicas, isr = list(partition.replicas), list(partition.isr)
        if kind == LEAVE_OUT:
            replicas = [broker for broker in replicas if self.is_reachable(broker)]
            isr = [broker for broker in isr if self.is_reachable(broker)]
        code, leader = 0, partition.leader
        if not self.is_reachable(leader):
            known = leader in self._image.brokers
            leader = NO_LEADER_ID
            code = int(ErrorCode.LEADER_NOT_AVAILABLE)
            if known and kind == SHOW_LISTENER:
                code = int(ErrorCode.LISTENER_NOT_FOUND)
        elif len(replicas) < len(partition.replicas) or len(isr) < len(partition.isr):
            code = int(ErrorCode.REPLICA_NOT_AVAILABLE)
        return MetadataResponsePartition(
            error_code=code,
            partition_index=number,
            leader_id=leader,
            leader_epoch=partition.leader_epoch,
            replica_nodes=replicas,
            isr_nodes=isr,
            offline_replicas=self.offline_replicas(partition),
        )

    def is_reachable(self, broker_id: int) -> bool:
        """Return whether a broker is not fenced and has this listener."""
        broker = self._image.brokers.get(broker_id)
        return broker is not None and not broker.fenced and self._name in broker.listeners

    def offline_replicas(self, partition: PartitionImage) -> list[int]:
        """Return the replicas that clients of this listener cannot reach, or whose log directory
        has failed.
        """
        offline = []
        for replica, directory in zip(partition.replicas, partition.directories, strict=True):
            if not self.is_reachable(replica) or not self._image.brokers[replica].has_online(
                directory
            ):
                offline.append(replica)
        return offline


class MetadataView:
    """The metadata of one node for its clients."""

    def __init__(self, cluster_id: str, node_id: int) -> None:
        self.cluster_id = cluster_id
        self._node_id = node_id
        self.image = MetadataImage()
        self._listeners: dict[str, ListenerView] = {}

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `Publisher`."""
        self.image = image
        for view in self._listeners.values():
            view.changed(delta, image)

    def on_listener(self, name: str) -> ListenerView:
        """Return the view for clients of this listener."""
        view = self._listeners.get(name)
        if view is None:
            view = ListenerView(name, self.image)
            self._listeners[name] = view
        return view

    def controller_id(self) -> int:
        """The broker to which clients send controller requests, and which forwards them.

        Kafka names any live broker. Here it is this one, which the client has just reached; if it
        is fenced or not registered, another that is not fenced, or -1 if there is none.
        """
        this = self.image.brokers.get(self._node_id)
        if this is not None and not this.fenced:
            return self._node_id
        for broker_id, broker in self.image.brokers.items():
            if not broker.fenced:
                return broker_id
        return -1
