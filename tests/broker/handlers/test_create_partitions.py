"""CreatePartitions at the handler: every version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.create_partitions import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.broker.handlers.admin_broker import AdminBroker


def grow(name: str, count: int, timeout_ms: int = 1000) -> CreatePartitionsRequest:
    return CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=count, assignments=None)],
        timeout_ms=timeout_ms,
    )


@pytest.mark.parametrize("version", range(4))
def test_every_version(version: int) -> None:
    broker = AdminBroker()
    broker.create("t")
    (result,) = broker.call(HANDLER, grow("t", 3), version).results
    assert (result.name, result.error_code, result.error_message) == ("t", 0, None)
    assert len(broker.image.topics_by_name["t"].partitions) == 3
    (result,) = broker.call(HANDLER, grow("t", 3), version).results
    assert result.error_code == ErrorCode.INVALID_PARTITIONS


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_no_time_at_all(timeout_ms: int) -> None:
    broker = AdminBroker()
    broker.create("t")
    (result,) = broker.call(HANDLER, grow("t", 3, timeout_ms), 3).results
    assert (result.error_code, result.error_message) == (ErrorCode.REQUEST_TIMED_OUT, None)
    assert len(broker.image.topics_by_name["t"].partitions) == 1


def test_a_controller_that_does_not_lead() -> None:
    broker = AdminBroker()
    broker.world.controller.deactivate()
    (result,) = broker.call(HANDLER, grow("t", 3), 3, on_controller=True).results
    assert result.error_code == ErrorCode.NOT_CONTROLLER
