"""Which open transactions hang."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.cli import hanging_transactions
from pykbroker.cli.admin import AdminClient, ServerError
from pykbroker.cli.command import CommandError
from pykbroker.cli.hanging_transactions import find_hanging, partitions_to_search
from pykbroker.cli.transaction_queries import Listing
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.describe_producers_response import ProducerState
from pykbroker.protocol.messages.describe_transactions_response import TopicData, TransactionState
from tests.cli.scripted_cluster import ScriptedCluster

OLD_MS, BEFORE_MS = 1000, 2000
A, B = ("t", 0), ("t", 1)


def open_since(at_ms: int, producer_id: int, start_offset: int = 5) -> ProducerState:
    return ProducerState(
        producer_id=producer_id, last_timestamp=at_ms, current_txn_start_offset=start_offset
    )


PRODUCERS = {
    B: [
        open_since(OLD_MS, 1),  # no transactional id has this producer
        open_since(OLD_MS, 2),  # its transaction is in the other partition
        open_since(OLD_MS, 3),  # its id is forgotten between two questions
    ],
    A: [
        open_since(OLD_MS, 2),  # its coordinator is going to end it
        open_since(BEFORE_MS, 4),  # too young
        open_since(OLD_MS, 5, start_offset=-1),  # none is open
    ],
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Coordinators that know the transaction of producer 2 in partition A; what they are asked."""
    asked: list[Any] = []

    def list_them(client: object, producer_ids: list[int]) -> list[Listing]:
        asked.append(producer_ids)
        return [Listing("two", 1, 2, "Ongoing"), Listing("three", 1, 3, "Ongoing")]

    def describe(client: object, transactional_id: str) -> tuple[int, Any]:
        if transactional_id == "three":
            raise ServerError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
        return 1, TransactionState(topics=[TopicData(topic="t", partitions=[0])])

    monkeypatch.setattr(hanging_transactions, "list_transactions", list_them)
    monkeypatch.setattr(hanging_transactions, "describe_transaction", describe)
    return asked


def find(monkeypatch: pytest.MonkeyPatch, found: dict[Any, Any]) -> list[tuple[Any, int]]:
    monkeypatch.setattr(hanging_transactions, "describe_producers", lambda *_: found)
    client: AdminClient = None  # type: ignore[assignment]
    return [
        (each.partition, each.producer.producer_id)
        for each in find_hanging(client, found, None, BEFORE_MS)
    ]


def test_those_that_no_coordinator_ends(monkeypatch: pytest.MonkeyPatch, asked: list[Any]) -> None:
    assert find(monkeypatch, PRODUCERS) == [(B, 1), (B, 2), (B, 3)]
    assert asked == [[1, 2, 3]]


def test_coordinators_are_not_asked_without_need(
    monkeypatch: pytest.MonkeyPatch, asked: list[Any]
) -> None:
    assert find(monkeypatch, {A: PRODUCERS[A][1:]}) == []
    assert asked == []


def test_a_coordinator_that_cannot_answer(
    monkeypatch: pytest.MonkeyPatch, asked: list[Any]
) -> None:
    def refuse(client: object, transactional_id: str) -> Any:
        raise ServerError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)

    monkeypatch.setattr(hanging_transactions, "describe_transaction", refuse)
    with pytest.raises(CommandError, match="Transactional Id authorization failed"):
        find(monkeypatch, PRODUCERS)


def test_where_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    leaders = {("t", 0): 1, ("t", 1): 2, ("u", 0): 2}
    client = ScriptedCluster(leaders).use(monkeypatch).client()
    assert partitions_to_search(client, None, None) == list(leaders)
    assert partitions_to_search(client, None, 2) == [("t", 1), ("u", 0)]
    assert partitions_to_search(client, "t", 2) == [("t", 1)]
    with pytest.raises(CommandError, match=r"^Broker 9 is not available; the brokers are 1, 2$"):
        partitions_to_search(client, None, 9)
    with pytest.raises(ServerError, match="does not host this topic-partition"):
        partitions_to_search(client, "nowhere", None)
