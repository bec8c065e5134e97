"""BrokerHeartbeat: only the active controller knows which brokers are alive."""

from __future__ import annotations

from pykbroker.broker.handlers.broker_heartbeat import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from tests.broker.handlers.admin_broker import AdminBroker


def test_every_version_of_a_broker_that_lives() -> None:
    broker = AdminBroker()
    request = BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=broker.node.broker_epoch, current_metadata_offset=1000
    )
    for version in range(3):
        answer = broker.call(HANDLER, request, version, on_controller=True)
        assert (answer.error_code, answer.is_fenced, answer.is_caught_up) == (0, False, True)


def test_an_earlier_incarnation_is_refused() -> None:
    request = BrokerHeartbeatRequest(broker_id=1, broker_epoch=0)
    answer = AdminBroker().call(HANDLER, request, 1, on_controller=True)
    assert answer.error_code == ErrorCode.STALE_BROKER_EPOCH
