"""InitProducerId (22): a producer id for an idempotent or a transactional producer.

Behaviour: without a transactional id, a fresh id with epoch 0, whatever id and epoch the producer
had before. Ids come in blocks from the controller; a request that finds none waits for the next
block, and receives COORDINATOR_LOAD_IN_PROGRESS (which clients retry) if the controller provides
none. With a transactional id, the coordinator decides (`coordinator/transaction/initialising.py`);
an open transaction is aborted first, and the client has to retry (CONCURRENT_TRANSACTIONS). One of
producer id and epoch without the other is INVALID_REQUEST. Errors with a transactional id, among
them:

    it is empty                                                    INVALID_REQUEST
    a timeout outside 1 to transaction.max.timeout.ms              INVALID_TRANSACTION_TIMEOUT
    a producer that was replaced         PRODUCER_FENCED; before version 4 INVALID_PRODUCER_EPOCH
    the coordinator's own                COORDINATOR_NOT_AVAILABLE and the like

Versions: 0-5.
Not done: two-phase commit of clients (KIP-939); authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.deferred import Deferred, then
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.init_producer_id_response import InitProducerIdResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.coordinator.transaction.shard import Reply
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.init_producer_id_request import InitProducerIdRequest

API_KEY = 22
FENCED_FROM = 4


def handle(services: BrokerServices, request: Request) -> InitProducerIdResponse | Deferred:
    """Return the reply, or a Deferred while a block of ids or the coordinator is awaited."""
    message: InitProducerIdRequest = request.message
    if (message.producer_id == -1) != (message.producer_epoch == -1):
        return error_reply(request, ErrorCode.INVALID_REQUEST)
    if message.transactional_id is not None:
        return _initialise(services, request)
    producer_id = services.producer_ids.take()
    if isinstance(producer_id, int):
        return _reply(producer_id)
    answer = Deferred()

    def on_id(found: int | KafkaError) -> None:
        answer.resolve(found if isinstance(found, KafkaError) else _reply(found))

    producer_id.on_resolved(on_id)
    return answer


def _reply(producer_id: int) -> InitProducerIdResponse:
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def _initialise(services: BrokerServices, request: Request) -> InitProducerIdResponse | Deferred:
    from pykbroker.coordinator.transaction.initialising import Initialisation

    message: InitProducerIdRequest = request.message
    if not message.transactional_id:
        return error_reply(request, ErrorCode.INVALID_REQUEST)
    asked = Initialisation(
        message.transactional_id,
        message.transaction_timeout_ms,
        message.producer_id,
        message.producer_epoch,
    )

    def answer(reply: Reply) -> InitProducerIdResponse:
        if reply.code or reply.transaction is None:
            return error_reply(request, reply.code)
        return InitProducerIdResponse(
            producer_id=reply.transaction.producer_id, producer_epoch=reply.transaction.epoch
        )

    return then(services.transactions.initialise(asked), answer)


def error_reply(request: Request, code: int, message: str | None = None) -> InitProducerIdResponse:
    """Return the error without an id."""
    if code == ErrorCode.PRODUCER_FENCED and request.api_version < FENCED_FROM:
        code = int(ErrorCode.INVALID_PRODUCER_EPOCH)
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=5, error_reply=error_reply
)
