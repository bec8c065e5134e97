"""Metadata from what was encoded before, as long as nothing has changed."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.metadata import HANDLER
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from tests.broker.handlers.admin_broker import AdminBroker
from tests.broker.prepared.callers import Caller
from tests.harness.records import partition_record


def named(*names: str, **fields: Any) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names], **fields)


@pytest.mark.parametrize("version", range(14))
def test_the_answer_follows_every_change(version: int) -> None:
    broker = AdminBroker()
    first = broker.create("a", 2)
    broker.create("b", 1)
    caller = Caller(broker, HANDLER, MetadataRequest)
    question = named("a", "b", include_topic_authorized_operations=version >= 8)
    assert caller.prepare(caller.frame(question, version, 1)) is not None

    def same(correlation_id: int) -> bytes:
        frame = caller.frame(question, version, correlation_id)
        served = caller.serve(frame)
        assert served is not None
        assert served == caller.general(frame)
        return served[8:]

    before = same(2)
    assert same(-7) == before
    broker.publish(PartitionChangeRecord(topic_id=first.id, partition_id=1, leader=-1))
    changed = same(3)
    assert changed != before
    broker.create("c")
    assert same(4) == changed
    broker.publish(RemoveTopicRecord(topic_id=first.id))
    assert caller.serve(caller.frame(question, version, 5)) is None
    other = b"another one".ljust(16)
    broker.publish(TopicRecord(name="a", topic_id=other), partition_record(other))
    assert same(6) not in (before, changed)


def test_another_question_is_the_general_paths() -> None:
    broker = AdminBroker()
    broker.create("a")
    broker.create("b")
    caller = Caller(broker, HANDLER, MetadataRequest)
    assert caller.prepare(caller.frame(named("a"), 9, 1)) is not None
    for other in (named("b"), named("a", "b"), named(), MetadataRequest(topics=None)):
        assert caller.serve(caller.frame(other, 9, 1)) is None
    assert caller.serve(caller.frame(named("a"), 9, 1)) is not None


def test_what_may_be_long_or_has_to_be_made_is_not_prepared_for() -> None:
    broker = AdminBroker()
    for number in range(12):
        broker.create(f"t{number}")
    caller = Caller(broker, HANDLER, MetadataRequest)
    every = named(*[f"t{number}" for number in range(12)])
    for question in (MetadataRequest(topics=None), named(), named("missing"), every):
        assert caller.prepare(caller.frame(question, 9, 1)) is None
