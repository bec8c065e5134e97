"""WriteTxnMarkers (27): a transaction coordinator ends transactions in partitions of this broker.

Behaviour: see `broker/transactions/transaction_markers.py`. Every partition of every producer id is
answered, once all markers are committed, rejected or timed out.
Versions: 1-2. From 2 on a marker carries the transaction version, which decides which producer
epochs count as old.
Not done: authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, Outcome, in_slices_if
from pykbroker.broker.transactions.transaction_markers import response_to, write_markers
from pykbroker.deferred import then
from pykbroker.protocol.messages.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.coordinator.transaction.marker_driver import MarkerResults
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.write_txn_markers_request import WriteTxnMarkersRequest

API_KEY = 27
FEW = 500  # partitions whose results are answered without a pause


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Write the markers."""
    message: WriteTxnMarkersRequest = request.message

    def answer(results: MarkerResults) -> Outcome:
        job = partial(response_to, results, services.breathe)
        outcome: Outcome = in_slices_if(len(results) > FEW, job)
        return outcome

    outcome: Outcome = then(write_markers(services, message.markers), answer)
    return outcome


def error_reply(request: Request, code: int, message: str | None) -> WriteTxnMarkersResponse:
    """Return the same error for every partition."""
    asked: WriteTxnMarkersRequest = request.message
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in asked.markers
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=1, max_version=2, error_reply=error_reply
)
