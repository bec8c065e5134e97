"""DescribeTransactions (65): what the coordinator knows of transactional ids.

Behaviour: state, producer id and epoch, timeout, start and partitions of each id that this node
coordinates. INVALID_REQUEST for an empty id, TRANSACTIONAL_ID_NOT_FOUND for an unknown one,
NOT_COORDINATOR and COORDINATOR_LOAD_IN_PROGRESS as everywhere.
Versions: 0.
Not done: nothing.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.deferred import Deferred, gather, then
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.describe_transactions_response import (
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.coordinator.transaction.transaction import Transaction
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.describe_transactions_request import (
        DescribeTransactionsRequest,
    )

API_KEY = 65


def handle(services: BrokerServices, request: Request) -> DescribeTransactionsResponse | Deferred:
    """Describe every id."""
    message: DescribeTransactionsRequest = request.message
    parts = [_describe(services, asked) for asked in message.transactional_ids]
    return gather(parts, lambda found: DescribeTransactionsResponse(transaction_states=found))


def _describe(services: BrokerServices, transactional_id: str) -> TransactionState | Deferred:
    if not transactional_id:
        return _described(transactional_id, ErrorCode.INVALID_REQUEST)
    found = services.transactions.one_transaction(transactional_id)
    return then(found, partial(_described, transactional_id))


def _described(transactional_id: str, found: Transaction | ErrorCode) -> TransactionState:
    if isinstance(found, ErrorCode):
        return TransactionState(transactional_id=transactional_id, error_code=int(found))
    topics: dict[str, TopicData] = {}
    for name, index in found.partitions:
        topics.setdefault(name, TopicData(topic=name)).partitions.append(index)
    return TransactionState(
        transactional_id=transactional_id,
        transaction_state=found.state.shown,
        transaction_timeout_ms=found.timeout_ms,
        transaction_start_time_ms=found.started_ms,
        producer_id=found.producer_id,
        producer_epoch=found.epoch,
        topics=list(topics.values()),
    )


def error_reply(
    request: Request, code: int, message: str | None = None
) -> DescribeTransactionsResponse:
    """The same code for every id."""
    return DescribeTransactionsResponse(
        transaction_states=[
            TransactionState(transactional_id=each, error_code=code)
            for each in request.message.transactional_ids
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
