"""The records and the answers of one topic's commit."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.coordinator.group import offsets, txn_offsets
from pykbroker.coordinator.group.offset_commits import Forms, commit_topic, is_too_long
from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.coordinator.group.step import Step
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.primitives import ZERO_UUID

NOW_MS = 5_000
ID = bytes(range(16))


def step() -> Step:
    return Step(GroupSettings(num_partitions=1, offset_metadata_max_bytes=4), NOW_MS)


def topic(*metadata: str | None) -> OffsetCommitRequestTopic:
    return OffsetCommitRequestTopic(
        name="t",
        topic_id=ID,
        partitions=[
            OffsetCommitRequestPartition(
                partition_index=index,
                committed_offset=10 + index,
                committed_leader_epoch=3,
                committed_metadata=text,
            )
            for index, text in enumerate(metadata)
        ],
    )


@pytest.mark.parametrize("forms", [offsets.FORMS, txn_offsets.FORMS])
def test_every_partition_is_answered_and_those_that_fit_are_written(forms: Forms) -> None:
    at = step()
    answer = commit_topic(at, "g", topic("a", None, "too long"), forms)
    assert type(answer) is forms.topic
    assert (answer.name, answer.topic_id) == ("t", ID)
    assert [type(each) for each in answer.partitions] == [forms.partition] * 3
    codes = {each.partition_index: each.error_code for each in answer.partitions}
    assert codes == {0: 0, 1: 0, 2: ErrorCode.OFFSET_METADATA_TOO_LARGE}
    assert [record.key.partition for record in at.decision.records] == [0, 1]
    value: Any = at.decision.records[1].value
    assert (value.offset, value.leader_epoch, value.metadata) == (11, 3, "")
    assert (value.commit_timestamp, value.expire_timestamp) == (NOW_MS, -1)
    assert value.topic_id == ID


def test_an_expiry_leaves_no_room_for_epoch_and_id() -> None:
    at = step()
    commit_topic(at, "g", topic("a"), offsets.FORMS, expires_ms=9_000)
    (record,) = at.decision.records
    value: Any = record.value
    assert value.expire_timestamp == 9_000
    assert (value.leader_epoch, value.topic_id) == (-1, ZERO_UUID)


@pytest.mark.parametrize(
    ("text", "is_long"), [("abcd", False), ("abcde", True), ("ab🙂", False), ("abc🙂", True)]
)
def test_text_is_measured_as_java_does(text: str, is_long: bool) -> None:
    assert is_too_long(text, 4) is is_long
