"""EndTxn (26): commit or abort a transaction.

Behaviour: answered when the outcome is written and committed; the markers on the partitions follow.
From version 5 on (transaction.version 2) the answer has the producer id and epoch to continue with,
and an abort of a transaction that has not begun is carried out. The rules are in
`coordinator/transaction/ending.py`; PRODUCER_FENCED before version 2 is INVALID_PRODUCER_EPOCH.
Versions: 0-5.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.coordinator.transaction.ending import Ending
from pykbroker.deferred import Deferred, then
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.end_txn_response import EndTxnResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.coordinator.transaction.shard import Reply
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.end_txn_request import EndTxnRequest

API_KEY = 26
FENCED_FROM = 2
EPOCH_BUMPING_FROM = 5


def handle(services: BrokerServices, request: Request) -> EndTxnResponse | Deferred:
    """Ask the coordinator."""
    message: EndTxnRequest = request.message
    if not message.transactional_id:
        return error_reply(request, ErrorCode.INVALID_REQUEST)
    bumps = request.api_version >= EPOCH_BUMPING_FROM
    asked = Ending(
        message.transactional_id,
        message.producer_id,
        message.producer_epoch,
        message.committed,
        2 if bumps else 0,
    )

    def answer(reply: Reply) -> EndTxnResponse:
        if reply.code or reply.transaction is None or not bumps:
            return error_reply(request, reply.code)
        return EndTxnResponse(
            producer_id=reply.transaction.producer_id, producer_epoch=reply.transaction.epoch
        )

    return then(services.transactions.end(asked), answer)


def error_reply(request: Request, code: int, message: str | None = None) -> EndTxnResponse:
    """Return only the code."""
    if code == ErrorCode.PRODUCER_FENCED and request.api_version < FENCED_FROM:
        code = int(ErrorCode.INVALID_PRODUCER_EPOCH)
    return EndTxnResponse(error_code=code, producer_id=-1, producer_epoch=-1)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=5, error_reply=error_reply
)
