"""Records in, changes and an image out; records that cannot follow are refused."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.kraft.delta import InconsistentMetadata, MetadataDelta
from pykbroker.kraft.image import MetadataImage, Provenance
from pykbroker.protocol.messages.access_control_entry_record import AccessControlEntryRecord
from pykbroker.protocol.messages.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)
from pykbroker.protocol.messages.clear_elr_record import ClearElrRecord
from pykbroker.protocol.messages.client_quota_record import ClientQuotaRecord, EntityData
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from pykbroker.protocol.messages.fence_broker_record import FenceBrokerRecord
from pykbroker.protocol.messages.no_op_record import NoOpRecord
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.partition_record import PartitionRecord
from pykbroker.protocol.messages.register_broker_record import RegisterBrokerRecord
from pykbroker.protocol.messages.register_controller_record import RegisterControllerRecord
from pykbroker.protocol.messages.remove_access_control_entry_record import (
    RemoveAccessControlEntryRecord,
)
from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.protocol.messages.unfence_broker_record import UnfenceBrokerRecord
from pykbroker.protocol.messages.unregister_broker_record import UnregisterBrokerRecord
from pykbroker.protocol.messages.unregister_controller_record import UnregisterControllerRecord
from tests.harness.records import partition_record

A, B = b"a" * 16, b"b" * 16
AT = Provenance(1, 1, 1)


def partition(topic_id: bytes, number: int, **fields: Any) -> PartitionRecord:
    return partition_record(topic_id, number, **({"directories": [b"d" * 16]} | fields))


def after(image: MetadataImage, *records: Any) -> tuple[MetadataDelta, MetadataImage]:
    delta = MetadataDelta(image)
    for record in records:
        delta.replay(record)
    return delta, delta.apply(AT)


@pytest.fixture
def image() -> MetadataImage:
    return after(
        MetadataImage(),
        TopicRecord(name="a", topic_id=A),
        partition(A, 0),
        partition(A, 1),
        RegisterBrokerRecord(broker_id=1, broker_epoch=5, incarnation_id=A),
        ConfigRecord(resource_type=2, resource_name="a", name="retention.ms", value="1"),
    )[1]


def test_what_changed(image: MetadataImage) -> None:
    change = PartitionChangeRecord(topic_id=A, partition_id=1, leader=-1)
    delta, changed = after(image, change, TopicRecord(name="b", topic_id=B), partition(B, 0))
    assert {topic.name for topic in delta.changed_topics.values()} == {"a", "b"}
    assert delta.changed_partitions == {A: {1}, B: {0}}
    assert delta.deleted_topics == {}
    found = changed.partition("a", 1)
    assert found is not None
    assert (found.leader, found.leader_epoch, found.partition_epoch) == (-1, 1, 1)
    assert image.partition("a", 1) != found
    assert changed.partition("a", 0) is image.partition("a", 0)


def test_a_deleted_topic_takes_its_configuration_along(image: MetadataImage) -> None:
    delta, changed = after(image, RemoveTopicRecord(topic_id=A))
    assert {topic.name for topic in delta.deleted_topics.values()} == {"a"}
    assert (changed.topics_by_name, changed.topics_by_id, changed.configs) == ({}, {}, {})
    assert (2, "a") in delta.changed_configs


def test_a_topic_deleted_and_made_again(image: MetadataImage) -> None:
    delta, changed = after(
        image, RemoveTopicRecord(topic_id=A), TopicRecord(name="a", topic_id=B), partition(B, 0)
    )
    assert set(delta.deleted_topics) == {A}
    assert set(delta.changed_topics) == {B}
    topic = changed.topic("a")
    assert topic is not None
    assert topic.id == B


def test_a_topic_made_and_deleted_in_one_delta_leaves_nothing(image: MetadataImage) -> None:
    delta, changed = after(
        image, TopicRecord(name="b", topic_id=B), partition(B, 0), RemoveTopicRecord(topic_id=B)
    )
    assert delta.deleted_topics == {}
    assert set(changed.topics_by_name) == {"a"}


def test_brokers_come_change_and_go(image: MetadataImage) -> None:
    assert image.brokers[1].fenced
    _, unfenced = after(image, UnfenceBrokerRecord(id=1, epoch=5))
    assert not unfenced.brokers[1].fenced
    _, fenced = after(unfenced, FenceBrokerRecord(id=1, epoch=5))
    assert fenced.brokers[1].fenced
    leaving = BrokerRegistrationChangeRecord(
        broker_id=1, broker_epoch=5, fenced=-1, in_controlled_shutdown=1, log_dirs=[B]
    )
    _, changed = after(image, leaving)
    broker = changed.brokers[1]
    assert (broker.fenced, broker.in_controlled_shutdown) == (False, True)
    assert broker.directories == (B,)
    _, gone = after(image, UnregisterBrokerRecord(broker_id=1, broker_epoch=5))
    assert gone.brokers == {}


def test_controllers_come_and_go(image: MetadataImage) -> None:
    _, there = after(image, RegisterControllerRecord(controller_id=3, incarnation_id=A))
    assert set(there.controllers) == {3}
    _, gone = after(there, UnregisterControllerRecord(controller_id=3))
    assert gone.controllers == {}


def test_no_ops_change_nothing(image: MetadataImage) -> None:
    delta, same = after(image, NoOpRecord())
    assert delta.is_empty
    assert same.topics_by_name is image.topics_by_name


def test_a_feature_at_zero_is_gone() -> None:
    _, image = after(MetadataImage(), FeatureLevelRecord(name="x", feature_level=1))
    _, image = after(image, FeatureLevelRecord(name="x", feature_level=0))
    assert image.features == {}


def test_a_feature_level_of_kraft_version_is_ignored() -> None:
    _, image = after(MetadataImage(), FeatureLevelRecord(name="kraft.version", feature_level=1))
    assert dict(image.features) == {}


def test_eligible_leaders_are_cleared_for_one_topic_or_all() -> None:
    elr = {"eligible_leader_replicas": [2], "last_known_elr": [3]}
    _, image = after(
        MetadataImage(),
        TopicRecord(name="a", topic_id=A),
        partition(A, 0, **elr),
        TopicRecord(name="b", topic_id=B),
        partition(B, 0, **elr),
    )
    before = image.topics_by_id[A].partitions[0].partition_epoch
    delta, one = after(image, ClearElrRecord(topic_name="a"))
    assert [one.partition(name, 0).elr for name in "ab"] == [(), (2,)]  # type: ignore[union-attr]
    assert one.topics_by_id[A].partitions[0].partition_epoch == before + 1
    assert delta.changed_partitions == {A: {0}}
    _, none = after(image, ClearElrRecord())
    assert [none.partition(name, 0).elr for name in "ab"] == [(), ()]  # type: ignore[union-attr]
    delta, again = after(none, ClearElrRecord())
    assert delta.is_empty
    assert again.topics_by_id is none.topics_by_id


def test_eligible_leaders_are_cleared_among_other_changes_of_the_same_topics() -> None:
    elr = {"eligible_leader_replicas": [2], "last_known_elr": [3]}
    topic = TopicRecord(name="a", topic_id=A), partition(A, 0, **elr)
    _, made = after(MetadataImage(), *topic, ClearElrRecord())
    assert made.topics_by_id[A].partitions[0].elr == ()
    _, made = after(MetadataImage(), *topic, ClearElrRecord(topic_name="a"))
    assert made.topics_by_id[A].partitions[0].last_known_elr == ()
    _, image = after(MetadataImage(), *topic)
    gone = RemoveTopicRecord(topic_id=A)
    for clear in (ClearElrRecord(), ClearElrRecord(topic_name="a")):
        assert after(image, gone, clear)[1].topics_by_id == {}
    _, remade = after(
        image,
        gone,
        TopicRecord(name="a", topic_id=B),
        partition(B, 0, **elr),
        ClearElrRecord(topic_name="a"),
    )
    assert remade.topics_by_id[B].partitions[0].elr == ()


def test_records_of_later_subjects_are_kept() -> None:
    entry = AccessControlEntryRecord(id=A, resource_name="t", principal="User:x", host="*")
    quota = ClientQuotaRecord(
        entity=[EntityData(entity_type="user", entity_name="x")],
        key="producer_byte_rate",
        value=1.0,
    )
    _, image = after(MetadataImage(), entry, quota)
    assert [record.message for record in image.records()] == [entry, quota]
    gone = ClientQuotaRecord(
        entity=[EntityData(entity_type="user", entity_name="x")],
        key="producer_byte_rate",
        remove=True,
    )
    _, image = after(image, RemoveAccessControlEntryRecord(id=A), gone)
    assert list(image.records()) == []


@pytest.mark.parametrize(
    "record",
    [
        TopicRecord(name="a", topic_id=B),
        partition(B, 0),
        PartitionChangeRecord(topic_id=B, partition_id=0),
        PartitionChangeRecord(topic_id=A, partition_id=9),
        RemoveTopicRecord(topic_id=B),
        FenceBrokerRecord(id=1, epoch=4),
        UnfenceBrokerRecord(id=2, epoch=5),
        UnregisterBrokerRecord(broker_id=1, broker_epoch=4),
        BrokerRegistrationChangeRecord(broker_id=2, broker_epoch=5),
        ClearElrRecord(topic_name="x"),
        object(),
    ],
    ids=lambda record: type(record).__name__,
)
def test_records_that_cannot_follow(image: MetadataImage, record: Any) -> None:
    with pytest.raises(InconsistentMetadata):
        MetadataDelta(image).replay(record)
