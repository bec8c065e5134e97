"""CreateTopics at the handler: every version, and answers to whole requests."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.create_topics import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from tests.broker.handlers.admin_broker import AdminBroker


@pytest.mark.parametrize("version", range(2, 8))
def test_every_version(version: int) -> None:
    broker = AdminBroker()
    request = CreateTopicsRequest(
        topics=[
            CreatableTopic(name="t", num_partitions=2, replication_factor=1),
            CreatableTopic(name="bad", num_partitions=0, replication_factor=1),
        ]
    )
    good, bad = broker.call(HANDLER, request, version).topics
    topic = broker.image.topics_by_name["t"]
    assert (good.name, good.error_code, good.error_message) == ("t", 0, None)
    assert good.topic_id == (topic.id if version >= 7 else bytes(16))
    if version >= 5:
        assert (good.num_partitions, good.replication_factor) == (2, 1)
        assert len(good.configs) > 30
    assert bad.error_code == ErrorCode.INVALID_PARTITIONS
    assert "non-positive" in bad.error_message


def test_a_whole_request_that_is_refused() -> None:
    broker = AdminBroker()
    request = CreateTopicsRequest(
        topics=[CreatableTopic(name="t", num_partitions=20_000, replication_factor=1)]
    )
    (result,) = broker.call(HANDLER, request, 7).topics
    assert (result.name, result.error_code) == ("t", ErrorCode.POLICY_VIOLATION)


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_no_time_at_all(timeout_ms: int) -> None:
    broker = AdminBroker()
    request = CreateTopicsRequest(
        topics=[CreatableTopic(name="t", num_partitions=1, replication_factor=1)],
        timeout_ms=timeout_ms,
    )
    (result,) = broker.call(HANDLER, request, 7).topics
    assert (result.error_code, result.error_message) == (ErrorCode.REQUEST_TIMED_OUT, None)
    assert broker.image.topics_by_name == {}


def test_a_controller_that_does_not_lead() -> None:
    broker = AdminBroker()
    broker.world.controller.deactivate()
    request = CreateTopicsRequest(
        topics=[CreatableTopic(name="t", num_partitions=1, replication_factor=1)]
    )
    (result,) = broker.call(HANDLER, request, 7, on_controller=True).topics
    assert result.error_code == ErrorCode.NOT_CONTROLLER
