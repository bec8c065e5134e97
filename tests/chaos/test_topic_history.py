"""The verdict on topics finds each kind of wrong, and allows for what may be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.chaos.topic_history import TopicHistory, differing_logs


def sound() -> TopicHistory:
    """One topic that was grown and altered, one that is gone, one that may be back."""
    history = TopicHistory()
    history.created("there", 2, is_repeated=False)
    history.grown("there", 3, is_repeated=True)
    history.altered("there", "100", is_repeated=True)
    history.altered("there", "200", is_repeated=False)
    history.created("gone", 1, is_repeated=False)
    history.deleted("gone", is_repeated=True)
    history.created("back", 1, is_repeated=True)
    history.deleted("back", is_repeated=False)
    return history


@pytest.mark.parametrize(
    "found, retention",
    [
        ({"there": 3}, {"there": "200"}),
        ({"there": 3}, {"there": "100"}),  # the request without an answer came last
        ({"there": 3, "back": 1}, {"there": "200", "back": "1"}),
    ],
)
def test_nothing_is_wrong(found: dict[str, int], retention: dict[str, str]) -> None:
    assert sound().verdict(found, retention) == []


@pytest.mark.parametrize(
    "found, retention, fault",
    [
        ({}, {}, "there: created, but missing"),
        ({"there": 2}, {"there": "200"}, "there: 2 partitions, not 3"),
        ({"there": 3}, {"there": "300"}, "there: retention.ms is 300, not 200"),
        ({"there": 3}, {}, "there: retention.ms is None, not 200"),
        ({"there": 3, "gone": 1}, {"there": "200"}, "gone: deleted, but present"),
        ({"there": 3, "new": 1}, {"there": "200"}, "new: no client created it"),
    ],
)
def test_what_a_node_shows_wrong(
    found: dict[str, int], retention: dict[str, str], fault: str
) -> None:
    assert sound().verdict(found, retention) == [fault]


def record(kind: str, **value: object) -> dict[str, Any]:
    return {"record_type": kind, "value_json": json.dumps(value)}


def topic(name: str, topic_id: str) -> dict[str, Any]:
    return record("TopicRecord", name=name, topicId=topic_id)


def partition(topic_id: str, index: int) -> dict[str, Any]:
    return record("PartitionRecord", topicId=topic_id, partitionId=index)


SOUND_LOG = [
    topic("there", "A"),
    partition("A", 0),
    partition("A", 1),
    topic("gone", "B"),
    partition("B", 0),
    record("RemoveTopicRecord", topicId="B"),
    topic("back", "C"),
    record("RemoveTopicRecord", topicId="C"),
    topic("back", "D"),
]


def test_a_sound_log() -> None:
    assert sound().log_faults(SOUND_LOG) == []


@pytest.mark.parametrize(
    "more, fault",
    [
        ([topic("there", "E")], "there: created 2 times"),
        ([topic("there", "E")], "there: 2 topics have this name"),
        ([topic("back", "E")], "back: 2 topics have this name"),
        ([topic("gone", "E")], "gone: created 2 times"),
        ([topic("new", "A")], "topic id A was assigned 2 times"),
        ([partition("A", 1)], "partition ('A', 1) has 2 records"),
        ([record("RemoveTopicRecord", topicId="A")], "there: 0 topics have this name"),
    ],
)
def test_what_a_log_has_twice_or_not(more: list[dict[str, Any]], fault: str) -> None:
    assert fault in sound().log_faults([*SOUND_LOG, *more])


def test_metadata_logs_are_compared_below_the_high_watermark() -> None:
    rows = [{"offset": n, "record_type": "NoOpRecord", "value_json": "{}"} for n in range(5)]
    other = [*rows[:4], rows[4] | {"record_type": "TopicRecord"}]
    assert differing_logs({1: rows, 2: rows, 3: other}, 4) == []
    assert len(differing_logs({1: rows, 2: rows, 3: other}, 5)) == 1
    assert differing_logs({1: rows, 2: rows[:3]}, 5) == [
        "metadata of node 2 has a different number of records"
    ]
