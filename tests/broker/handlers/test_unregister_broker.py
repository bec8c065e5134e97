"""UnregisterBroker: on both kinds of listener."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.unregister_broker import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.unregister_broker_request import UnregisterBrokerRequest
from tests.broker.handlers.admin_broker import AdminBroker


@pytest.mark.parametrize("on_controller", [False, True])
def test_a_broker_is_forgotten(on_controller: bool) -> None:
    broker = AdminBroker()
    request = UnregisterBrokerRequest(broker_id=1)
    answer = broker.call(HANDLER, request, 0, on_controller=on_controller)
    assert (answer.error_code, answer.error_message) == (0, None)
    assert 1 not in broker.image.brokers
    answer = broker.call(HANDLER, request, 0, on_controller=on_controller)
    assert answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert answer.error_message == "Broker ID 1 is not currently registered"
