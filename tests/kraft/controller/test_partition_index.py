"""The index of an image is the same, however it was made."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pykbroker.kraft.controller.partition_index import PartitionIndex
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import NO_PROVENANCE, MetadataImage
from pykbroker.kraft.partition_image import NO_LEADER
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from tests.harness.records import partition_record

TOPIC = b"t" * 16
BROKERS = (1, 2, 3)
PARTITION = st.tuples(
    st.sets(st.sampled_from(BROKERS)), st.sets(st.sampled_from(BROKERS)), st.integers(-1, 3)
)
STEPS = st.lists(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.none() | PARTITION), max_size=4
    )
)


def found(index: PartitionIndex) -> object:
    """All that an index says, in any order of topics."""
    return (
        [sorted(index.in_sync(broker)) for broker in BROKERS],
        [sorted(index.eligible(broker)) for broker in BROKERS],
        [index.leads_anything(broker) for broker in BROKERS],
        sorted(index.leaderless()),
        sorted(index.imbalanced()),
    )


def scanned(image: MetadataImage) -> object:
    """The same, by looking at every partition."""
    every = [
        ((topic.id, number), partition)
        for topic in image.topics_by_id.values()
        for number, partition in topic.partitions.items()
    ]
    return (
        [sorted(place for place, at in every if broker in at.isr) for broker in BROKERS],
        [sorted(place for place, at in every if broker in at.elr) for broker in BROKERS],
        [any(at.leader == broker for _, at in every) for broker in BROKERS],
        sorted(place for place, at in every if at.leader == NO_LEADER),
        sorted(place for place, at in every if at.leader != at.replicas[0]),
    )


@given(STEPS)
def test_following_is_scanning(steps: list[list[tuple[str, int, Any]]]) -> None:
    image = MetadataImage()
    index = PartitionIndex(image)
    lives: Counter[str] = Counter()
    for step in steps:
        delta = MetadataDelta(image)
        for name, number, wanted in step:
            topic_id = f"{name}{lives[name]:015}".encode()  # another one after each deletion
            topic = delta.topic(topic_id)
            if wanted is None:
                if topic is not None:
                    delta.replay(RemoveTopicRecord(topic_id=topic_id))
                    lives[name] += 1
                continue
            isr, elr, leader = wanted
            if topic is None:
                delta.replay(TopicRecord(name=name, topic_id=topic_id))
                topic = delta.topic(topic_id)
            assert topic is not None
            fields: dict[str, Any]
            fields = {"isr": sorted(isr), "eligible_leader_replicas": sorted(elr), "leader": leader}
            if number in topic.partitions:
                delta.replay(
                    PartitionChangeRecord(topic_id=topic_id, partition_id=number, **fields)
                )
            else:
                delta.replay(partition_record(topic_id, number, replicas=[1, 2, 3], **fields))
        image = delta.apply(NO_PROVENANCE)
        index.follow(delta)
        assert found(index) == scanned(image)
        assert found(PartitionIndex(image)) == scanned(image)


def test_partitions_of_a_topic_come_in_their_order() -> None:
    delta = MetadataDelta(MetadataImage())
    delta.replay(TopicRecord(name="t", topic_id=TOPIC))
    for number in (9, 0, 70, 3):
        delta.replay(partition_record(TOPIC, number, replicas=[1], isr=[1], leader=1))
    index = PartitionIndex(delta.apply(NO_PROVENANCE))
    assert list(index.in_sync(1)) == [(TOPIC, number) for number in (0, 3, 9, 70)]
