"""A fetcher's plan: which partitions a request names, which entries count, when it looks again."""

from __future__ import annotations

from typing import Any

from pykbroker.protocol.messages.fetch_request import FetchRequest
from pykbroker.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from pykbroker.replication.fetch_plan import FetchLimits, FetchPlan, Followed, State
from tests.broker.handlers.data_plane import through_the_wire

TOPIC = b"t" * 16
LIMITS = FetchLimits(
    wait_max_ms=500, min_bytes=1, response_max_bytes=1000, max_bytes=100, backoff_ms=200
)


def followed(number: int = 0, offset: int = 5, epoch: int | None = 1, leader: int = 3) -> Followed:
    return Followed((TOPIC, number), leader, offset, epoch, 2)


def plan_of(*partitions: Followed) -> FetchPlan:
    plan = FetchPlan(7, LIMITS)
    for each in partitions:
        plan.add(each)
    return plan


def named(request: FetchRequest | None) -> list[tuple[int, int]]:
    """(partition, offset) of a request."""
    assert request is not None
    return [(p.partition, p.fetch_offset) for topic in request.topics for p in topic.partitions]


def answer(*entries: PartitionData, session_id: int = 9, code: int = 0) -> FetchResponse:
    topics = [FetchableTopicResponse(topic_id=TOPIC, partitions=list(entries))] if entries else []
    return FetchResponse(error_code=code, session_id=session_id, responses=topics)


def entry(number: int = 0, **fields: Any) -> PartitionData:
    return PartitionData(partition_index=number, records=b"", **fields)


def opened(*partitions: Followed) -> FetchPlan:
    plan = plan_of(*partitions)
    plan.next_request(10, 0)
    list(plan.answered(answer(*(entry(each.key[1]) for each in partitions)), 0))
    return plan


def test_the_first_request_says_everything() -> None:
    request = plan_of(followed()).next_request(10, 0)
    sent = through_the_wire(request, 18)  # type: ignore[arg-type]
    assert (sent.replica_state.replica_id, sent.replica_state.replica_epoch) == (7, 10)
    assert (sent.max_wait_ms, sent.min_bytes, sent.max_bytes) == (500, 1, 1000)
    assert (sent.session_id, sent.session_epoch) == (0, 0)
    (topic,) = sent.topics
    (asked,) = topic.partitions
    assert (topic.topic_id, asked.partition, asked.fetch_offset) == (TOPIC, 0, 5)
    assert (asked.current_leader_epoch, asked.last_fetched_epoch) == (3, 1)
    assert (asked.log_start_offset, asked.partition_max_bytes) == (2, 100)


def test_the_next_ones_say_what_moved() -> None:
    first, second = followed(0), followed(1)
    plan = opened(first, second)
    request = plan.next_request(10, 0)
    assert (named(request), request and request.session_epoch) == ([], 1)
    list(plan.answered(answer(), 0))
    plan.move(second, 8, 2, 2)
    plan.note_log_start(first, 2)  # as it was
    assert named(plan.next_request(10, 0)) == [(1, 8)]
    list(plan.answered(answer(), 0))
    plan.note_log_start(first, 4)
    assert named(plan.next_request(10, 0)) == [(0, 5)]


def test_nothing_followed_nothing_asked() -> None:
    plan = plan_of()
    assert plan.next_request(10, 0) is None
    assert plan.next_deadline_ms() is None


def test_what_is_left_is_forgotten() -> None:
    plan = opened(followed(0), followed(1))
    plan.remove((TOPIC, 0))
    request = plan.next_request(10, 0)
    assert request is not None
    (topic,) = request.forgotten_topics_data
    assert (topic.topic_id, topic.partitions, named(request)) == (TOPIC, [0], [])


def test_a_delayed_partition_rests_and_comes_back() -> None:
    first, second = followed(0), followed(1)
    plan = opened(first, second)
    plan.delay(first, 1000)
    request = plan.next_request(10, 1000)
    assert request is not None
    assert request.forgotten_topics_data[0].partitions == [0]
    list(plan.answered(answer(), 1000))
    assert plan.next_deadline_ms() == 1200
    assert named(plan.next_request(10, 1199)) == []
    list(plan.answered(answer(), 1199))
    assert named(plan.next_request(10, 1200)) == [(0, 5)]
    assert plan.next_deadline_ms() is None


def test_set_aside_until_it_moves_or_is_added_again() -> None:
    for state in (State.RESETTING, State.FAILED):
        one = followed()
        plan = plan_of(one)
        plan.set_aside(one, state)
        assert plan.next_request(10, 0) is None
        plan.move(one, 3, 0, 0)
        assert named(plan.next_request(10, 0)) == [(0, 3)]
        plan.set_aside(one, state)
        plan.add(followed(offset=9, leader=4))
        assert (TOPIC, 0) in plan.partitions
        assert plan.partitions[TOPIC, 0].state is State.FETCHING


def test_a_reset_that_failed_is_fetched_again_after_the_back_off() -> None:
    one = followed()
    plan = plan_of(one)
    plan.set_aside(one, State.RESETTING)
    plan.delay(one, 0)
    assert plan.next_request(10, 199) is None
    assert named(plan.next_request(10, 200)) == [(0, 5)]


def test_a_log_without_epochs_is_cut_first() -> None:
    one = followed(epoch=None)
    plan = plan_of(one, followed(1))
    assert plan.truncating() == [one]
    assert named(plan.next_request(10, 0)) == [(1, 5)]
    plan.move(one, 5, None, 0)
    list(plan.answered(answer(entry(1)), 0))
    request = plan.next_request(10, 0)
    assert named(request) == [(0, 5)]
    assert request is not None
    assert request.topics[0].partitions[0].last_fetched_epoch == -1


def test_an_answer_counts_for_what_is_still_as_it_was_asked() -> None:
    partitions = [followed(number) for number in range(6)]
    plan = plan_of(*partitions)
    plan.next_request(10, 0)
    plan.move(partitions[1], 3, 0, 0)  # cut meanwhile
    plan.add(followed(2, leader=4))  # a new epoch
    plan.remove((TOPIC, 3))
    plan.set_aside(partitions[4], State.FAILED)
    plan.delay(partitions[5], 0)
    found = list(plan.answered(answer(*(entry(number) for number in range(6))), 0))
    assert [each.key[1] for each, _ in found] == [0]


def test_after_a_failure_everything_is_asked_for_again_after_the_back_off() -> None:
    plan = opened(followed(0), followed(1))
    plan.next_request(10, 0)
    plan.failed(1000)
    assert plan.next_deadline_ms() == 1200
    assert plan.next_request(10, 1199) is None
    request = plan.next_request(10, 1200)
    assert named(request) == [(0, 5), (1, 5)]
    assert request is not None
    assert (request.session_id, request.session_epoch) == (9, 0)


def test_a_new_partition_does_not_wait_for_the_back_off() -> None:
    plan = plan_of(followed(0))
    plan.next_request(10, 0)
    plan.failed(0)
    plan.add(followed(1))
    assert named(plan.next_request(10, 1)) == [(0, 5), (1, 5)]


def test_a_lost_session_is_opened_anew_at_once_but_not_without_end() -> None:
    plan = opened(followed(0))
    plan.next_request(10, 0)
    assert list(plan.answered(answer(code=70), 0)) == []
    assert named(plan.next_request(10, 0)) == [(0, 5)]
    assert list(plan.answered(answer(code=71), 0)) == []
    assert plan.next_request(10, 0) is None
    assert plan.next_deadline_ms() == 200
