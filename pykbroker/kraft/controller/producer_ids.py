"""Producer ids in blocks: each broker takes a block of 1000 and assigns its ids.

Source: Kafka's `ProducerIdControlManager.java`, `ProducerIdsBlock.java`.
"""

from __future__ import annotations

from typing import Any, Final

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.brokers import check_broker_epoch
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.protocol.messages.allocate_producer_ids_response import AllocateProducerIdsResponse
from pykbroker.protocol.messages.producer_ids_record import ProducerIdsRecord

PRODUCER_ID_BLOCK_SIZE: Final = 1000
_MAX_PRODUCER_ID: Final = 2**63 - 1


def allocate_producer_ids(state: ControllerState, request: Any) -> Decision[MetadataRecord]:
    """Decide an AllocateProducerIdsRequest; the reply names the block. Raises KafkaError for
    another broker epoch, or once the ids are used up.
    """
    check_broker_epoch(state, request.broker_id, request.broker_epoch)
    first = max(state.image.next_producer_id, 0)
    if first > _MAX_PRODUCER_ID - PRODUCER_ID_BLOCK_SIZE:
        raise KafkaError(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            "Exhausted all producerIds as the next block's end producerId has exceeded the int64 "
            "type limit",
        )
    record = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=first + PRODUCER_ID_BLOCK_SIZE,
    )
    reply = AllocateProducerIdsResponse(
        producer_id_start=first, producer_id_len=PRODUCER_ID_BLOCK_SIZE
    )
    return Decision(records=[MetadataRecord(record)], reply=reply)
