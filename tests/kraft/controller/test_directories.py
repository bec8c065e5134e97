"""Brokers report the log directories of their replicas."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.directory_assignment import assignment_request
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from tests.kraft.controller.controller_world import ControllerWorld, directory_of, topic

FIRST, SECOND = b"d" * 16, b"e" * 16


@pytest.fixture
def world() -> ControllerWorld:
    """Broker 1 with two directories and a topic of two partitions, broker 2 with one."""
    world = ControllerWorld().brokers(2)
    world.register(1, log_dirs=[FIRST, SECOND])
    world.heartbeat(1)
    world.create(
        topic("t", assignments={0: [1, 2], 1: [1, 2]}), topic("alone", assignments={0: [1]})
    )
    return world


def assign(world: ControllerWorld, placed: dict[tuple[bytes, int], bytes], broker: int = 1) -> Any:
    request = assignment_request(broker, world.image.brokers[broker].epoch, placed)
    return world.decide(world.controller.assign_replicas_to_dirs, request)


def codes(reply: Any) -> dict[tuple[bytes, bytes, int], int]:
    return {
        (directory.id, entry.topic_id, partition.partition_index): partition.error_code
        for directory in reply.directories
        for entry in directory.topics
        for partition in entry.partitions
    }


def test_what_is_told_is_remembered_once(world: ControllerWorld) -> None:
    topic_id = world.image.topics_by_name["t"].id
    placed = {(topic_id, 0): FIRST, (topic_id, 1): SECOND}
    assert codes(assign(world, placed)) == {(FIRST, topic_id, 0): 0, (SECOND, topic_id, 1): 0}
    assert world.partition("t", 0).directories == (FIRST, directory_of(2))
    assert world.partition("t", 1).directories == (SECOND, directory_of(2))
    assert world.partition("t", 0).leader == 1
    before = len(world.log)
    assign(world, placed)
    assert len(world.log) == before


def test_a_directory_that_fails_takes_its_replicas_along(world: ControllerWorld) -> None:
    topic_id = world.image.topics_by_name["t"].id
    alone = world.image.topics_by_name["alone"].id
    assign(world, {(topic_id, 0): FIRST, (topic_id, 1): SECOND, (alone, 0): FIRST})
    world.heartbeat(1, offline_log_dirs=[FIRST])
    assert (world.partition("t", 0).leader, world.partition("t", 0).isr) == (2, (2,))
    assert (world.partition("t", 1).leader, world.partition("t", 1).isr) == (1, (1, 2))
    assert world.partition("alone").leader == -1


def test_an_assignment_to_a_directory_that_is_offline_already(world: ControllerWorld) -> None:
    topic_id = world.image.topics_by_name["t"].id
    world.heartbeat(1, offline_log_dirs=[FIRST])
    assert world.partition("t", 0).leader == 1
    assign(world, {(topic_id, 0): FIRST})
    assert world.partition("t", 0).leader == 2
    assert world.partition("t", 0).directory_of(1) == FIRST


def test_faults_by_partition(world: ControllerWorld) -> None:
    topic_id = world.image.topics_by_name["t"].id
    alone = world.image.topics_by_name["alone"].id
    missing = b"m" * 16
    reply = assign(world, {(topic_id, 9): FIRST, (missing, 0): FIRST})
    assert codes(reply) == {
        (FIRST, topic_id, 9): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        (FIRST, missing, 0): ErrorCode.UNKNOWN_TOPIC_ID,
    }
    reply = assign(world, {(alone, 0): directory_of(2)}, broker=2)
    assert codes(reply) == {(directory_of(2), alone, 0): ErrorCode.NOT_LEADER_OR_FOLLOWER}


def test_a_stale_broker_is_refused(world: ControllerWorld) -> None:
    request = assignment_request(1, 999, {})
    with pytest.raises(KafkaError) as refused:
        world.controller.assign_replicas_to_dirs(request)
    assert refused.value.code == ErrorCode.STALE_BROKER_EPOCH


def test_a_broker_that_registered_before_the_upgrade_keeps_its_leaders() -> None:
    world = ControllerWorld(features={"metadata.version": 16}).brokers(1)
    world.create(topic("t"))
    assert world.image.brokers[1].directories == ()
    record = FeatureLevelRecord(name="metadata.version", feature_level=33)
    world.commit(Decision(records=[MetadataRecord(record)]))
    topic_id = world.image.topics_by_name["t"].id
    assert codes(assign(world, {(topic_id, 0): FIRST})) == {(FIRST, topic_id, 0): 0}
    partition = world.partition("t")
    assert (partition.leader, partition.directories) == (1, (FIRST,))
