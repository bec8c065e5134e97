"""DeleteTopics at the handler: every version."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.handlers import delete_topics
from pykbroker.broker.handlers.delete_topics import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from tests.broker.handlers.admin_broker import AdminBroker


@pytest.mark.parametrize("version", range(1, 6))
def test_by_name(version: int) -> None:
    broker = AdminBroker()
    broker.create("t")
    answer = broker.call(
        HANDLER, DeleteTopicsRequest(topic_names=["t", "x"], timeout_ms=1000), version
    )
    assert {(result.name, result.error_code) for result in answer.responses} == {
        ("t", 0),
        ("x", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    }
    assert broker.image.topics_by_name == {}


def test_by_id() -> None:
    broker = AdminBroker()
    topic = broker.create("t")
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=None, topic_id=topic.id)], timeout_ms=1000
    )
    (result,) = broker.call(HANDLER, request, 6).responses
    assert (result.name, result.topic_id, result.error_code) == ("t", topic.id, 0)
    (result,) = broker.call(HANDLER, request, 6).responses
    assert (result.name, result.error_code) == (None, ErrorCode.UNKNOWN_TOPIC_ID)


@pytest.mark.parametrize(
    ("version", "code"), [(2, "INVALID_REQUEST"), (3, "TOPIC_DELETION_DISABLED")]
)
def test_deletion_disabled(version: int, code: str) -> None:
    broker = AdminBroker(delete_topic_enable="false")
    (result,) = broker.call(HANDLER, DeleteTopicsRequest(topic_names=["t"]), version).responses
    assert ErrorCode(result.error_code).name == code


def test_deletion_disabled_by_id() -> None:
    broker = AdminBroker(delete_topic_enable="false")
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=None, topic_id=b"t" * 16)])
    (result,) = broker.call(HANDLER, request, 6).responses
    assert (result.topic_id, result.error_code) == (b"t" * 16, ErrorCode.TOPIC_DELETION_DISABLED)
    assert result.error_message is None


def test_a_controller_elsewhere_has_time_to_say_that_deletion_is_disabled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int | None] = []

    def forward(services: Any, request: Any, timeout_ms: int | None = None) -> None:
        asked.append(timeout_ms)

    monkeypatch.setattr(delete_topics, "to_controller", forward)
    broker = AdminBroker(delete_topic_enable="false")
    for timeout_ms in (0, 500):
        request: Any = SimpleNamespace(message=DeleteTopicsRequest(timeout_ms=timeout_ms))
        delete_topics.handle(broker, request)  # type: ignore[arg-type]
    assert asked == [None, 500]


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_no_time_at_all(timeout_ms: int) -> None:
    broker = AdminBroker()
    broker.create("t")
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name="t", topic_id=bytes(16))], timeout_ms=timeout_ms
    )
    (result,) = broker.call(HANDLER, request, 6).responses
    assert (result.name, result.error_code) == ("t", ErrorCode.REQUEST_TIMED_OUT)
    assert "t" in broker.image.topics_by_name
