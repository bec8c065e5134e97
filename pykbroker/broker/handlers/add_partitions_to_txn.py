"""AddPartitionsToTxn (24): partitions join a transaction, which begins with the first ones.

Behaviour: see `coordinator/transaction/partition_requests.py`. Clients send versions 0 to 3;
brokers 4 and later, for several transactions at once. PRODUCER_FENCED before version 2 is
INVALID_PRODUCER_EPOCH.
Versions: 0-5.
Not done: authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, Outcome, in_slices_if
from pykbroker.coordinator.transaction.partition_requests import (
    FROM_BROKERS,
    asked_transactions,
    same_code,
)
from pykbroker.deferred import then
from pykbroker.protocol.messages.add_partitions_to_txn_response import AddPartitionsToTxnResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request

API_KEY = 24
LONG_BYTES = 20_000  # of a request whose answer is made in slices


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Ask the coordinator."""
    message, version = request.message, request.api_version
    made = services.transactions.add_partitions_batch(message, version, services.breathe)
    is_long = len(request.frame) > LONG_BYTES
    outcome: Outcome = then(made, partial(in_slices_if, is_long))
    return outcome


def error_reply(
    request: Request, code: int, message: str | None = None
) -> AddPartitionsToTxnResponse:
    """Return the code for every partition; from version 4 on only for the whole request."""
    asked = asked_transactions(request.message, request.api_version)
    if request.api_version >= FROM_BROKERS:
        return AddPartitionsToTxnResponse(error_code=code)
    results = same_code(asked[0].topics, asked[0].transactional_id, code)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results.topic_results)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=5, error_reply=error_reply
)
