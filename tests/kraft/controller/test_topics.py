"""CreateTopics, DeleteTopics, CreatePartitions: rules, error codes and texts of Kafka."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller import batch_size
from pykbroker.protocol.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from pykbroker.protocol.messages.create_topics_request import CreatableTopic
from pykbroker.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from tests.kraft.controller.controller_world import ControllerWorld, names_of, topic


@pytest.fixture
def world() -> ControllerWorld:
    return ControllerWorld().brokers(1)


def test_a_topic_its_configs_and_its_partitions_are_written_in_this_order(
    world: ControllerWorld,
) -> None:
    start = len(world.log)
    (result,) = world.create(topic("t", 2, configs={"retention.ms": "1000"})).topics
    assert names_of(world.log[start:]) == [
        "TopicRecord",
        "ConfigRecord",
        "PartitionRecord",
        "PartitionRecord",
    ]
    assert (result.error_code, result.error_message) == (0, None)
    assert (result.num_partitions, result.replication_factor) == (2, 1)
    assert result.topic_id == world.image.topics_by_name["t"].id
    retention = next(config for config in result.configs if config.name == "retention.ms")
    assert (retention.value, retention.config_source) == ("1000", 1)
    assert world.image.topic_config("t") == {"retention.ms": "1000"}
    partition = world.partition("t", 1)
    assert (partition.leader, partition.leader_epoch, partition.isr) == (1, 0, (1,))


def test_the_brokers_defaults_hold_when_the_client_says_minus_one() -> None:
    world = ControllerWorld(num_partitions="3").brokers(1)
    (result,) = world.create(topic("t", -1, -1)).topics
    assert (result.num_partitions, result.replication_factor) == (3, 1)


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (topic("t", 0), "INVALID_PARTITIONS", "invalid non-positive value"),
        (topic("t", -2), "INVALID_PARTITIONS", "invalid non-positive value"),
        (topic("t", 1, 0), "INVALID_REPLICATION_FACTOR", "must be larger than 0, or -1"),
        (topic("t", 1, 2), "INVALID_REPLICATION_FACTOR", "only 1 broker(s) are registered"),
        (topic(""), "INVALID_TOPIC_EXCEPTION", "the empty string is not allowed"),
        (topic(".."), "INVALID_TOPIC_EXCEPTION", "'..' is not allowed"),
        (topic("a b"), "INVALID_TOPIC_EXCEPTION", "other than ASCII alphanumerics"),
        (topic("x" * 250), "INVALID_TOPIC_EXCEPTION", "longer than the max allowed length 249"),
        (topic("there"), "TOPIC_ALREADY_EXISTS", "Topic 'there' already exists."),
        (topic("a_b"), "INVALID_TOPIC_EXCEPTION", "collides with existing topic: a.b"),
        (topic("__cluster_metadata"), "INVALID_REQUEST", "is prohibited"),
        (topic("t", configs={"nonsense": "1"}), "INVALID_CONFIG", "nonsense"),
        (topic("t", configs={"retention.ms": "x"}), "INVALID_CONFIG", "retention.ms"),
        (topic("t", configs={"retention.ms": None}), "INVALID_CONFIG", "Null value not supported"),
        (topic("t", assignments={0: [9]}), "INVALID_REPLICA_ASSIGNMENT", "includes broker 9"),
        (topic("t", assignments={0: []}), "INVALID_REPLICA_ASSIGNMENT", "empty replica list"),
        (topic("t", assignments={0: [1, 1]}), "INVALID_REPLICA_ASSIGNMENT", "more than once"),
        (topic("t", assignments={1: [1]}), "INVALID_REPLICA_ASSIGNMENT", "consecutive 0-based"),
    ],
)
def test_refusals(world: ControllerWorld, asked: CreatableTopic, code: str, message: str) -> None:
    world.create(topic("there"), topic("a.b"))
    before = len(world.log)
    (result,) = world.create(asked).topics
    assert ErrorCode(result.error_code).name == code
    assert message in result.error_message
    assert len(world.log) == before


@pytest.mark.parametrize(("field", "value"), [("num_partitions", 1), ("replication_factor", 1)])
def test_a_manual_assignment_excludes_numbers(
    world: ControllerWorld, field: str, value: int
) -> None:
    asked = topic("t", assignments={0: [1]})
    setattr(asked, field, value)
    (result,) = world.create(asked).topics
    assert result.error_code == ErrorCode.INVALID_REQUEST


def test_a_manual_assignment_is_kept(world: ControllerWorld) -> None:
    world.brokers(2, 3)
    world.create(topic("t", assignments={1: [2, 3], 0: [3, 1]}))
    assert world.partition("t", 0).replicas == (3, 1)
    assert world.partition("t", 1).leader == 2


def test_uneven_manual_assignments_are_refused(world: ControllerWorld) -> None:
    world.brokers(2)
    (result,) = world.create(topic("t", assignments={0: [1, 2], 1: [1]})).topics
    assert "not consistent with previous" in result.error_message


def test_one_bad_topic_does_not_stop_another(world: ControllerWorld) -> None:
    results = world.create(topic("good"), topic("bad", 0)).topics
    assert [result.error_code for result in results] == [0, ErrorCode.INVALID_PARTITIONS]
    assert set(world.image.topics_by_name) == {"good"}


def test_a_name_twice_is_refused_once(world: ControllerWorld) -> None:
    results = world.create(topic("t"), topic("t"), topic("u")).topics
    assert [(result.name, result.error_code) for result in results] == [
        ("u", 0),
        ("t", ErrorCode.INVALID_REQUEST),
    ]


def test_validate_only_writes_nothing(world: ControllerWorld) -> None:
    before = len(world.log)
    (result,) = world.create(topic("t"), validate_only=True).topics
    assert (result.error_code, len(world.log)) == (0, before)


TOO_MANY_PARTITIONS = "Excessively large number of partitions per request."
TOO_MANY_RECORDS = "Unable to perform excessively large batch operation."


def test_partitions_and_records_of_one_request() -> None:
    world = ControllerWorld(num_partitions="3").brokers(1)
    with pytest.raises(KafkaError, match=TOO_MANY_PARTITIONS) as refused:
        world.create(topic("t", 10_001))
    assert refused.value.code == ErrorCode.POLICY_VIOLATION
    # As many partitions as a request may have are one record too many: the topic's own.
    with pytest.raises(KafkaError, match=TOO_MANY_RECORDS) as refused:
        world.create(topic("t", 10_000))
    assert refused.value.code == ErrorCode.POLICY_VIOLATION
    # Defaults, counts and assignments add up; counts that make no sense do not.
    manual = topic("b", assignments={0: [1], 1: [1]})
    for rest, message in ((9_996, TOO_MANY_PARTITIONS), (9_995, TOO_MANY_RECORDS)):
        with pytest.raises(KafkaError, match=message):
            world.create(topic("a", -1), manual, topic("c", rest), topic("d", -7))
    assert world.image.topics_by_name == {}
    (result,) = world.create(topic("t", 9_999), validate_only=True).topics
    assert (result.error_code, result.num_partitions) == (0, 9_999)


def test_so_many_topics_are_deleted_at_once_and_no_more(
    world: ControllerWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_size, "MAX_RECORDS_PER_REQUEST", 4)
    names = ["a", "b", "c", "d", "e"]
    for name in names:
        world.create(topic(name))
    with pytest.raises(KafkaError, match=TOO_MANY_RECORDS):
        world.decide(world.controller.delete_topics, DeleteTopicsRequest(topic_names=names), 5)
    assert len(world.image.topics_by_name) == 5
    world.decide(world.controller.delete_topics, DeleteTopicsRequest(topic_names=names[:4]), 5)
    assert list(world.image.topics_by_name) == ["e"]


def test_no_broker_to_place_on() -> None:
    world = ControllerWorld()
    (result,) = world.create(topic("t")).topics
    assert result.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert "All brokers are currently fenced" in result.error_message


# Deleting.


def delete(world: ControllerWorld, version: int = 6, **asked: Any) -> list[tuple[Any, ...]]:
    reply = world.decide(world.controller.delete_topics, DeleteTopicsRequest(**asked), version)
    return [(result.name, result.topic_id, result.error_code) for result in reply.responses]


def test_delete_by_name_and_by_id(world: ControllerWorld) -> None:
    world.create(topic("a", configs={"retention.ms": "1"}), topic("b"))
    a, b = (world.image.topics_by_name[name].id for name in "ab")
    by_name = delete(world, topics=[DeleteTopicState(name="a"), DeleteTopicState(topic_id=b)])
    assert sorted(by_name) == [("a", a, 0), ("b", b, 0)]
    assert world.image.topics_by_name == {}
    assert world.image.configs == {}


def test_delete_what_is_not_there(world: ControllerWorld) -> None:
    unknown = b"u" * 16
    topics = [DeleteTopicState(name="x"), DeleteTopicState(topic_id=unknown)]
    results = delete(world, topics=topics)
    assert (None, unknown, ErrorCode.UNKNOWN_TOPIC_ID) in results
    assert ("x", bytes(16), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) in results


def test_delete_requests_that_make_no_sense(world: ControllerWorld) -> None:
    world.create(topic("a"))
    topic_id = world.image.topics_by_name["a"].id
    both = DeleteTopicState(name="a", topic_id=topic_id)
    assert [code for *_, code in delete(world, topics=[both])] == [ErrorCode.INVALID_REQUEST]
    neither = DeleteTopicState(name=None)
    assert [code for *_, code in delete(world, topics=[neither])] == [ErrorCode.INVALID_REQUEST]
    assert [code for *_, code in delete(world, topic_names=["a", "a"])] == [
        ErrorCode.INVALID_REQUEST
    ]
    twice = [DeleteTopicState(name="a"), DeleteTopicState(topic_id=topic_id)]
    assert [code for *_, code in delete(world, topics=twice)] == [ErrorCode.INVALID_REQUEST]
    assert "a" in world.image.topics_by_name


@pytest.mark.parametrize(
    ("version", "code"),
    [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)],
)
def test_deletion_can_be_disabled(version: int, code: int) -> None:
    world = ControllerWorld(delete_topic_enable="false").brokers(1)
    with pytest.raises(KafkaError) as refused:
        delete(world, version, topic_names=["a"])
    assert refused.value.code == code


def test_a_topic_made_again_has_another_id(world: ControllerWorld) -> None:
    world.create(topic("a"))
    first = world.image.topics_by_name["a"].id
    delete(world, topic_names=["a"])
    world.create(topic("a"))
    assert world.image.topics_by_name["a"].id != first


# Partitions.


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
