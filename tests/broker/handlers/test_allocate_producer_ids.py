"""AllocateProducerIds: every block is given once."""

from __future__ import annotations

from pykbroker.broker.handlers.allocate_producer_ids import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from tests.broker.handlers.admin_broker import AdminBroker


def test_blocks_follow_each_other() -> None:
    broker = AdminBroker()
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=broker.node.broker_epoch)
    blocks = [broker.call(HANDLER, request, 0, on_controller=True) for _ in range(3)]
    assert [at.producer_id_start for at in blocks] == [0, 1000, 2000]
    assert {at.producer_id_len for at in blocks} == {1000}


def test_a_broker_that_is_not_registered_gets_none() -> None:
    request = AllocateProducerIdsRequest(broker_id=9, broker_epoch=0)
    answer = AdminBroker().call(HANDLER, request, 0, on_controller=True)
    assert answer.error_code == ErrorCode.STALE_BROKER_EPOCH
