"""Topics the broker makes by itself."""

from __future__ import annotations

import pytest

from pykbroker.broker.metadata.topic_creation import TopicCreation
from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.create_topics_request import CreateTopicsRequest
from pykbroker.protocol.messages.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)
from tests.broker.handlers.group_broker import GroupBroker


def response(name: str, code: int) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[CreatableTopicResult(name=name, error_code=code)])


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (response("t", 0), 0),
        (response("t", 36), 0),  # TOPIC_ALREADY_EXISTS: it is there
        (response("t", 38), 38),
        (response("other", 0), -1),
        (KafkaError(ErrorCode.NOT_CONTROLLER), int(ErrorCode.NOT_CONTROLLER)),
    ],
)
def test_outcomes(outcome: object, code: int) -> None:
    submitted: list[tuple[CreateTopicsRequest, int, Deferred]] = []

    def submit(request: CreateTopicsRequest, deadline_ms: int) -> Deferred:
        deferred = Deferred()
        submitted.append((request, deadline_ms, deferred))
        return deferred

    config = BrokerConfig.from_properties(standalone_properties("/d"))
    creation = TopicCreation(submit, config=lambda: config, now_ms=lambda: 1000)
    codes: list[dict[str, int]] = []
    creation.create_all(["t"]).on_resolved(codes.append)
    creation.create_all(["t"]).on_resolved(codes.append)
    ((_, deadline_ms, deferred),) = submitted  # one creation in flight
    assert deadline_ms == 31_000
    deferred.resolve(outcome)
    assert codes == [{"t": code}, {"t": code}]
    creation.create_all(["t"])
    assert len(submitted) == 2


def test_several_topics_with_the_brokers_defaults() -> None:
    broker = GroupBroker(num_partitions="4")
    outcome = broker.topic_creation.create_all(["a", "b", "a"])
    assert outcome.value == {"a": 0, "b": 0}
    (request,) = broker.created
    assert [(topic.name, topic.num_partitions) for topic in request.topics] == [("a", 4), ("b", 4)]
    assert broker.topic_creation.create_all([]).value == {}


def test_more_topics_than_one_request_may_create_are_not_created() -> None:
    broker = GroupBroker(num_partitions="4")
    names = [f"t{number}" for number in range(2501)]
    assert set(broker.topic_creation.create_all(names).value.values()) == {
        int(ErrorCode.POLICY_VIOLATION)
    }
    assert not broker.created
    assert broker.topic_creation.create_all(names[:2500]).value == dict.fromkeys(names[:2500], 0)
