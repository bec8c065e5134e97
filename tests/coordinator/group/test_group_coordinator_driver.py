"""The coordinator and the metadata: elections, resignations, deleted topics."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group.settings import GROUP_METADATA_TOPIC
from pykbroker.coordinator.hosted_shard import HostState
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from tests.broker.handlers.group_broker import OFFSETS_TOPIC_NUMBER, GroupBroker
from tests.replication.node import topic_id_of


@pytest.fixture
def broker() -> GroupBroker:
    return GroupBroker()


def move(broker: GroupBroker, partition: int, leader: int) -> None:
    broker.node.apply(
        PartitionChangeRecord(
            topic_id=topic_id_of(OFFSETS_TOPIC_NUMBER),
            partition_id=partition,
            replicas=[1, 2],
            isr=[1, 2],
            leader=leader,
        )
    )


def test_every_partition_it_leads_is_hosted(broker: GroupBroker) -> None:
    hosted = broker.groups.runtime._hosted
    assert sorted(hosted) == [0, 1, 2]
    assert {one.state for one in hosted.values()} == {HostState.ACTIVE}
    assert [one.shard for one in hosted.values()] == [None, None, None]


def test_a_partition_that_moves_away_and_comes_back(broker: GroupBroker) -> None:
    partition = broker.groups.partition_for("g")
    member = broker.stable_group("g")
    move(broker, partition, leader=2)
    assert partition not in broker.groups.runtime._hosted
    assert broker.describe("g").error_code == 16
    move(broker, partition, leader=1)
    broker.advance(0)
    hosted = broker.groups.runtime._hosted[partition]
    assert hosted.leader_epoch == 2
    assert hosted.shard.groups["g"].members[member].assignment == b"all"


def test_the_topic_is_deleted(broker: GroupBroker) -> None:
    broker.node.delete_topic(OFFSETS_TOPIC_NUMBER)
    assert broker.groups.runtime._hosted == {}
    assert broker.node.image.topic(GROUP_METADATA_TOPIC) is None


def test_other_topics_do_not_matter(broker: GroupBroker) -> None:
    before = dict(broker.groups.runtime._hosted)
    broker.node.create_topic("other", number=55)
    broker.node.delete_topic(55)
    assert broker.groups.runtime._hosted == before
