"""UpdateFeatures at the handler: every version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.update_features import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.update_features_request import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from tests.broker.handlers.admin_broker import AdminBroker


def update(feature: str, level: int) -> UpdateFeaturesRequest:
    return UpdateFeaturesRequest(
        feature_updates=[FeatureUpdateKey(feature=feature, max_version_level=level)]
    )


@pytest.mark.parametrize("version", range(3))
def test_every_version(version: int) -> None:
    broker = AdminBroker()
    answer = broker.call(HANDLER, update("metadata.version", 33), version)
    assert (answer.error_code, answer.error_message) == (0, None)
    assert len(answer.results) == (1 if version <= 1 else 0)
    refused = broker.call(HANDLER, update("group.version", 1), version)
    assert refused.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert "does not support this feature" in refused.error_message


def test_a_controller_that_does_not_lead() -> None:
    broker = AdminBroker()
    broker.world.controller.deactivate()
    answer = broker.call(HANDLER, update("metadata.version", 33), 2, on_controller=True)
    assert answer.error_code == ErrorCode.NOT_CONTROLLER


def test_a_broker_that_finds_no_controller_gives_up_in_time() -> None:
    broker = AdminBroker()
    broker.world.controller.deactivate()
    began_ms = broker.now_ms()
    answer = broker.call(HANDLER, update("metadata.version", 33), 2, patience_ms=61_000)
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert broker.now_ms() - began_ms == 60_000
