"""Fetch sessions: one request, and all of the answer and the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pykbroker.broker.requests import session_shard
from pykbroker.broker.requests.fetch_sessions import FetchContext, FetchSessions
from pykbroker.broker.requests.session_shard import (
    EVICTION_MS,
    MAX_EPOCH,
    SESSION_ID_RANGE,
    next_epoch,
)
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.fetch_request import (
    FetchPartition as RequestedPartition,
)
from pykbroker.protocol.messages.fetch_request import FetchRequest, FetchTopic, ForgottenTopic
from pykbroker.protocol.messages.fetch_response import FetchResponse, PartitionData
from pykbroker.replication.follower_session import FollowerSession

VERSION = 12
BY_ID = 13
TOPIC_ID = bytes(range(16))


def fetch(
    *partitions: tuple[str, int, int],
    session: int = 0,
    epoch: int = 0,
    forget: tuple[tuple[str, int], ...] = (),
) -> FetchRequest:
    """A request for (topic, partition, offset)..."""
    return FetchRequest(
        session_id=session,
        session_epoch=epoch,
        topics=[
            FetchTopic(
                topic=topic,
                partitions=[
                    RequestedPartition(partition=p, fetch_offset=offset, partition_max_bytes=100)
                ],
            )
            for topic, p, offset in partitions
        ],
        forgotten_topics_data=[ForgottenTopic(topic=t, partitions=[p]) for t, p in forget],
    )


def counting_ids() -> Callable[[int, int], int]:
    """Ids are the lowest of the shard, then the next ones."""
    given: dict[int, int] = {}

    def choose(first: int, end: int) -> int:
        given[first] = given.get(first, first - 1) + 1
        return given[first]

    return choose


def sessions_of(slots: int = 8) -> FetchSessions:
    return FetchSessions(slots, counting_ids(), lambda: FollowerSession({}))


def answer(context: FetchContext, now_ms: int = 0, **changes: Any) -> FetchResponse:
    """Answer with high watermark 5 and log start 0, but for what `changes` says."""
    pairs = []
    for asked in context.wanted:
        values: dict[str, object] = {
            "partition_index": asked.index,
            "high_watermark": 5,
            "log_start_offset": 0,
            "records": b"",
        }
        values.update(changes.get(f"{asked.topic}_{asked.index}", {}))
        pairs.append((asked, PartitionData(**values)))  # type: ignore[arg-type]
    return context.response(context.tell(pairs, now_ms), [])


def told(response: FetchResponse) -> list[tuple[str, int]]:
    return [(t.topic, p.partition_index) for t in response.responses for p in t.partitions]


def test_a_full_fetch_makes_a_session_and_names_everything() -> None:
    sessions = sessions_of()
    response = answer(sessions.open(fetch(("a", 0, 3), ("a", 1, 4)), VERSION, False, 0))
    assert response.session_id == 1
    assert told(response) == [("a", 0), ("a", 1)]
    assert len(response.responses) == 1  # neighbours of one topic share an entry
    assert (len(sessions), sessions.partition_count) == (1, 2)


def test_without_a_session_nothing_is_kept() -> None:
    sessions = sessions_of()
    response = answer(sessions.open(fetch(("a", 0, 3), epoch=-1), VERSION, False, 0))
    assert (response.session_id, told(response), len(sessions)) == (0, [("a", 0)], 0)


def test_an_incremental_answer_has_only_what_changed() -> None:
    sessions = sessions_of()
    answer(sessions.open(fetch(("a", 0, 3), ("a", 1, 4), ("b", 0, 0)), VERSION, False, 0))
    quiet = answer(sessions.open(fetch(session=1, epoch=1), VERSION, False, 1))
    assert (quiet.session_id, told(quiet)) == (1, [])
    changed = sessions.open(fetch(session=1, epoch=2), VERSION, False, 2)
    response = answer(
        changed, a_1={"high_watermark": 6}, b_0={"log_start_offset": 1}, a_0={"records": b"x"}
    )
    assert told(response) == [("a", 0), ("a", 1), ("b", 0)]


def test_what_a_request_changes_stays_for_the_next_ones() -> None:
    sessions = sessions_of()
    answer(sessions.open(fetch(("a", 0, 3), ("a", 1, 4)), VERSION, False, 0))
    context = sessions.open(
        fetch(("a", 1, 9), ("c", 0, 0), session=1, epoch=1, forget=(("a", 0),)), VERSION, False, 1
    )
    assert [(w.topic, w.index, w.fetch_offset) for w in context.wanted] == [
        ("a", 1, 9),
        ("c", 0, 0),
    ]
    assert told(answer(context)) == [("c", 0)]  # new to the session: told once
    context = sessions.open(fetch(session=1, epoch=2), VERSION, False, 2)
    assert [(w.topic, w.index, w.fetch_offset) for w in context.wanted] == [
        ("a", 1, 9),
        ("c", 0, 0),
    ]
    assert sessions.partition_count == 2


def test_an_error_is_told_every_time_and_its_end_too() -> None:
    sessions = sessions_of()
    answer(sessions.open(fetch(("a", 0, 3)), VERSION, False, 0))
    bad = {"error_code": 6, "high_watermark": -1, "log_start_offset": -1}
    for epoch in (1, 2):
        context = sessions.open(fetch(session=1, epoch=epoch), VERSION, False, 1)
        assert told(answer(context, a_0=bad)) == [("a", 0)]
    assert told(answer(sessions.open(fetch(session=1, epoch=3), VERSION, False, 1))) == [("a", 0)]
    assert told(answer(sessions.open(fetch(session=1, epoch=4), VERSION, False, 1))) == []


def test_partitions_that_had_records_go_to_the_end() -> None:
    sessions = sessions_of()
    answer(sessions.open(fetch(("a", 0, 0), ("b", 0, 0), ("c", 0, 0)), VERSION, False, 0))
    answer(sessions.open(fetch(session=1, epoch=1), VERSION, False, 0), a_0={"records": b"x"})
    context = sessions.open(fetch(session=1, epoch=2), VERSION, False, 0)
    assert [w.topic for w in context.wanted] == ["b", "c", "a"]


@pytest.mark.parametrize(
    "request_, version, code",
    [
        (fetch(session=9, epoch=1), VERSION, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (fetch(session=-5, epoch=1), VERSION, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (fetch(session=0x7FFFFFFF, epoch=1), VERSION, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (fetch(session=1, epoch=2), VERSION, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (fetch(session=1, epoch=1), BY_ID, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ],
)
def test_session_errors(request_: FetchRequest, version: int, code: int) -> None:
    sessions = sessions_of()
    answer(sessions.open(fetch(("a", 0, 3)), VERSION, False, 0))
    context = sessions.open(request_, version, False, 0)
    assert (context.error, context.wanted) == (code, [])
    assert len(sessions) == 1


def test_a_full_fetch_with_a_session_id_ends_that_session() -> None:
    sessions = sessions_of()
    answer(sessions.open(fetch(("a", 0, 3)), VERSION, False, 0))
    response = answer(sessions.open(fetch(("a", 0, 3), session=1), VERSION, False, 0))
    assert response.session_id == SESSION_ID_RANGE  # the next shard's first
    assert len(sessions) == 1
    answer(sessions.open(fetch(("a", 0, 3), session=SESSION_ID_RANGE, epoch=-1), VERSION, False, 0))
    assert (len(sessions), sessions.partition_count) == (0, 0)


def test_a_session_without_partitions_ends() -> None:
    sessions = sessions_of()
    answer(sessions.open(fetch(("a", 0, 3)), VERSION, False, 0))
    context = sessions.open(fetch(session=1, epoch=1, forget=(("a", 0),)), VERSION, False, 0)
    response = answer(context)
    assert (context.error, response.session_id, len(sessions)) == (0, 0, 0)


def test_a_second_request_meanwhile_makes_the_first_answer_an_error() -> None:
    sessions = sessions_of()
    answer(sessions.open(fetch(("a", 0, 3)), VERSION, False, 0))
    first = sessions.open(fetch(session=1, epoch=1), VERSION, False, 0)
    sessions.open(fetch(session=1, epoch=2), VERSION, False, 0)
    response = answer(first)
    assert (response.error_code, response.session_id) == (71, 1)


def test_topics_by_id_are_one_entry_per_id() -> None:
    request = FetchRequest(
        topics=[
            FetchTopic(topic_id=TOPIC_ID, partitions=[RequestedPartition(partition=p)])
            for p in (0, 1)
        ]
    )
    context = sessions_of().open(request, BY_ID, False, 0)
    assert [w.key for w in context.wanted] == [(TOPIC_ID, 0), (TOPIC_ID, 1)]
    pairs = [(w, PartitionData(partition_index=w.index, records=b"")) for w in context.wanted]
    response = context.response(context.tell(pairs, 0), [])
    assert [(t.topic_id, len(t.partitions)) for t in response.responses] == [(TOPIC_ID, 2)]


def test_a_partition_named_twice_counts_once_as_last_asked() -> None:
    context = sessions_of().open(fetch(("a", 0, 3), ("a", 0, 7)), VERSION, False, 0)
    assert [w.fetch_offset for w in context.wanted] == [7]


def test_epochs_wrap_to_one() -> None:
    assert [next_epoch(e) for e in (-1, 0, 1, MAX_EPOCH)] == [-1, 1, 2, 1]


# ---- the cache: shards of one slot each, filled with one session each


def full_cache(size: int = 1, follower: bool = False) -> FetchSessions:
    sessions = sessions_of()
    partitions = [("t", p, 0) for p in range(size)]
    for _ in range(8):
        answer(sessions.open(fetch(*partitions), VERSION, follower, 0))
    assert len(sessions) == 8
    return sessions


def opened(sessions: FetchSessions, size: int, follower: bool, now_ms: int) -> int:
    partitions = [("n", p, 0) for p in range(size)]
    context = sessions.open(fetch(*partitions), VERSION, follower, now_ms)
    return answer(context, now_ms).session_id


def test_fewer_slots_than_shards_mean_no_session() -> None:
    assert opened(sessions_of(slots=7), 1, False, 0) == 0


def test_no_room_among_sessions_that_are_young_and_in_use() -> None:
    sessions = full_cache()
    assert opened(sessions, 50, False, EVICTION_MS) == 0
    assert sessions.evictions == 0


def test_an_unused_session_makes_room() -> None:
    sessions = full_cache()
    assert opened(sessions, 1, False, EVICTION_MS + 1) > 0
    assert (sessions.evictions, len(sessions)) == (1, 8)


@pytest.mark.parametrize("size, has_room", [(2, False), (3, True)])
def test_an_old_session_in_use_yields_to_a_larger_one(size: int, has_room: bool) -> None:
    sessions = full_cache(size=2)
    now_ms = EVICTION_MS + 1
    sessions.open(fetch(session=1, epoch=1), VERSION, False, now_ms)
    assert (opened(sessions, size, False, now_ms) > 0) is has_room


def test_a_follower_takes_a_consumers_place_at_any_age_but_not_a_followers() -> None:
    assert opened(full_cache(size=9), 1, True, 1) > 0
    assert opened(full_cache(size=9, follower=True), 1, True, 1) == 0
    old = full_cache(size=1, follower=True)
    old.open(fetch(session=1, epoch=1), VERSION, True, EVICTION_MS + 1)
    assert opened(old, 50, False, EVICTION_MS + 1) == 0  # a consumer never evicts a follower


def test_sessions_together_hold_a_bounded_number_of_partitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_shard, "MAX_PARTITIONS", 3)
    sessions = sessions_of(slots=80)
    three = [("t", number, 0) for number in range(3)]

    def ask(request: FetchRequest, now_ms: int = 0) -> FetchResponse:
        sessions._next_shard = 0
        return answer(sessions.open(request, VERSION, False, now_ms), now_ms)

    assert ask(fetch(*three, ("u", 0, 0))).session_id == 0
    first = ask(fetch(*three)).session_id
    assert first != 0
    assert ask(fetch(("u", 0, 0))).session_id == 0  # the first is in use
    assert ask(fetch(("u", 0, 0)), EVICTION_MS + 1).session_id != 0  # and now it is not
    assert sessions.partition_count == 1
    grown = ask(fetch(*three[:2]), EVICTION_MS + 1).session_id
    assert ask(fetch(*three[2:], session=grown, epoch=1), EVICTION_MS + 2).error_code == 0
    gone = sessions.open(fetch(session=grown, epoch=2), VERSION, False, EVICTION_MS + 3)
    assert gone.error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert sessions.partition_count == 1
