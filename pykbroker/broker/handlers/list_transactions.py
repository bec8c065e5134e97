"""ListTransactions (66): the transactional ids that this node coordinates.

Behaviour: filters by state (unknown names are returned as such), producer id, age of the
transaction in milliseconds (version 1) and a regular expression that the whole id has to match
(version 2; an invalid one is INVALID_REGULAR_EXPRESSION). COORDINATOR_LOAD_IN_PROGRESS while some
ids are still being loaded.
Versions: 0-2.
Not done: RE2's regular expressions (Python's are used); authorization.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, InSlices, Outcome, in_slices_if
from pykbroker.coordinator.transaction.states import STATE_NAMES
from pykbroker.deferred import then
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.list_transactions_response import (
    ListTransactionsResponse,
    TransactionState,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.coordinator.transaction.transaction import Transaction
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.list_transactions_request import ListTransactionsRequest

API_KEY = 66
FEW = 500  # transactions that are looked through without a pause


def handle(services: BrokerServices, request: Request) -> Outcome:
    """List what passes all filters."""
    message: ListTransactionsRequest = request.message
    breathe = services.breathe
    now_ms = services.now_ms()
    states = dict.fromkeys(paced(message.state_filters, breathe))
    unknown = [name for name in paced(states, breathe) if name not in STATE_NAMES]
    producer_ids = frozenset(paced(message.producer_id_filters, breathe))
    pattern = _pattern(message.transactional_id_pattern)

    def is_wanted(transactional_id: str, found: Transaction) -> bool:
        return (
            (not producer_ids or found.producer_id in producer_ids)
            and (not states or found.state.shown in states)
            and not (
                message.duration_filter >= 0
                and now_ms - found.started_ms <= message.duration_filter
            )
            and (pattern is None or pattern.fullmatch(transactional_id) is not None)
        )

    def answer(found: dict[str, Transaction] | KafkaError) -> ListTransactionsResponse | InSlices:
        if isinstance(found, KafkaError):
            return error_reply(request, found.code)
        outcome: ListTransactionsResponse | InSlices
        outcome = in_slices_if(len(found) > FEW, partial(respond, found))
        return outcome

    def respond(found: dict[str, Transaction]) -> ListTransactionsResponse:
        return ListTransactionsResponse(
            unknown_state_filters=unknown,
            transaction_states=[
                TransactionState(
                    transactional_id=transactional_id,
                    producer_id=transaction.producer_id,
                    transaction_state=transaction.state.shown,
                )
                for transactional_id, transaction in paced(found.items(), breathe)
                if is_wanted(transactional_id, transaction)
            ],
        )

    return then(services.transactions.all_transactions(), answer)


def _pattern(text: str | None) -> re.Pattern[str] | None:
    if not text:
        return None
    try:
        return re.compile(text)
    except re.error as fault:
        raise KafkaError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"Transaction ID pattern `{text}` is not a valid regular expression: {fault}.",
        ) from None


def error_reply(
    request: Request, code: int, message: str | None = None
) -> ListTransactionsResponse:
    """Return only the code."""
    return ListTransactionsResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=2, error_reply=error_reply
)
