"""Topics the broker makes by itself."""

from __future__ import annotations

import pytest

from pykbroker.broker.topic_creation import TopicCreation
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
    codes: list[int] = []
    creation.create("t").on_resolved(codes.append)
    creation.create("t").on_resolved(codes.append)
    ((_, deadline_ms, deferred),) = submitted  # one creation in flight
    assert deadline_ms == 31_000
    deferred.resolve(outcome)
    assert codes == [code, code]
    creation.create("t")
    assert len(submitted) == 2


def test_several_topics_with_the_brokers_defaults() -> None:
    broker = GroupBroker(num_partitions="4")
    outcome = broker.topic_creation.create_all(["a", "b", "a"])
    assert outcome.value == {"a": 0, "b": 0}
    assert [request.topics[0].name for request in broker.created] == ["a", "b"]
    assert [request.topics[0].num_partitions for request in broker.created] == [4, 4]
    assert broker.topic_creation.create_all([]).value == {}
