"""AlterConfigs and IncrementalAlterConfigs on the controller."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages import alter_configs_request as legacy
from pykbroker.protocol.messages import incremental_alter_configs_request as incremental
from tests.kraft.controller.controller_world import ControllerWorld, topic

SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3


@pytest.fixture
def world() -> ControllerWorld:
    world = ControllerWorld().brokers(1)
    world.create(topic("t", configs={"retention.ms": "1000"}))
    return world


def change(
    world: ControllerWorld, kind: int, name: str, *operations: tuple[str, int, str | None]
) -> tuple[str, str | None]:
    resource = incremental.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            incremental.AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in operations
        ],
    )
    request = incremental.IncrementalAlterConfigsRequest(resources=[resource])
    (result,) = world.decide(world.controller.incremental_alter_configs, request).responses
    return ErrorCode(result.error_code).name, result.error_message


def test_set_and_delete(world: ControllerWorld) -> None:
    assert change(world, 2, "t", ("segment.bytes", SET, "1048576")) == ("NONE", None)
    assert change(world, 2, "t", ("retention.ms", DELETE, None)) == ("NONE", None)
    assert world.image.topic_config("t") == {"segment.bytes": "1048576"}


def test_append_and_subtract(world: ControllerWorld) -> None:
    assert change(world, 2, "t", ("cleanup.policy", APPEND, "compact")) == ("NONE", None)
    assert world.image.topic_config("t")["cleanup.policy"] == "delete,compact"
    assert change(world, 2, "t", ("cleanup.policy", SUBTRACT, "delete")) == ("NONE", None)
    assert world.image.topic_config("t")["cleanup.policy"] == "compact"
    code, message = change(world, 2, "t", ("retention.ms", APPEND, "1"))
    assert code == "INVALID_CONFIG"
    assert message is not None
    assert "not LIST" in message


def test_a_value_that_is_there_is_not_written_again(world: ControllerWorld) -> None:
    before = len(world.log)
    change(world, 2, "t", ("retention.ms", SET, "1000"))
    assert len(world.log) == before


def test_broker_values_are_always_written(world: ControllerWorld) -> None:
    change(world, 4, "", ("log.retention.ms", SET, "5"))
    before = len(world.log)
    change(world, 4, "", ("log.retention.ms", SET, "5"))
    assert len(world.log) == before + 1
    assert world.image.cluster_config() == {"log.retention.ms": "5"}


@pytest.mark.parametrize(
    ("kind", "name", "key", "value", "code"),
    [
        (2, "t", "retention.ms", "x", "INVALID_CONFIG"),
        (2, "t", "nonsense", "1", "INVALID_CONFIG"),
        (2, "t", "retention.ms", "9" * 40_000, "INVALID_CONFIG"),
        (2, "unknown", "retention.ms", "1", "UNKNOWN_TOPIC_OR_PARTITION"),
        (2, "", "retention.ms", "1", "INVALID_REQUEST"),
        (2, "a b", "retention.ms", "1", "INVALID_TOPIC_EXCEPTION"),
        (4, "x", "log.retention.ms", "1", "INVALID_REQUEST"),
        (4, "-1", "log.retention.ms", "1", "INVALID_REQUEST"),
        (4, "9", "log.retention.ms", "1", "BROKER_ID_NOT_REGISTERED"),
        (32, "", "consumer.session.timeout.ms", "45000", "INVALID_REQUEST"),
        (32, "g", "nonsense", "1", "INVALID_CONFIG"),
        (16, "m", "interval.ms", "1", "INVALID_REQUEST"),
        (99, "m", "x", "1", "UNSUPPORTED_VERSION"),
    ],
)
def test_refusals(
    world: ControllerWorld, kind: int, name: str, key: str, value: str, code: str
) -> None:
    before = len(world.log)
    assert change(world, kind, name, (key, SET, value))[0] == code
    assert len(world.log) == before


def test_group_keys_whose_groups_are_not_built_wait_for_them(world: ControllerWorld) -> None:
    operation = ("consumer.session.timeout.ms", SET, "50000")
    assert change(world, 32, "g", operation) == ("NONE", None)
    assert world.image.group_config("g") == {"consumer.session.timeout.ms": "50000"}


def test_what_a_group_cannot_have_yet_is_refused(world: ControllerWorld) -> None:
    code, message = change(world, 32, "g", ("streams.assignor.name", SET, "mine"))
    assert code == "INVALID_CONFIG"
    assert message is not None
    assert "not built yet" in message
    assert world.image.group_config("g") == {}


def test_legacy_replaces_everything(world: ControllerWorld) -> None:
    whole = legacy.AlterConfigsResource(
        resource_type=2,
        resource_name="t",
        configs=[legacy.AlterableConfig(name="segment.bytes", value="1048576")],
    )
    request = legacy.AlterConfigsRequest(resources=[whole], validate_only=True)
    world.decide(world.controller.legacy_alter_configs, request)
    assert world.image.topic_config("t") == {"retention.ms": "1000"}
    request.validate_only = False
    (result,) = world.decide(world.controller.legacy_alter_configs, request).responses
    assert result.error_code == 0
    assert world.image.topic_config("t") == {"segment.bytes": "1048576"}


def test_a_resource_twice_is_refused(world: ControllerWorld) -> None:
    twice: list[Any] = [legacy.AlterConfigsResource(resource_type=2, resource_name="t")] * 2
    request = legacy.AlterConfigsRequest(resources=twice)
    results = world.decide(world.controller.legacy_alter_configs, request).responses
    assert {result.error_code for result in results} == {ErrorCode.INVALID_REQUEST}


def test_an_unknown_operation_is_refused(world: ControllerWorld) -> None:
    with pytest.raises(KafkaError, match="unexpected error"):
        change(world, 2, "t", ("retention.ms", 9, "1"))


def test_dynamic_defaults_reach_new_topics(world: ControllerWorld) -> None:
    change(world, 4, "", ("log.retention.ms", SET, "12345"))
    (result,) = world.create(topic("u")).topics
    values = {config.name: config for config in result.configs}
    assert values["retention.ms"].value == "12345"
    assert values["retention.ms"].config_source == 3


def test_more_changes_than_one_request_may_write_change_nothing(world: ControllerWorld) -> None:
    resources = [
        incremental.AlterConfigsResource(
            resource_type=32,
            resource_name=f"g{number}",
            configs=[
                incremental.AlterableConfig(
                    name="consumer.session.timeout.ms", config_operation=SET, value="50000"
                )
            ],
        )
        for number in range(10_001)
    ]
    before = len(world.log)
    for count in (10_001, 10_000):
        request = incremental.IncrementalAlterConfigsRequest(resources=resources[:count])
        if count > 10_000:
            with pytest.raises(KafkaError) as refused:
                world.controller.incremental_alter_configs(request)
            assert refused.value.code == ErrorCode.POLICY_VIOLATION
        else:
            world.decide(world.controller.incremental_alter_configs, request)
            assert len(world.log) == before + 10_000
