"""BrokerRegistration: a second broker joins."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.broker_registration import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.kraft.metadata_version import SUPPORTED_FEATURES
from pykbroker.protocol.messages.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from tests.broker.handlers.admin_broker import AdminBroker


@pytest.mark.parametrize("version", range(5))
def test_every_version(version: int) -> None:
    broker = AdminBroker()
    request = BrokerRegistrationRequest(
        broker_id=2,
        cluster_id=broker.cluster_id,
        incarnation_id=b"i" * 16,
        listeners=[Listener(name="PLAINTEXT", host="h", port=9, security_protocol=0)],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in SUPPORTED_FEATURES.items()
        ],
        rack=None,
        log_dirs=[b"d" * 16] if version >= 2 else [],
    )
    answer = broker.call(HANDLER, request, version, on_controller=True)
    if version < 2:  # metadata.version asks for the ids of log directories
        assert answer.error_code == ErrorCode.INVALID_REGISTRATION
        return
    assert answer.error_code == 0
    assert broker.image.brokers[2].epoch == answer.broker_epoch
    assert broker.image.brokers[2].fenced


def test_another_cluster() -> None:
    request = BrokerRegistrationRequest(broker_id=2, cluster_id="other", rack=None)
    answer = AdminBroker().call(HANDLER, request, 3, on_controller=True)
    assert answer.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
