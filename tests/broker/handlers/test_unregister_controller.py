"""UnregisterController: on both kinds of listener."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers import controller_registration
from pykbroker.broker.handlers.unregister_controller import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.controller_registration_request import (
    ControllerRegistrationRequest,
)
from pykbroker.protocol.messages.unregister_controller_request import UnregisterControllerRequest
from tests.broker.handlers.admin_broker import AdminBroker


@pytest.mark.parametrize("on_controller", [False, True])
def test_a_controller_is_forgotten_unless_it_is_a_voter(on_controller: bool) -> None:
    broker = AdminBroker()
    former = ControllerRegistrationRequest(controller_id=7, incarnation_id=b"c" * 16)
    broker.call(controller_registration.HANDLER, former, 0, on_controller=True)
    assert 7 in broker.image.controllers

    def unregister(controller_id: int) -> tuple[int, str | None]:
        request = UnregisterControllerRequest(controller_id=controller_id)
        answer = broker.call(HANDLER, request, 0, on_controller=on_controller)
        return answer.error_code, answer.error_message

    assert unregister(7) == (0, None)
    assert 7 not in broker.image.controllers
    assert unregister(7)[0] == ErrorCode.CONTROLLER_ID_NOT_REGISTERED
    assert unregister(1) == (
        ErrorCode.INVALID_REQUEST,
        "Cannot unregister controller 1 because it is part of the voter set.",
    )
