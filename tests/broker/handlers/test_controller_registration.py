"""ControllerRegistration: what a controller reports about itself."""

from __future__ import annotations

from pykbroker.broker.handlers.controller_registration import HANDLER
from pykbroker.protocol.messages.controller_registration_request import (
    ControllerRegistrationRequest,
    Feature,
    Listener,
)
from tests.broker.handlers.admin_broker import AdminBroker


def test_it_is_recorded() -> None:
    broker = AdminBroker()
    request = ControllerRegistrationRequest(
        controller_id=3,
        incarnation_id=b"i" * 16,
        listeners=[Listener(name="CONTROLLER", host="h", port=9, security_protocol=0)],
        features=[Feature(name="kraft.version", min_supported_version=0, max_supported_version=1)],
    )
    answer = broker.call(HANDLER, request, 0, on_controller=True)
    assert (answer.error_code, answer.error_message) == (0, None)
    assert broker.image.controllers[3].incarnation_id == b"i" * 16
