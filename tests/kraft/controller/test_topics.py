"""CreateTopics: rules, error codes and texts of Kafka."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.create_topics_request import CreatableTopic
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


def test_no_broker_to_place_on() -> None:
    world = ControllerWorld()
    (result,) = world.create(topic("t")).topics
    assert result.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert "All brokers are currently fenced" in result.error_message
