"""AlterConfigs: the whole configuration of a resource is replaced."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.alter_configs import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.alter_configs_request import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from tests.broker.handlers.admin_broker import AdminBroker


def alter(
    broker: AdminBroker,
    kind: int,
    name: str,
    version: int,
    configs: dict[str, str | None],
    *,
    on_controller: bool = False,
) -> str:
    resource: Any = AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[AlterableConfig(name=key, value=value) for key, value in configs.items()],
    )
    request = AlterConfigsRequest(resources=[resource])
    answer = broker.call(HANDLER, request, version, on_controller=on_controller)
    (result,) = answer.responses
    assert (result.resource_type, result.resource_name) == (kind, name)
    return ErrorCode(result.error_code).name


@pytest.mark.parametrize("version", range(3))
def test_every_version(version: int) -> None:
    broker = AdminBroker()
    broker.create("t", retention_ms="1")
    assert alter(broker, 2, "t", version, {"segment.bytes": "1048576"}) == "NONE"
    assert broker.image.topic_config("t") == {"segment.bytes": "1048576"}
    assert alter(broker, 2, "t", version, {}) == "NONE"
    assert broker.image.topic_config("t") == {}


@pytest.mark.parametrize(
    ("kind", "name", "configs", "code"),
    [
        (2, "t", {"retention.ms": None}, "INVALID_REQUEST"),
        (2, "t", {"retention.ms": "x"}, "INVALID_CONFIG"),
        (2, "x", {"retention.ms": "1"}, "UNKNOWN_TOPIC_OR_PARTITION"),
        (4, "1", {"log.retention.ms": "x"}, "INVALID_REQUEST"),
        (4, "2", {"log.retention.ms": "1"}, "INVALID_REQUEST"),
        (8, "1", {"root": "DEBUG"}, "INVALID_REQUEST"),
    ],
)
def test_refusals(kind: int, name: str, configs: dict[str, str | None], code: str) -> None:
    broker = AdminBroker()
    broker.create("t")
    assert alter(broker, kind, name, 2, configs) == code


def test_the_broker_takes_its_new_configuration() -> None:
    broker = AdminBroker()
    assert alter(broker, 4, "1", 2, {"log.retention.ms": "777"}) == "NONE"
    assert broker.config.log_retention_time_ms == 777
    assert alter(broker, 4, "1", 2, {}) == "NONE"
    assert broker.config.log_retention_time_ms != 777


def test_a_controller_that_does_not_lead() -> None:
    broker = AdminBroker()
    broker.create("t")
    broker.world.controller.deactivate()
    assert alter(broker, 2, "t", 2, {}, on_controller=True) == "NOT_CONTROLLER"
