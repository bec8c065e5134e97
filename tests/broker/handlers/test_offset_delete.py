"""OffsetDelete on the wire."""

from __future__ import annotations

from pykbroker.broker.handlers.offset_delete import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.group_broker import GroupBroker


def request(group: str, **topics: list[int]) -> OffsetDeleteRequest:
    return OffsetDeleteRequest(
        group_id=group,
        topics=[
            OffsetDeleteRequestTopic(
                name=name,
                partitions=[OffsetDeleteRequestPartition(partition_index=i) for i in indexes],
            )
            for name, indexes in topics.items()
        ],
    )


def test_delete() -> None:
    broker = GroupBroker()
    broker.commit("simple", 5, partition=0)
    broker.commit("simple", 6, partition=1)
    answer = broker.ask(HANDLER, request("simple", ghost=[0], t=[9, 0]), 0)
    unknown = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    found = [(t.name, p.partition_index, p.error_code) for t in answer.topics for p in t.partitions]
    assert found == [("ghost", 0, unknown), ("t", 9, unknown), ("t", 0, 0)]
    shard = broker.groups.runtime._hosted[broker.groups.partition_for("simple")].shard
    assert list(shard.offsets.committed["simple"]["t"]) == [1]


def test_a_topic_that_is_named_twice() -> None:
    broker = GroupBroker()
    broker.commit("simple", 5, partition=0)
    asked = request("simple", ghost=[0], t=[9])
    asked.topics += request("simple", ghost=[1], t=[8, 0]).topics
    answer = broker.ask(HANDLER, asked, 0)
    found = [(t.name, [p.partition_index for p in t.partitions]) for t in answer.topics]
    assert found == [("ghost", [0, 1]), ("t", [9, 8, 0])]


def test_topics_without_partitions() -> None:
    broker = GroupBroker()
    broker.commit("simple", 5, partition=0)
    answer = broker.ask(HANDLER, request("simple", ghost=[], t=[]), 0)
    assert [(topic.name, topic.partitions) for topic in answer.topics] == [("ghost", [])]


def test_subscribed_and_missing_groups() -> None:
    broker = GroupBroker()
    broker.stable_group()
    answer = broker.ask(HANDLER, request("g", t=[0]), 0)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert (
        broker.ask(HANDLER, request("ghost", t=[0]), 0).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    )
    answer = broker.ask(HANDLER, request("", t=[0]), 0)
    assert answer.error_code == ErrorCode.INVALID_GROUP_ID
    call = broker.call(HANDLER, request("g", t=[0]), 0)
    assert error_reply(HANDLER, call.request, 15, None).error_code == 15
