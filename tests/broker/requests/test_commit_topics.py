"""The topics of commits; in the forms of OffsetCommit. On the wire: handlers/test_offset_commit."""

from __future__ import annotations

from typing import Any

from pykbroker.broker.handlers.offset_commit import FORMS
from pykbroker.broker.requests.commit_topics import CommitTopics
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.broker.handlers.group_broker import TOPIC_ID, GroupBroker

UNKNOWN = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def topic(name: str, *indexes: int, topic_id: bytes = bytes(16)) -> OffsetCommitRequestTopic:
    partitions = [OffsetCommitRequestPartition(partition_index=index) for index in indexes]
    return OffsetCommitRequestTopic(name=name, topic_id=topic_id, partitions=partitions)


def checked(*topics: OffsetCommitRequestTopic, by_id: bool = False) -> CommitTopics:
    broker: Any = GroupBroker()
    found = CommitTopics(broker, FORMS, topics, by_id=by_id)
    assert broker.breaths >= len(topics)
    return found


def indexes(topics: list[Any]) -> list[tuple[str, list[int]]]:
    return [(each.name, [p.partition_index for p in each.partitions]) for each in topics]


def codes(topics: list[Any]) -> list[tuple[str, int, int]]:
    return [
        (each.name, p.partition_index, p.error_code) for each in topics for p in each.partitions
    ]


def test_what_exists_gets_its_other_name() -> None:
    for asked in (
        checked(topic("t", 1, 0)),
        checked(topic("", 1, 0, topic_id=TOPIC_ID), by_id=True),
    ):
        assert asked.all_known
        assert [(each.name, each.topic_id) for each in asked.known] == [("t", TOPIC_ID)]
        assert indexes(asked.known) == [("t", [1, 0])]


def test_what_does_not_exist_is_answered_first() -> None:
    asked = checked(topic("t", 9, 1), topic("ghost", 3))
    assert not asked.all_known
    assert indexes(asked.known) == [("t", [1])]
    decided = [
        FORMS.answered_topic(name="t", partitions=[FORMS.answered_partition(partition_index=1)])
    ]
    answers = asked.answers(decided)
    assert codes(answers) == [("t", 9, UNKNOWN), ("t", 1, 0), ("ghost", 3, UNKNOWN)]


def test_topics_without_partitions() -> None:
    asked = checked(topic("ghost"), topic("t"))
    assert asked.known == []
    assert indexes(asked.answers(())) == [("ghost", [])]


def test_an_id_that_nobody_has() -> None:
    asked = checked(topic("", 0, topic_id=b"g" * 16), by_id=True)
    (answer,) = asked.answers(())
    assert (answer.topic_id, answer.partitions[0].error_code) == (
        b"g" * 16,
        ErrorCode.UNKNOWN_TOPIC_ID,
    )


def test_a_topic_that_is_named_twice_is_answered_twice() -> None:
    decided = [
        FORMS.answered_topic(name="t", partitions=[FORMS.answered_partition(partition_index=index)])
        for index in (0, 1)
    ]
    assert len(checked(topic("t", 0), topic("t", 1)).answers(decided)) == 2
    assert len(checked(topic("t", 0), topic("t", 1, 9)).answers(decided)) == 1
