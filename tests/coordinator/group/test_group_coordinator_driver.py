"""The coordinator and the metadata: elections, resignations, deleted topics."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.hosted_shard import HostState
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
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
    assert broker.groups.runtime.machines() == []


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
    assert broker.groups.runtime.machines() == [hosted.shard]


def test_the_topic_is_deleted(broker: GroupBroker) -> None:
    broker.node.delete_topic(OFFSETS_TOPIC_NUMBER)
    assert broker.groups.runtime._hosted == {}
    assert broker.node.image.topic(GROUP_METADATA_TOPIC) is None


def test_other_topics_do_not_matter(broker: GroupBroker) -> None:
    before = dict(broker.groups.runtime._hosted)
    broker.node.create_topic("other", number=55)
    broker.node.delete_topic(55)
    assert broker.groups.runtime._hosted == before


def test_groups_are_spread_over_the_partitions_that_the_topic_has() -> None:
    broker = GroupBroker(offsets_topic_num_partitions="50")
    assert broker.groups.num_partitions == 3  # made by somebody with another configuration
    broker.stable_group("some group")
    broker.node.delete_topic(OFFSETS_TOPIC_NUMBER)
    assert broker.groups.num_partitions == 50


def test_members_hosts_are_shown_as_java_prints_them(broker: GroupBroker) -> None:
    protocols = [JoinGroupRequestProtocol(name="range", metadata=b"")]
    request = JoinGroupRequest(
        group_id="g", session_timeout_ms=10_000, protocol_type="consumer", protocols=protocols
    )
    for address in ("::1", "127.0.0.1"):
        broker.groups.join(request, 3, "c", address)
    hosts = [member.client_host for member in broker.describe("g").members]
    assert hosts == ["/0:0:0:0:0:0:0:1", "/127.0.0.1"]


def test_the_log_says_why_groups_rebalance(
    broker: GroupBroker, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="pykbroker.coordinator.group"):
        member = broker.stable_group("g")
        broker.advance(10_000)
    assert [record.getMessage() for record in caplog.records] == [
        f"group g: rebalance after generation 0: new member {member}",
        "group g: generation 1 with 1 members",
        f"group g: rebalance after generation 1: the session of {member} has expired",
        "group g: generation 2 with 0 members",
    ]
