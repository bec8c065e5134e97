"""ElectLeaders: what a client may ask for, and what it gets."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller import elections
from pykbroker.kraft.controller.elections import PREFERRED, UNCLEAN
from pykbroker.kraft.partition_image import NO_LEADER
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.elect_leaders_request import (
    ElectLeadersRequest,
    TopicPartitions,
)
from tests.kraft.controller.controller_world import ControllerWorld, directory_of, topic


@pytest.fixture
def world() -> ControllerWorld:
    """t-0 is led by 2 though 1 is preferred and in sync; t-1 by its preferred leader."""
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", assignments={0: [1, 2], 1: [2, 1]}))
    world.heartbeat(1, want_fence=True)
    world.heartbeat(1)
    assert world.partition("t").isr == (2,)
    add_to_isr(world, 1)
    return world


def add_to_isr(world: ControllerWorld, *brokers: int) -> None:
    """As AlterPartition of the leader would."""
    from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord

    found = world.image.topics_by_name["t"]
    record = PartitionChangeRecord(partition_id=0, topic_id=found.id)
    record.isr = [*found.partitions[0].isr, *brokers]
    world.commit(Decision(records=[MetadataRecord(record, 2)]))


def elect(
    world: ControllerWorld, asked: dict[str, list[int]] | None, election: int = PREFERRED
) -> dict[tuple[str, int], tuple[int, str | None]]:
    topics = None
    if asked is not None:
        topics = [TopicPartitions(topic=name, partitions=asked[name]) for name in asked]
    request = ElectLeadersRequest(election_type=election, topic_partitions=topics)
    reply: Any = world.decide(world.controller.elect_leaders, request)
    assert reply.error_code == 0
    return {
        (at.topic, each.partition_id): (each.error_code, each.error_message)
        for at in reply.replica_election_results
        for each in at.partition_result
    }


NOT_NEEDED = (ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")


def test_the_preferred_leader_takes_over(world: ControllerWorld) -> None:
    before = world.partition("t")
    assert before.leader == 2
    assert elect(world, {"t": [0, 1]}) == {("t", 0): (0, None), ("t", 1): NOT_NEEDED}
    after = world.partition("t")
    assert (after.leader, after.leader_epoch) == (1, before.leader_epoch + 1)
    assert after.isr == before.isr
    assert elect(world, {"t": [0]}) == {("t", 0): NOT_NEEDED}


def test_null_is_every_partition_and_only_elections_are_told(world: ControllerWorld) -> None:
    assert elect(world, None) == {("t", 0): (0, None)}
    assert world.partition("t").leader == 1
    assert elect(world, None) == {}


def test_a_preferred_leader_that_is_not_in_sync() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", assignments={0: [1, 2]}))
    world.heartbeat(1, want_fence=True)
    code, message = elect(world, {"t": [0]})["t", 0]
    assert code == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    assert message == "The preferred leader was not available."
    assert world.partition("t").leader == 2


def test_unclean_only_for_a_partition_without_a_leader() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", assignments={0: [1, 2]}))
    assert elect(world, {"t": [0]}, UNCLEAN) == {("t", 0): NOT_NEEDED}
    world.heartbeat(2, want_fence=True)
    world.heartbeat(1, want_fence=True)
    assert world.partition("t").leader == NO_LEADER
    code, message = elect(world, {"t": [0]}, UNCLEAN)["t", 0]
    assert code == ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    assert message == "Eligible topic partition leaders are not available."
    world.heartbeat(2)
    assert world.partition("t").leader == NO_LEADER
    assert elect(world, {"t": [0]}, UNCLEAN) == {("t", 0): (0, None)}
    partition = world.partition("t")
    assert (partition.leader, partition.isr, partition.leader_recovery_state) == (2, (2,), 1)


def test_a_replica_in_an_offline_directory_is_not_elected() -> None:
    world = ControllerWorld().brokers(1)
    world.create(topic("t", assignments={0: [1]}))
    world.heartbeat(1, offline_log_dirs=[directory_of(1)])
    other = b"o" * 16
    world.fail_over()
    world.register(1, log_dirs=[other], incarnation_id=b"2" * 16)
    world.heartbeat(1)
    assert elect(world, {"t": [0]}, UNCLEAN)["t", 0][0] == ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE


def test_unknown_topics_and_partitions(world: ControllerWorld) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert elect(world, {"t": [9], "x": [0]}) == {
        ("t", 9): (unknown, "No such partition as t-9"),
        ("x", 0): (unknown, "No such topic as x"),
    }


def test_an_unknown_election_type(world: ControllerWorld) -> None:
    with pytest.raises(KafkaError, match="Unknown election type 2") as caught:
        elect(world, {"t": [0]}, 2)
    assert caught.value.code == ErrorCode.INVALID_REQUEST


def test_leadership_goes_back_to_preferred_replicas_by_the_clock(world: ControllerWorld) -> None:
    assert world.decide(world.controller.balance_leaders) is False
    assert world.partition("t").leader == 1
    before = world.image
    assert world.decide(world.controller.balance_leaders) is False
    assert world.image.topics_by_name == before.topics_by_name


def test_elections_by_the_clock_come_in_portions(
    world: ControllerWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elections, "MAX_ELECTIONS", 1)
    assert world.decide(world.controller.balance_leaders) is True
    assert world.decide(world.controller.balance_leaders) is False


def test_a_leader_is_found_by_the_clock_where_records_may_be_lost() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", assignments={0: [1, 2]}))
    world.heartbeat(2, want_fence=True)
    world.heartbeat(2)
    world.heartbeat(1, want_fence=True)
    alone = (NO_LEADER, (1,))
    assert (world.partition("t").leader, world.partition("t").isr) == alone
    assert world.decide(world.controller.elect_unclean_leaders) is False
    assert (world.partition("t").leader, world.partition("t").isr) == alone
    allow = ConfigRecord(
        resource_type=2, resource_name="t", name="unclean.leader.election.enable", value="true"
    )
    world.commit(Decision(records=[MetadataRecord(allow)]))
    assert world.decide(world.controller.elect_unclean_leaders) is False
    assert (world.partition("t").leader, world.partition("t").isr) == (2, (2,))
