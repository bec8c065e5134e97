"""AddOffsetsToTxn (25): the offsets of a group join a transaction.

Behaviour: the partition of `__consumer_offsets` that holds the group joins the transaction, which
begins if this is its first one. PRODUCER_FENCED before version 2 is INVALID_PRODUCER_EPOCH.
Versions: 0-4.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.coordinator.transaction.shard import Addition
from pykbroker.deferred import Deferred, then
from pykbroker.errors import ErrorCode
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.protocol.messages.add_offsets_to_txn_response import AddOffsetsToTxnResponse
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest

API_KEY = 25
FENCED_FROM = 2


def handle(services: BrokerServices, request: Request) -> AddOffsetsToTxnResponse | Deferred:
    """Ask the coordinator."""
    message: AddOffsetsToTxnRequest = request.message
    if not message.transactional_id:
        return error_reply(request, ErrorCode.INVALID_REQUEST)
    partition = services.groups.partition_for(message.group_id)
    asked = Addition(
        message.transactional_id,
        message.producer_id,
        message.producer_epoch,
        {TopicPartition(GROUP_METADATA_TOPIC, partition): None},
    )
    outcome = services.transactions.add_partitions(asked)
    return then(outcome, lambda reply: error_reply(request, reply.code))


def error_reply(request: Request, code: int, message: str | None = None) -> AddOffsetsToTxnResponse:
    """Return only the code."""
    if code == ErrorCode.PRODUCER_FENCED and request.api_version < FENCED_FROM:
        code = int(ErrorCode.INVALID_PRODUCER_EPOCH)
    return AddOffsetsToTxnResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=4, error_reply=error_reply
)
