"""InitProducerId (22): a producer id for an idempotent producer.

Behaviour: without a transactional id, a fresh id with epoch 0, whatever id and epoch the producer
had before. Ids come in blocks from the controller; a request that finds none waits for the next
block, and gets COORDINATOR_LOAD_IN_PROGRESS (which clients retry) when the controller gives none.
Only one of producer id and epoch: INVALID_REQUEST. With a transactional id: INVALID_REQUEST when it
is empty, INVALID_TRANSACTION_TIMEOUT when the timeout is not within transaction.max.timeout.ms,
else NOT_COORDINATOR, the answer of a broker that holds no partition of __transaction_state.
Versions: 0-5.
Not done: transactions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.init_producer_id_response import InitProducerIdResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.init_producer_id_request import InitProducerIdRequest

API_KEY = 22


def handle(services: BrokerServices, request: Request) -> InitProducerIdResponse | Deferred:
    """An id, now or when the controller has given a block."""
    message: InitProducerIdRequest = request.message
    if (message.producer_id == -1) != (message.producer_epoch == -1):
        return error_reply(request, ErrorCode.INVALID_REQUEST)
    if message.transactional_id is not None:
        return error_reply(request, _refusal(services, message))
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


def _refusal(services: BrokerServices, message: InitProducerIdRequest) -> int:
    if not message.transactional_id:
        return int(ErrorCode.INVALID_REQUEST)
    longest_ms = services.config.value("transaction.max.timeout.ms")
    if not 0 < message.transaction_timeout_ms <= longest_ms:  # type: ignore[operator]
        return int(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
    return int(ErrorCode.NOT_COORDINATOR)


def error_reply(request: Request, code: int, message: str | None = None) -> InitProducerIdResponse:
    """No id, and why."""
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=5, error_reply=error_reply
)
