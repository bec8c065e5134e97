"""The partitions in which a broker has a role, and those that may need an election.

State: for each broker, the partitions with it in sync and those with it among the eligible leaders
(KIP-966), by topic; how many partitions it leads; the partitions without a leader, and those not
led by their preferred replica.
In:    `follow(delta)` for each metadata change. Out: (topic id, partition) pairs.
Invariants: the index of an image has the same partitions whether it was built from the image or
from the deltas that led there. The cost of a delta or an answer is proportional to the partitions
that it contains, however large the cluster is.
Source: Kafka's `BrokersToIsrs.java`, `BrokersToElrs.java`, and `imbalancedPartitions` of
`ReplicationControlManager.java`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage, TopicImage
from pykbroker.kraft.partition_image import NO_LEADER, PartitionImage

Place = tuple[bytes, int]
"""(topic id, partition)."""

_Places = dict[bytes, set[int]]

NOWHERE: Final = PartitionImage((), (), (), NO_LEADER)
"""A partition that does not exist yet, or no longer."""


class PartitionIndex:
    """Finds the partitions of a broker by role."""

    def __init__(self, image: MetadataImage, breathe: Breathe = go_on) -> None:
        """`breathe` is called between partitions (`environment/slices.py`)."""
        self._in_sync: dict[int, _Places] = {}
        self._eligible: dict[int, _Places] = {}
        self._leaderships: dict[int, int] = {}
        self._leaderless: _Places = {}
        self._imbalanced: _Places = {}
        for topic in image.topics_by_id.values():
            self._add_topic(topic, breathe)

    def follow(self, delta: MetadataDelta, breathe: Breathe = go_on) -> None:
        """Apply a metadata change; `breathe` is called between topics and partitions."""
        before = delta.image.topics_by_id
        for topic_id, topic in paced(delta.topics.items(), breathe):
            old = before.get(topic_id)
            if topic is None:
                partitions = {} if old is None else old.partitions
                for number, partition in paced(partitions.items(), breathe):
                    self._change(topic_id, number, partition, NOWHERE)
            elif old is None:
                self._add_topic(topic, breathe)
            else:
                for number in paced(delta.changed_partitions[topic_id], breathe):
                    known = old.partitions.get(number, NOWHERE)
                    self._change(topic_id, number, known, topic.partitions[number])

    def in_sync(self, broker_id: int) -> Iterator[Place]:
        """Return the partitions with the broker among their in-sync replicas."""
        return _each(self._in_sync.get(broker_id))

    def eligible(self, broker_id: int) -> Iterator[Place]:
        """Return the partitions with the broker among their eligible leader replicas."""
        return _each(self._eligible.get(broker_id))

    def leads_anything(self, broker_id: int) -> bool:
        """Return whether the broker leads any partition."""
        return self._leaderships.get(broker_id, 0) > 0

    def leaderless(self) -> Iterator[Place]:
        """Return the partitions without a leader."""
        return _each(self._leaderless)

    def imbalanced(self) -> Iterator[Place]:
        """Return the partitions that are not led by their preferred replica."""
        return _each(self._imbalanced)

    def _add_topic(self, topic: TopicImage, breathe: Breathe = go_on) -> None:
        """Add a topic with all its partitions; `breathe` is called between them."""
        in_sync: defaultdict[int, set[int]] = defaultdict(set)
        for number, partition in topic.partitions.items():
            breathe()
            for replica in partition.isr:
                in_sync[replica].add(number)
            for replica in partition.elr:
                _put(self._eligible.setdefault(replica, {}), topic.id, number)
            self._put_leader(topic.id, number, partition)
        for replica, numbers in in_sync.items():
            self._in_sync.setdefault(replica, {})[topic.id] = numbers

    def _change(
        self, topic_id: bytes, number: int, old: PartitionImage, new: PartitionImage
    ) -> None:
        _move(self._in_sync, topic_id, number, old.isr, new.isr)
        _move(self._eligible, topic_id, number, old.elr, new.elr)
        if old.leader == new.leader and old.replicas[:1] == new.replicas[:1]:
            return
        if old is not NOWHERE:
            self._take_leader(topic_id, number, old)
        if new is not NOWHERE:
            self._put_leader(topic_id, number, new)

    def _put_leader(self, topic_id: bytes, number: int, partition: PartitionImage) -> None:
        leader = partition.leader
        if leader == NO_LEADER:
            _put(self._leaderless, topic_id, number)
        else:
            self._leaderships[leader] = self._leaderships.get(leader, 0) + 1
        if leader != partition.preferred_leader:
            _put(self._imbalanced, topic_id, number)

    def _take_leader(self, topic_id: bytes, number: int, partition: PartitionImage) -> None:
        leader = partition.leader
        if leader == NO_LEADER:
            _take(self._leaderless, topic_id, number)
        else:
            self._leaderships[leader] -= 1
        if leader != partition.preferred_leader:
            _take(self._imbalanced, topic_id, number)


def _each(places: _Places | None) -> Iterator[Place]:
    """Return the places, in partition order within each topic."""
    for topic_id, numbers in (places or {}).items():
        for number in sorted(numbers):
            yield topic_id, number


def _move(
    brokers: dict[int, _Places],
    topic_id: bytes,
    number: int,
    old: tuple[int, ...],
    new: tuple[int, ...],
) -> None:
    """Update the brokers that a partition has in this role."""
    if old == new:
        return
    for broker_id in old:
        if broker_id not in new:
            _take(brokers[broker_id], topic_id, number)
    for broker_id in new:
        if broker_id not in old:
            _put(brokers.setdefault(broker_id, {}), topic_id, number)


def _put(places: _Places, topic_id: bytes, number: int) -> None:
    places.setdefault(topic_id, set()).add(number)


def _take(places: _Places, topic_id: bytes, number: int) -> None:
    numbers = places[topic_id]
    numbers.remove(number)
    if not numbers:
        del places[topic_id]
