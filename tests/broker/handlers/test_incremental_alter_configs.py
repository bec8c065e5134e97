"""IncrementalAlterConfigs: what the broker checks, what the controller decides, in one answer."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.incremental_alter_configs import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.broker.handlers.admin_broker import AdminBroker

TOPIC, BROKER, LOGGER, METRICS = 2, 4, 8, 16
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3

FORMATTED = {(BROKER, ""): {"min.insync.replicas": "1"}}
"""What a cluster begins with: one value for all brokers (KIP-966)."""


def resource(kind: int, name: str, *operations: tuple[str, int, str | None]) -> Any:
    return AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in operations
        ],
    )


def alter(
    broker: AdminBroker,
    *resources: Any,
    version: int = 1,
    only: bool = False,
    on_controller: bool = False,
) -> list[str]:
    request = IncrementalAlterConfigsRequest(resources=list(resources), validate_only=only)
    answer = broker.call(HANDLER, request, version, on_controller=on_controller).responses
    assert [(at.resource_type, at.resource_name) for at in answer] == [
        (at.resource_type, at.resource_name) for at in resources
    ]
    return [ErrorCode(at.error_code).name for at in answer]


@pytest.fixture
def broker() -> AdminBroker:
    broker = AdminBroker()
    broker.create("t")
    return broker


@pytest.mark.parametrize("version", [0, 1])
def test_every_version(broker: AdminBroker, version: int) -> None:
    change = resource(TOPIC, "t", ("retention.ms", SET, "5"), ("cleanup.policy", APPEND, "compact"))
    assert alter(broker, change, version=version) == ["NONE"]
    assert broker.image.topic_config("t") == {
        "retention.ms": "5",
        "cleanup.policy": "delete,compact",
    }
    change = resource(TOPIC, "t", ("retention.ms", DELETE, None))
    assert alter(broker, change, version=version) == ["NONE"]
    assert "retention.ms" not in broker.image.topic_config("t")


def test_answers_keep_the_order_of_the_request(broker: AdminBroker) -> None:
    assert alter(
        broker,
        resource(BROKER, "7", ("log.retention.ms", SET, "1")),
        resource(TOPIC, "t", ("retention.ms", SET, "5")),
        resource(METRICS, "m", ("interval.ms", SET, "5")),
        resource(TOPIC, "x", ("retention.ms", SET, "5")),
        resource(BROKER, "", ("log.retention.ms", SET, "1000")),
    ) == ["INVALID_REQUEST", "NONE", "INVALID_REQUEST", "UNKNOWN_TOPIC_OR_PARTITION", "NONE"]
    assert broker.image.topic_config("t") == {"retention.ms": "5"}
    assert broker.image.cluster_config() == {
        "log.retention.ms": "1000",
        "min.insync.replicas": "1",
    }
    assert broker.config.log_retention_time_ms == 1000


def test_validate_only(broker: AdminBroker) -> None:
    change = resource(TOPIC, "t", ("retention.ms", SET, "5"))
    assert alter(broker, change, only=True) == ["NONE"]
    assert broker.image.topic_config("t") == {}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (resource(TOPIC, "t", ("retention.ms", SET, None)), "INVALID_REQUEST"),
        (resource(TOPIC, "t", ("retention.ms", SET, "x")), "INVALID_CONFIG"),
        (resource(TOPIC, "t", ("retention.ms", APPEND, "1")), "INVALID_CONFIG"),
        (resource(TOPIC, "t", ("retention.ms", 9, "1")), "UNKNOWN_SERVER_ERROR"),
        (resource(BROKER, "", ("log.retention.ms", 9, "1")), "UNKNOWN_SERVER_ERROR"),
        (
            resource(TOPIC, "t", ("retention.ms", SET, "1"), ("retention.ms", DELETE, None)),
            "INVALID_REQUEST",
        ),
        (resource(BROKER, "x", ("log.retention.ms", SET, "1")), "INVALID_REQUEST"),
        (resource(BROKER, "1", ("node.id", SET, "2")), "INVALID_REQUEST"),
        (resource(BROKER, "1", ("log.retention.ms", SET, "x")), "INVALID_REQUEST"),
        (resource(BROKER, "1", ("log.retention.ms", APPEND, "1")), "INVALID_CONFIG"),
        (resource(LOGGER, "1", ("root", SET, "DEBUG")), "INVALID_CONFIG"),
        (resource(99, "1", ("x", SET, "y")), "INVALID_REQUEST"),
    ],
)
def test_refusals(broker: AdminBroker, asked: Any, code: str) -> None:
    assert alter(broker, asked) == [code]
    assert broker.image.configs == FORMATTED


def test_an_operation_that_is_none_refuses_all_that_the_controller_gets(
    broker: AdminBroker,
) -> None:
    assert alter(
        broker,
        resource(TOPIC, "t", ("retention.ms", SET, "5")),
        resource(TOPIC, "t2", ("retention.ms", 9, "1")),
        resource(BROKER, "x", ("log.retention.ms", SET, "1")),
    ) == ["UNKNOWN_SERVER_ERROR", "UNKNOWN_SERVER_ERROR", "INVALID_REQUEST"]
    assert broker.image.configs == FORMATTED


def test_a_resource_twice_is_refused_both_times(broker: AdminBroker) -> None:
    once = resource(TOPIC, "t", ("retention.ms", SET, "5"))
    again = resource(TOPIC, "t", ("segment.bytes", SET, "1048576"))
    request = IncrementalAlterConfigsRequest(resources=[once, again])
    answer = broker.call(HANDLER, request, 1).responses
    assert {at.error_code for at in answer} == {ErrorCode.INVALID_REQUEST}


def test_a_controller_that_does_not_lead(broker: AdminBroker) -> None:
    broker.world.controller.deactivate()
    change = resource(TOPIC, "t", ("retention.ms", SET, "5"))
    assert alter(broker, change, on_controller=True) == ["NOT_CONTROLLER"]
