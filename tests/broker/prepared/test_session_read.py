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


def test_records_of_two_partitions_are_read_as_always() -> None:
    node = SessionNode(max_wait_ms=0)
    node.append(1)
    assert sizes(node.ask_for()) == [(1, 2, BATCH)]
    node.append(0)
    node.append(2)
    assert sizes(node.ask_for((1, 2))) == [(0, 2, BATCH), (2, 2, BATCH)]


def test_too_few_bytes_wait_for_more() -> None:
    node = SessionNode(max_wait_ms=500, min_bytes=BATCH + 1)
    node.append(1)
    assert node.ask_for() is None
    node.append(1)
    assert sizes(node.sent()) == [(1, 3, 2 * BATCH)]


def test_a_log_start_is_told_once_with_records_or_without() -> None:
    node = SessionNode(max_wait_ms=0)
    partition = node.broker.replica_manager.find("t", 1)
    assert partition is not None
    node.append(1)
    partition.log.advance_log_start_offset(1)
    assert sizes(node.ask_for()) == [(1, 2, BATCH)]
    assert sizes(node.ask_for((1, 2))) == []
    partition.log.advance_log_start_offset(2)
    assert sizes(node.ask_for()) == [(1, 2, 0)]


def test_it_counts_as_a_use_of_the_session() -> None:
    node = SessionNode(max_wait_ms=0)
    node.append(1)
    node.broker.advance(1000)
    assert sizes(node.ask_for()) == [(1, 2, BATCH)]
    found = node.broker.fetch_sessions.find(node.session_id, node.epoch, True)
    assert not isinstance(found, int)
    assert found.last_used_ms == node.broker.now_ms() == found.created_ms + 1000


def test_records_of_an_open_transaction_are_not_read_by_committed_readers() -> None:
    node = SessionNode(max_wait_ms=0, isolation_level=1)
    node.append(1)
    partition = node.broker.replica_manager.find("t", 1)
    assert partition is not None
    opens = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    node.broker.node.append(partition, b"v" * 100, **opens)
    assert partition.log.last_stable_offset(partition.high_watermark) == 2
    assert sizes(node.ask_for()) == [(1, 3, BATCH)]
    assert sizes(node.ask_for((1, 2))) == []


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
