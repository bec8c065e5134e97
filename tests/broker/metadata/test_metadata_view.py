"""The view shares its structs until a record changes what they show."""

from __future__ import annotations

from typing import Any

from pykbroker.broker.metadata.metadata_view import (
    HIDE_LISTENER,
    LEAVE_OUT,
    SHOW_LISTENER,
    MetadataView,
    kind_of,
)
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage, Provenance
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from tests.harness.records import partition_record

A, B = b"a" * 16, b"b" * 16


def broker(broker_id: int, *, fenced: bool = False, **listeners: int) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=broker_id,
        broker_epoch=broker_id,
        incarnation_id=A,
        end_points=[
            BrokerEndpoint(name=name, host="h", port=port, security_protocol=0)
            for name, port in listeners.items()
        ],
        rack=None,
        fenced=fenced,
        log_dirs=[b"d" * 16],
    )


def topic(name: str, topic_id: bytes) -> list[Any]:
    partition = partition_record(topic_id, directories=[b"d" * 16])
    return [TopicRecord(name=name, topic_id=topic_id), partition]


class World:
    def __init__(self, *records: Any) -> None:
        self.view = MetadataView("c", 3)
        self.image = MetadataImage()
        self.apply(*records)

    def apply(self, *records: Any) -> None:
        delta = MetadataDelta(self.image)
        for record in records:
            delta.replay(record)
        self.image = delta.apply(Provenance(self.image.offset + len(records), 1, 0))
        self.view.apply(delta, self.image)


def test_kinds() -> None:
    assert [kind_of(version) for version in (0, 1, 5, 6, 13)] == [
        LEAVE_OUT,
        HIDE_LISTENER,
        HIDE_LISTENER,
        SHOW_LISTENER,
        SHOW_LISTENER,
    ]


def test_a_struct_is_shared_until_its_topic_changes() -> None:
    world = World(broker(1, L=9092), *topic("a", A), *topic("b", B))
    view = world.view.on_listener("L")
    a, b = view.topic("a", SHOW_LISTENER), view.topic("b", SHOW_LISTENER)
    assert a is not None
    assert view.topic("a", SHOW_LISTENER) is a
    world.apply(PartitionChangeRecord(topic_id=A, partition_id=0, leader=-1))
    changed = view.topic("a", SHOW_LISTENER)
    assert changed is not None
    assert changed.partitions[0].leader_id == -1
    assert a.partitions[0].leader_id == 1
    assert view.topic("b", SHOW_LISTENER) is b


def test_a_topic_deleted_and_made_again() -> None:
    world = World(broker(1, L=9092), *topic("a", A))
    view = world.view.on_listener("L")
    assert view.topic("a", SHOW_LISTENER) is not None
    world.apply(RemoveTopicRecord(topic_id=A))
    assert view.topic("a", SHOW_LISTENER) is None
    world.apply(*topic("a", B))
    again = view.topic("a", SHOW_LISTENER)
    assert again is not None
    assert again.topic_id == B


def test_every_listener_sees_its_own_addresses() -> None:
    world = World(broker(1, L=9092, M=9192), broker(2, M=9292))
    assert [(at.node_id, at.port) for at in world.view.on_listener("L").brokers()] == [(1, 9092)]
    assert [(at.node_id, at.port) for at in world.view.on_listener("M").brokers()] == [
        (1, 9192),
        (2, 9292),
    ]


def test_a_broker_that_changes_changes_every_topic() -> None:
    world = World(broker(1, L=9092), *topic("a", A))
    view = world.view.on_listener("L")
    found = view.topic("a", SHOW_LISTENER)
    assert found is not None
    assert found.partitions[0].leader_id == 1
    brokers = view.brokers()
    assert view.brokers() is brokers
    world.apply(broker(1, fenced=True, L=9092))
    found = view.topic("a", SHOW_LISTENER)
    assert found is not None
    assert found.partitions[0].leader_id == -1
    assert view.brokers() == []


def test_a_replica_in_a_lost_directory_is_offline() -> None:
    world = World(broker(1, L=9092), *topic("a", A))
    directories = PartitionChangeRecord(topic_id=A, partition_id=0, directories=[b"x" * 16])
    world.apply(directories)
    found = world.view.on_listener("L").topic("a", SHOW_LISTENER)
    assert found is not None
    assert found.partitions[0].offline_replicas == [1]


def test_any_live_broker_passes_for_the_controller() -> None:
    world = World(broker(1, fenced=True, L=1), broker(2, L=2))
    assert world.view.controller_id() == 2
    assert World().view.controller_id() == -1
