"""DescribeTransactions: each id as its coordinator knows it."""

from __future__ import annotations

from pykbroker.broker.handlers.describe_transactions import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.transaction_broker import TransactionBroker


def test_an_open_one_and_others() -> None:
    broker = TransactionBroker()
    broker.init()
    broker.add(0, 1, 0)
    request = DescribeTransactionsRequest(transactional_ids=["id", "x", ""])
    one, unknown, empty = broker.ask(HANDLER, request, 0).transaction_states
    assert (one.error_code, one.transactional_id, one.transaction_state) == (0, "id", "Ongoing")
    assert (one.producer_id, one.producer_epoch) == (100, 0)
    assert one.transaction_timeout_ms == 60_000
    assert one.transaction_start_time_ms == broker.now_ms()
    assert [(topic.topic, topic.partitions) for topic in one.topics] == [("t", [1, 0])]
    assert unknown.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert empty.error_code == ErrorCode.INVALID_REQUEST


def test_a_node_that_is_no_coordinator() -> None:
    broker = TransactionBroker(ready=False)
    call = broker.call(HANDLER, DescribeTransactionsRequest(transactional_ids=["id"]), 0)
    assert call.answer.transaction_states[0].error_code == ErrorCode.NOT_COORDINATOR
    reply = error_reply(HANDLER, call.request, 15, None)
    assert reply.transaction_states[0].error_code == 15
