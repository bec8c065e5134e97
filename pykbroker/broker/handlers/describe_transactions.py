"""DescribeTransactions (65): the coordinator's state of transactional ids.

Behaviour: state, producer id and epoch, timeout, start and partitions of each id that this node
coordinates. While markers are being sent, its partitions are those that have none yet.
INVALID_REQUEST for an empty id, TRANSACTIONAL_ID_NOT_FOUND for an unknown one, and the
coordinator's own errors, such as NOT_COORDINATOR.
Versions: 0.
Not done: authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.broker.handlers import Handler, InSlices, Outcome, in_slices_if
from pykbroker.coordinator.transaction.transaction import Transaction
from pykbroker.deferred import Deferred, gather
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.describe_transactions_response import (
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.describe_transactions_request import (
        DescribeTransactionsRequest,
    )

API_KEY = 65
FEW = 500  # ids and partitions that are described without a pause


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Describe every id."""
    message: DescribeTransactionsRequest = request.message
    asked = message.transactional_ids

    def answer(found: list[Any]) -> DescribeTransactionsResponse | InSlices:
        is_long = len(found) > FEW or sum(map(_partitions_of, found)) > FEW
        outcome: DescribeTransactionsResponse | InSlices
        outcome = in_slices_if(is_long, partial(_described, services, asked, found))
        return outcome

    parts = (_find(services, each) for each in paced(asked, services.breathe))
    outcome: Outcome = gather(parts, answer)
    return outcome


def _find(services: BrokerServices, transactional_id: str) -> Transaction | ErrorCode | Deferred:
    if not transactional_id:
        return ErrorCode.INVALID_REQUEST
    return services.transactions.one_transaction(transactional_id)


def _partitions_of(found: Transaction | ErrorCode) -> int:
    return len(found.partitions) if isinstance(found, Transaction) else 0


def _described(
    services: BrokerServices, asked: Sequence[str], found: Sequence[Transaction | ErrorCode]
) -> DescribeTransactionsResponse:
    pairs = zip(asked, found, strict=True)
    return DescribeTransactionsResponse(
        transaction_states=[_state(services, *pair) for pair in paced(pairs, services.breathe)]
    )


def _state(
    services: BrokerServices, transactional_id: str, found: Transaction | ErrorCode
) -> TransactionState:
    if isinstance(found, ErrorCode):
        return TransactionState(transactional_id=transactional_id, error_code=int(found))
    topics: dict[str, TopicData] = {}
    for name, index in paced(found.partitions, services.breathe):
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
    """Return the same code for every id."""
    return DescribeTransactionsResponse(
        transaction_states=[
            TransactionState(transactional_id=each, error_code=code)
            for each in request.message.transactional_ids
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)
