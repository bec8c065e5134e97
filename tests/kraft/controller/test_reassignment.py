"""Reassignments: begin, complete, replace, cancel, list."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.errors import ErrorCode
from pykbroker.kraft.controller import batch_size
from pykbroker.kraft.controller.partition_change import Targets, change_partition
from pykbroker.kraft.controller.partitions import leader_acceptor
from pykbroker.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from pykbroker.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.kraft.controller.controller_world import ControllerWorld, directory_of, topic


@pytest.fixture
def world() -> ControllerWorld:
    """t-0 on brokers 1 and 2, of four."""
    world = ControllerWorld().brokers(1, 2, 3, 4)
    world.create(topic("t", assignments={0: [1, 2]}))
    return world


def reassign(
    world: ControllerWorld,
    replicas: list[int] | None,
    *,
    name: str = "t",
    number: int = 0,
    may_change_factor: bool = True,
) -> tuple[int, str | None]:
    asked = ReassignablePartition(partition_index=number, replicas=replicas)
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=name, partitions=[asked])],
        allow_replication_factor_change=may_change_factor,
    )
    reply: Any = world.decide(world.controller.alter_partition_reassignments, request)
    assert (reply.error_code, reply.error_message) == (0, None)
    assert reply.allow_replication_factor_change is may_change_factor
    (result,) = reply.responses
    (answer,) = result.partitions
    assert (result.name, answer.partition_index) == (name, number)
    return answer.error_code, answer.error_message


def listed(world: ControllerWorld, asked: dict[str, list[int]] | None = None) -> dict[Any, Any]:
    topics = None
    if asked is not None:
        topics = [
            ListPartitionReassignmentsTopics(name=name, partition_indexes=numbers)
            for name, numbers in asked.items()
        ]
    request = ListPartitionReassignmentsRequest(topics=topics)
    before = len(world.log)
    reply: Any = world.decide(world.controller.list_partition_reassignments, request)
    assert len(world.log) == before
    return {
        (at.name, each.partition_index): (
            each.replicas,
            each.adding_replicas,
            each.removing_replicas,
        )
        for at in reply.topics
        for each in at.partitions
    }


def set_isr(world: ControllerWorld, *isr: int) -> None:
    """As AlterPartition of the leader will."""
    state = world.controller.state
    at = world.image.topics_by_name["t"]
    record = change_partition(
        at.id,
        0,
        at.partitions[0],
        Targets(isr=isr),
        acceptable=leader_acceptor(state, at.partitions[0]),
        default_directory=state.default_directory,
        rules=state.rules(at),
    )
    assert record is not None
    world.commit(Decision(records=[record]))


def test_begin_and_complete(world: ControllerWorld) -> None:
    before = world.partition("t")
    assert reassign(world, [2, 3]) == (0, None)
    moving = world.partition("t")
    assert moving.replicas == (2, 3, 1)
    assert (moving.adding_replicas, moving.removing_replicas) == ((3,), (1,))
    assert (moving.leader, moving.isr) == (1, (1, 2))
    assert moving.leader_epoch == before.leader_epoch
    assert moving.directories == tuple(map(directory_of, (2, 3, 1)))
    assert listed(world) == {("t", 0): ([2, 3, 1], [3], [1])}
    set_isr(world, 1, 2, 3)
    moved = world.partition("t")
    assert (moved.replicas, moved.isr, moved.leader) == ((2, 3), (2, 3), 2)
    assert (moved.adding_replicas, moved.removing_replicas) == ((), ())
    assert moved.directories == tuple(map(directory_of, (2, 3)))
    assert moved.leader_epoch == before.leader_epoch + 1
    assert listed(world) == {}


def test_another_order_and_fewer_replicas_complete_at_once(world: ControllerWorld) -> None:
    assert reassign(world, [2, 1]) == (0, None)
    assert world.partition("t").replicas == (2, 1)
    assert world.partition("t").leader == 1
    assert reassign(world, [2]) == (0, None)
    moved = world.partition("t")
    assert (moved.replicas, moved.isr, moved.leader) == ((2,), (2,), 2)
    assert listed(world) == {}


def test_to_where_it_is_already(world: ControllerWorld) -> None:
    before = len(world.log)
    assert reassign(world, [1, 2]) == (0, None)
    assert len(world.log) == before


def test_a_second_request_replaces_the_first(world: ControllerWorld) -> None:
    reassign(world, [2, 3])
    assert reassign(world, [1, 4]) == (0, None)
    moving = world.partition("t")
    assert moving.replicas == (1, 4, 2, 3)
    assert (moving.adding_replicas, moving.removing_replicas) == ((4,), (2, 3))


def test_to_all_the_replicas_of_one_under_way_changes_nothing(world: ControllerWorld) -> None:
    """As in Kafka: what is to be removed is still removed."""
    reassign(world, [2, 3])
    before = world.partition("t")
    assert reassign(world, [2, 3, 1]) == (0, None)
    assert world.partition("t") == before


def test_one_that_removes_what_is_being_added_waits_until_it_is_cancelled(
    world: ControllerWorld,
) -> None:
    """As in Kafka: it waits for the replica that is still said to be added."""
    reassign(world, [1, 2, 3])
    assert reassign(world, [1, 2]) == (0, None)
    waiting = world.partition("t")
    assert (waiting.adding_replicas, waiting.removing_replicas) == ((3,), (3,))
    set_isr(world, 1, 2, 3)
    assert world.partition("t").adding_replicas == (3,)
    assert reassign(world, None) == (0, None)
    assert (world.partition("t").replicas, listed(world)) == ((1, 2), {})


def test_cancel(world: ControllerWorld) -> None:
    nothing = (ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None)
    assert reassign(world, None) == nothing
    reassign(world, [3, 4])
    assert world.partition("t").replicas == (3, 4, 1, 2)
    assert reassign(world, None) == (0, None)
    back = world.partition("t")
    assert (back.replicas, back.isr, back.leader) == ((1, 2), (1, 2), 1)
    assert (back.adding_replicas, back.removing_replicas) == ((), ())
    assert reassign(world, None) == nothing


@pytest.mark.parametrize("unclean", ["true", "false"])
def test_cancel_when_only_added_replicas_are_in_sync(unclean: str) -> None:
    world = ControllerWorld().brokers(1, 2, 3)
    config = {"unclean.leader.election.enable": unclean}
    world.create(topic("t", assignments={0: [1]}, configs=config))
    reassign(world, [2, 3])
    at = world.image.topics_by_name["t"]
    from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord

    record = PartitionChangeRecord(partition_id=0, topic_id=at.id)
    record.isr, record.leader = [2], 2
    world.commit(Decision(records=[MetadataRecord(record, 2)]))
    code, message = reassign(world, None)
    partition = world.partition("t")
    if unclean == "true":
        assert (code, message) == (0, None)
        assert (partition.replicas, partition.isr, partition.leader) == ((1,), (1,), 1)
    else:
        assert code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        assert message == (
            "Unable to revert partition assignment for t:0 because it would require an unclean "
            "leader election."
        )
        assert partition.leader == 2


def test_what_cannot_be(world: ControllerWorld) -> None:
    before = len(world.log)
    invalid = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    start = "The manual partition assignment includes "
    assert reassign(world, []) == (invalid, f"{start}an empty replica list.")
    assert reassign(world, [2, 2]) == (invalid, f"{start}the broker 2 more than once.")
    assert reassign(world, [9]) == (
        invalid,
        f"{start}broker 9, but no such broker is registered.",
    )
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert reassign(world, [1], name="x") == (unknown, "Unable to find a topic named x.")
    assert reassign(world, [1], number=7) == (unknown, "Unable to find partition t:7.")
    assert len(world.log) == before


def test_the_replication_factor_may_be_protected(world: ControllerWorld) -> None:
    refused = ErrorCode.INVALID_REPLICATION_FACTOR
    assert reassign(world, [1], may_change_factor=False) == (
        refused,
        "The replication factor is changed from 2 to 1",
    )
    assert reassign(world, [3, 4], may_change_factor=False) == (0, None)
    # While it is under way, the replicas that stay and those that come count.
    assert reassign(world, [1, 2, 3, 4], may_change_factor=False)[0] == refused
    assert reassign(world, [1, 3], may_change_factor=False) == (0, None)


def test_each_partition_has_its_own_result(world: ControllerWorld) -> None:
    world.create(topic("u", assignments={0: [1], 1: [1]}))
    asked = [
        ReassignablePartition(partition_index=number, replicas=replicas)
        for number, replicas in ((0, [9]), (1, [2]))
    ]
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name="u", partitions=asked)]
    )
    reply: Any = world.decide(world.controller.alter_partition_reassignments, request)
    codes = [answer.error_code for answer in reply.responses[0].partitions]
    assert codes == [ErrorCode.INVALID_REPLICA_ASSIGNMENT, 0]
    assert world.partition("u", 1).adding_replicas == (2,)


def test_list_of_some(world: ControllerWorld) -> None:
    world.create(topic("u", assignments={0: [1], 1: [1]}))
    reassign(world, [2, 3])
    reassign(world, [2], name="u", number=1)
    assert listed(world).keys() == {("t", 0), ("u", 1)}
    assert listed(world, {"u": [0, 1, 5], "x": [0]}) == {("u", 1): ([2, 1], [2], [1])}


def test_a_new_replica_on_a_fenced_broker_waits(world: ControllerWorld) -> None:
    world.heartbeat(3, want_fence=True)
    assert reassign(world, [3]) == (0, None)
    moving = world.partition("t")
    assert (moving.replicas, moving.leader) == ((3, 1, 2), 1)


def test_so_many_records_and_no_more(
    world: ControllerWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.create(topic("u", assignments={number: [1] for number in range(3)}))
    monkeypatch.setattr(batch_size, "MAX_RECORDS_PER_REQUEST", 2)
    request = AlterPartitionReassignmentsRequest(
        topics=[
            ReassignableTopic(
                name="u",
                partitions=[
                    ReassignablePartition(partition_index=number, replicas=[2])
                    for number in range(3)
                ],
            )
        ]
    )
    reply: Any = world.decide(world.controller.alter_partition_reassignments, request)
    codes = [answer.error_code for answer in reply.responses[0].partitions]
    assert codes == [0, 0, ErrorCode.POLICY_VIOLATION]
