"""DeleteTopics: rules, error codes and texts of Kafka."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller import batch_size
from pykbroker.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from tests.kraft.controller.controller_world import ControllerWorld, topic
from tests.kraft.controller.test_topics import TOO_MANY_RECORDS


@pytest.fixture
def world() -> ControllerWorld:
    return ControllerWorld().brokers(1)


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
