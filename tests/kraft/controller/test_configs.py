"""AlterConfigs and IncrementalAlterConfigs on the controller."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages import alter_configs_request as legacy
from pykbroker.protocol.messages import incremental_alter_configs_request as incremental
from pykbroker.protocol.messages.config_record import ConfigRecord
from tests.kraft.controller.controller_world import ControllerWorld, names_of, topic

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


@pytest.fixture
def eligible() -> ControllerWorld:
    """With eligible leader replicas."""
    features = {"metadata.version": 33, "eligible.leader.replicas.version": 1}
    world = ControllerWorld(features=features).brokers(1, 2)
    world.create(topic("t", assignments={0: [1, 2]}), topic("u", assignments={0: [1, 2]}))
    return world


def cleared_by(world: ControllerWorld, kind: int, name: str, value: str | None) -> list[str]:
    """Topics whose eligible leaders are forgotten; the empty name is all of them."""
    before = len(world.log)
    operation = ("min.insync.replicas", DELETE if value is None else SET, value)
    assert change(world, kind, name, operation) == ("NONE", None)
    records = [record.message for record in world.log[before:]]
    assert isinstance(records[0], ConfigRecord)
    return [record.topic_name for record in records[1:]]


def test_another_number_of_in_sync_replicas_clears_who_is_eligible(
    eligible: ControllerWorld,
) -> None:
    assert cleared_by(eligible, 2, "t", "2") == ["t"]
    assert cleared_by(eligible, 4, "", "2") == [""]
    eligible.heartbeat(1, want_fence=True)
    assert [eligible.partition(name).elr for name in "tu"] == [(1,), (1,)]
    assert cleared_by(eligible, 2, "t", None) == ["t"]
    assert [eligible.partition(name).elr for name in "tu"] == [(), (1,)]
    assert cleared_by(eligible, 4, "", "1") == [""]
    assert eligible.partition("u").elr == ()
    assert change(eligible, 2, "t", ("retention.ms", SET, "1")) == ("NONE", None)
    assert isinstance(eligible.log[-1].message, ConfigRecord)


def test_without_the_feature_nothing_is_cleared(world: ControllerWorld) -> None:
    assert cleared_by(world, 2, "t", "2") == []
    assert cleared_by(world, 4, "1", "2") == []
    assert cleared_by(world, 4, "", None) == []


def test_a_new_topic_with_its_own_number_is_cleared_too(eligible: ControllerWorld) -> None:
    before = len(eligible.log)
    eligible.create(topic("v", configs={"min.insync.replicas": "2"}))
    assert names_of(eligible.log[before:]) == [
        "TopicRecord",
        "ConfigRecord",
        "ClearElrRecord",
        "PartitionRecord",
    ]


def test_all_brokers_have_one_number_of_in_sync_replicas(eligible: ControllerWorld) -> None:
    key = "min.insync.replicas"
    assert change(eligible, 4, "1", (key, SET, "2")) == (
        "INVALID_CONFIG",
        "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
    )
    assert change(eligible, 4, "", (key, DELETE, None)) == (
        "INVALID_CONFIG",
        "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.",
    )
    whole = legacy.AlterConfigsResource(resource_type=4, resource_name="")
    request = legacy.AlterConfigsRequest(resources=[whole])
    (result,) = eligible.decide(eligible.controller.legacy_alter_configs, request).responses
    assert result.error_code == ErrorCode.INVALID_CONFIG
    assert eligible.image.cluster_config() == {key: "1"}


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


def test_a_voter_that_has_not_registered_can_be_configured(world: ControllerWorld) -> None:
    world.controller.state.voter_ids = lambda: (1, 9)
    assert change(world, 4, "9", ("log.retention.ms", SET, "1")) == ("NONE", None)
