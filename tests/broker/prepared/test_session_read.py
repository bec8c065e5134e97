"""What is read straight into the response of a session, and what is not."""

from __future__ import annotations

import pytest

from pykbroker.broker.prepared import session_fetch
from tests.broker.prepared.test_fetch import sizes
from tests.broker.prepared.test_session_fetch import BATCH, VERSIONS, SessionNode, topics_of


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("isolation_level", [0, 1])
def test_records_of_one_partition_are_read_straight_into_the_response(
    version: int, isolation_level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = SessionNode(version, max_wait_ms=0, isolation_level=isolation_level)
    node.append(1)
    monkeypatch.setattr(session_fetch, "PreparedFetching", None)
    assert sizes(node.ask_for()) == [(1, 2, BATCH)]
    assert sizes(node.ask_for()) == [(1, 2, BATCH)]
    node.append(1)
    assert sizes(node.ask_for((1, 2))) == [(1, 3, BATCH)]
    found = node.broker.fetch_sessions.find(node.session_id, node.epoch, version >= 13)
    assert not isinstance(found, int)
    assert [asked.index for asked in found.partitions.values()] == [0, 2, 1]
    monkeypatch.undo()
    assert sizes(node.ask_for((1, 3))) == []
    assert node.general == 1


def test_what_is_too_little_or_of_two_partitions_is_read_as_always() -> None:
    node = SessionNode(max_wait_ms=0, min_bytes=BATCH + 1)
    node.append(1)
    assert sizes(node.ask_for()) == [(1, 2, BATCH)]
    node.append(0)
    assert sizes(node.ask_for((1, 2), min_bytes=1)) == [(0, 2, BATCH)]
    node.append(2)
    assert sizes(node.ask_for()) == [(2, 2, BATCH), (0, 2, BATCH)]


@pytest.mark.parametrize(
    "asked",
    [
        {"fetch_offset": 9},
        {"current_leader_epoch": 99},
        {"last_fetched_epoch": 7},
    ],
)
def test_what_the_reader_refuses_or_has_to_look_at_is_not_read_here(asked: dict[str, int]) -> None:
    node = SessionNode(max_wait_ms=0)
    node.append(1)
    topics = topics_of((1, 1))
    for name, number in asked.items():
        setattr(topics[0].partitions[0], name, number)
    reply = node.ask_for((1, 1), topics=topics)
    assert reply is not None
    (part,) = reply.responses[0].partitions[:1]
    assert part.error_code or part.diverging_epoch is not None
    assert not part.records
