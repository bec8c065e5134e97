"""ListTransactions: every filter."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.list_transactions import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.list_transactions_request import ListTransactionsRequest
from tests.broker.handlers.transaction_broker import TransactionBroker


@pytest.fixture
def broker() -> TransactionBroker:
    """ "id" (100) is open for 5 s, "id-2" (101) for 1 s, "other" (102) is empty."""
    broker = TransactionBroker()
    broker.init()
    broker.init(transactional_id="id-2")
    broker.init(transactional_id="other")
    broker.add(0, 0)
    broker.advance(4000)
    both: dict[str, Any] = {
        "v3_and_below_transactional_id": "id-2",
        "v3_and_below_producer_id": 101,
    }
    broker.add(0, 1, **both)
    broker.advance(1000)
    return broker


def listed(broker: TransactionBroker, version: int = 2, **fields: Any) -> list[str]:
    answer = broker.ask(HANDLER, ListTransactionsRequest(**fields), version)
    assert answer.error_code == 0
    return sorted(one.transactional_id for one in answer.transaction_states)


def test_filters(broker: TransactionBroker) -> None:
    assert listed(broker) == ["id", "id-2", "other"]
    assert listed(broker, state_filters=["Ongoing"]) == ["id", "id-2"]
    assert listed(broker, state_filters=["Empty", "Dead"]) == ["other"]
    assert listed(broker, producer_id_filters=[101, 7]) == ["id-2"]
    assert listed(broker, duration_filter=0, state_filters=["Ongoing"]) == ["id", "id-2"]
    assert listed(broker, duration_filter=1000, state_filters=["Ongoing"]) == ["id"]
    assert listed(broker, duration_filter=5000, state_filters=["Ongoing"]) == []
    assert listed(broker, transactional_id_pattern="id.*") == ["id", "id-2"]
    assert listed(broker, transactional_id_pattern="id") == ["id"]
    assert listed(broker, transactional_id_pattern="") == ["id", "id-2", "other"]


def test_a_state_that_there_is_not(broker: TransactionBroker) -> None:
    request = ListTransactionsRequest(state_filters=["Ongoing", "ongoing"])
    answer = broker.ask(HANDLER, request, 0)
    assert answer.unknown_state_filters == ["ongoing"]
    assert len(answer.transaction_states) == 2


def test_a_pattern_that_is_none(broker: TransactionBroker) -> None:
    answer = broker.ask(HANDLER, ListTransactionsRequest(transactional_id_pattern="("), 2)
    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
