"""OffsetCommit on the wire, in every version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.offset_commit import HANDLER
from pykbroker.broker.handlers.offset_fetch import HANDLER as FETCH
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.group_broker import TOPIC_ID, GroupBroker

USER_ID = (8).to_bytes(16, "big")


def request(version: int, topics: list[tuple[str, bytes, list[int]]]) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id="g",
        topics=[
            OffsetCommitRequestTopic(
                name=name if version < 10 else "",
                topic_id=topic_id if version >= 10 else bytes(16),
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=index,
                        committed_offset=5 + index,
                        committed_leader_epoch=3 if version >= 6 else -1,
                        committed_metadata=None if index else "m",
                    )
                    for index in indexes
                ],
            )
            for name, topic_id, indexes in topics
        ],
    )


def committed(broker: GroupBroker) -> list[tuple[str, int, int, int, str]]:
    asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)])
    (group,) = broker.ask(FETCH, asked, 9).groups
    return [
        (topic.name, p.partition_index, p.committed_offset, p.committed_leader_epoch, p.metadata)
        for topic in group.topics
        for p in topic.partitions
    ]


@pytest.mark.parametrize("version", range(2, 11))
def test_commit(version: int) -> None:
    broker = GroupBroker()
    answer = broker.ask(HANDLER, request(version, [("t", TOPIC_ID, [0, 1])]), version)
    (topic,) = answer.topics
    assert (topic.topic_id == TOPIC_ID) if version >= 10 else (topic.name == "t")
    assert [(p.partition_index, p.error_code) for p in topic.partitions] == [(0, 0), (1, 0)]
    epoch = 3 if version >= 6 else -1
    assert committed(broker) == [("t", 0, 5, epoch, "m"), ("t", 1, 6, epoch, "")]


@pytest.mark.parametrize("version", range(2, 11))
def test_what_does_not_exist_comes_first(version: int) -> None:
    broker = GroupBroker()
    topics = [
        ("ghost", b"g" * 16, [0, 1]),
        ("t", TOPIC_ID, [9, 1, 8, 0]),
        ("ghoul", b"h" * 16, [0]),
        ("u", USER_ID, [1]),
    ]
    broker.node.create_topic("u", partitions=2, number=8)
    answer = broker.ask(HANDLER, request(version, topics), version)
    unknown = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    no_topic = int(ErrorCode.UNKNOWN_TOPIC_ID) if version >= 10 else unknown
    codes = [
        [(p.partition_index, p.error_code) for p in topic.partitions] for topic in answer.topics
    ]
    assert codes == [
        [(0, no_topic), (1, no_topic)],
        [(9, unknown), (8, unknown), (1, 0), (0, 0)],
        [(0, no_topic)],
        [(1, 0)],
    ]
    assert {entry[:3] for entry in committed(broker)} == {("t", 0, 5), ("t", 1, 6), ("u", 1, 6)}


def test_nothing_that_exists() -> None:
    broker = GroupBroker(ready=False)  # the coordinator is not even asked
    answer = broker.ask(HANDLER, request(9, [("ghost", bytes(16), [0])]), 9)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("version", [9, 10])
def test_topics_without_partitions(version: int) -> None:
    broker = GroupBroker()
    alone = broker.ask(HANDLER, request(version, [("t", TOPIC_ID, [])]), version)
    assert alone.topics == []
    topics = [("t", TOPIC_ID, []), ("ghost", b"g" * 16, []), ("t", TOPIC_ID, [0])]
    answer = broker.ask(HANDLER, request(version, topics), version)
    assert [len(topic.partitions) for topic in answer.topics] == [0, 1]
    assert [entry[:3] for entry in committed(broker)] == [("t", 0, 5)]


@pytest.mark.parametrize("version", range(2, 11))
def test_an_error_is_told_for_every_partition(version: int) -> None:
    broker = GroupBroker(ready=False)
    call = broker.call(HANDLER, request(version, [("t", TOPIC_ID, [0, 1])]), version)
    codes = [p.error_code for p in call.answer.topics[0].partitions]
    assert codes == [int(ErrorCode.NOT_COORDINATOR)] * 2
    reply = error_reply(HANDLER, call.request, 15, None)
    assert [p.error_code for p in reply.topics[0].partitions] == [15, 15]


def test_a_retention_of_its_own_before_version_5() -> None:
    broker = GroupBroker(offsets_retention_check_interval_ms="1000")
    asked = request(2, [("t", TOPIC_ID, [0])])
    asked.retention_time_ms = 1500
    assert broker.ask(HANDLER, asked, 2).topics[0].partitions[0].error_code == 0
    broker.advance(1000)
    assert len(committed(broker)) == 1
    broker.advance(1000)
    assert committed(broker) == []
    assert broker.describe("g").group_state == "Dead"


def test_a_retention_that_overflows_has_expired_as_in_java() -> None:
    broker = GroupBroker(offsets_retention_check_interval_ms="1000")
    asked = request(2, [("t", TOPIC_ID, [0])])
    asked.retention_time_ms = (1 << 63) - 1
    assert broker.ask(HANDLER, asked, 2).topics[0].partitions[0].error_code == 0
    assert len(committed(broker)) == 1
    broker.advance(1000)
    assert committed(broker) == []


def test_a_failed_write_is_not_acknowledged() -> None:
    broker = GroupBroker()
    broker.commit("g")
    broker.node.fail_writes()
    answer = broker.ask(HANDLER, request(9, [("t", TOPIC_ID, [0])]), 9)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR
