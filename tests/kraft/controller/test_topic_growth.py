"""CreatePartitions: rules, error codes and texts of Kafka."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.kraft.controller.controller_world import ControllerWorld, topic
from tests.kraft.controller.test_topics import TOO_MANY_RECORDS


@pytest.fixture
def world() -> ControllerWorld:
    return ControllerWorld().brokers(1)


def grow(world: ControllerWorld, *topics: CreatePartitionsTopic, only: bool = False) -> list[Any]:
    request = CreatePartitionsRequest(topics=list(topics), validate_only=only)
    results: list[Any] = world.decide(world.controller.create_partitions, request).results
    return results


def more(name: str, count: int, assignments: list[list[int]] | None = None) -> Any:
    manual = None
    if assignments is not None:
        manual = [CreatePartitionsAssignment(broker_ids=replicas) for replicas in assignments]
    return CreatePartitionsTopic(name=name, count=count, assignments=manual)


def test_partitions_are_added(world: ControllerWorld) -> None:
    world.create(topic("t", 2))
    assert [result.error_code for result in grow(world, more("t", 4))] == [0]
    assert sorted(world.image.topics_by_name["t"].partitions) == [0, 1, 2, 3]
    grow(world, more("t", 5, [[1]]))
    assert world.partition("t", 4).replicas == (1,)


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (more("t", 2), "INVALID_PARTITIONS", "Topic already has 2 partition(s)."),
        (more("t", 1), "INVALID_PARTITIONS", "1 would not be an increase."),
        (more("x", 3), "UNKNOWN_TOPIC_OR_PARTITION", ""),
        (more("t", 3, [[1], [1]]), "INVALID_REPLICA_ASSIGNMENT", "only 2 assignment(s)"),
        (more("t", 3, [[1, 2]]), "INVALID_REPLICA_ASSIGNMENT", "includes broker 2"),
        (more("t", 10_003), "POLICY_VIOLATION", "Excessively large"),
    ],
)
def test_partitions_refused(world: ControllerWorld, asked: Any, code: str, message: str) -> None:
    world.create(topic("t", 2))
    (result,) = grow(world, asked)
    assert ErrorCode(result.error_code).name == code
    assert message in (result.error_message or "")


def test_as_many_partitions_are_added_as_one_request_may_add(world: ControllerWorld) -> None:
    world.create(topic("t", 2), topic("u"))
    first, second = grow(world, more("t", 10_002), more("u", 2), only=True)
    assert (first.error_code, first.error_message) == (0, None)
    assert second.error_code == ErrorCode.POLICY_VIOLATION
    assert second.error_message == TOO_MANY_RECORDS


def test_growing_twice_or_for_validation(world: ControllerWorld) -> None:
    world.create(topic("t"))
    assert [result.error_code for result in grow(world, more("t", 2), more("t", 3))] == [
        ErrorCode.INVALID_REQUEST
    ]
    grow(world, more("t", 2), only=True)
    assert len(world.image.topics_by_name["t"].partitions) == 1
