"""Which partitions a broker matters to: what fencing, heartbeats and elections look up.

State: for each broker, the partitions with it in sync and those with it among the eligible leaders
       (KIP-966), by topic; how many partitions it leads; the partitions without a leader, and those
       that their preferred replica does not lead.
In:    `follow(delta)` for each step of the metadata. Out: places of partitions, and counts.
Invariants: the index of an image is the same whether it was built from the image or followed the
deltas that led there. Nothing here costs more than the partitions that a delta changed or that an
answer holds, however large the cluster is.
Source: Kafka's `BrokersToIsrs.java`, `BrokersToElrs.java`, and `imbalancedPartitions` of
`ReplicationControlManager.java`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.partition_image import NO_LEADER, PartitionImage

Place = tuple[bytes, int]
"""(topic id, partition)."""

_Places = dict[bytes, set[int]]


class PartitionIndex:
    """See the module's text."""

    def __init__(self, image: MetadataImage) -> None:
        self._in_sync: dict[int, _Places] = {}
        self._eligible: dict[int, _Places] = {}
        self._leaderships: dict[int, int] = {}
        self._leaderless: _Places = {}
        self._imbalanced: _Places = {}
        for topic in image.topics_by_id.values():
            for number, partition in topic.partitions.items():
                self._add(topic.id, number, partition)

    def follow(self, delta: MetadataDelta) -> None:
        """The metadata moved on by `delta`."""
        before = delta.image.topics_by_id
        for topic_id, topic in delta.deleted_topics.items():
            for number, partition in topic.partitions.items():
                self._remove(topic_id, number, partition)
        for topic_id, topic in delta.changed_topics.items():
            old = before.get(topic_id)
            known = {} if old is None else old.partitions
            for number in delta.changed_partitions[topic_id]:
                if number in known:
                    self._remove(topic_id, number, known[number])
                self._add(topic_id, number, topic.partitions[number])

    def in_sync(self, broker_id: int) -> Iterator[Place]:
        """Partitions with the broker among their in-sync replicas."""
        return _each(self._in_sync.get(broker_id))

    def eligible(self, broker_id: int) -> Iterator[Place]:
        """Partitions with the broker among their eligible leader replicas."""
        return _each(self._eligible.get(broker_id))

    def leads_anything(self, broker_id: int) -> bool:
        """Does the broker lead any partition?"""
        return self._leaderships.get(broker_id, 0) > 0

    def leaderless(self) -> Iterator[Place]:
        """Partitions without a leader."""
        return _each(self._leaderless)

    def imbalanced(self) -> Iterator[Place]:
        """Partitions that another than their preferred replica leads, or none."""
        return _each(self._imbalanced)

    def _add(self, topic_id: bytes, number: int, partition: PartitionImage) -> None:
        for replica in partition.isr:
            self._in_sync.setdefault(replica, {}).setdefault(topic_id, set()).add(number)
        for replica in partition.elr:
            self._eligible.setdefault(replica, {}).setdefault(topic_id, set()).add(number)
        leader = partition.leader
        if leader == NO_LEADER:
            self._leaderless.setdefault(topic_id, set()).add(number)
        else:
            self._leaderships[leader] = self._leaderships.get(leader, 0) + 1
        if leader != partition.preferred_leader:
            self._imbalanced.setdefault(topic_id, set()).add(number)

    def _remove(self, topic_id: bytes, number: int, partition: PartitionImage) -> None:
        for replica in partition.isr:
            _discard(self._in_sync[replica], topic_id, number)
        for replica in partition.elr:
            _discard(self._eligible[replica], topic_id, number)
        leader = partition.leader
        if leader == NO_LEADER:
            _discard(self._leaderless, topic_id, number)
        else:
            self._leaderships[leader] -= 1
        if leader != partition.preferred_leader:
            _discard(self._imbalanced, topic_id, number)


def _each(places: _Places | None) -> Iterator[Place]:
    """In the order of partitions within a topic: the same on every machine."""
    for topic_id, numbers in (places or {}).items():
        for number in sorted(numbers):
            yield topic_id, number


def _discard(places: _Places, topic_id: bytes, number: int) -> None:
    numbers = places[topic_id]
    numbers.remove(number)
    if not numbers:
        del places[topic_id]
