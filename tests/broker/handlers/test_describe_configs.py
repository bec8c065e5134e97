"""DescribeConfigs: sources, synonyms, types, documentation, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.describe_configs import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from tests.broker.handlers.admin_broker import AdminBroker

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32


def describe(
    broker: AdminBroker,
    kind: int,
    name: str,
    *keys: str,
    version: int = 4,
    synonyms: bool = False,
    documentation: bool = False,
) -> Any:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=list(keys) or None
    )
    request = DescribeConfigsRequest(
        resources=[resource], include_synonyms=synonyms, include_documentation=documentation
    )
    (result,) = broker.call(HANDLER, request, version).results
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result


@pytest.fixture
def broker() -> AdminBroker:
    broker = AdminBroker(log_segment_bytes="2097152")
    broker.create("t", retention_ms="1000")
    return broker


@pytest.mark.parametrize("version", range(1, 5))
def test_a_topic_in_every_version(broker: AdminBroker, version: int) -> None:
    result = describe(broker, TOPIC, "t", version=version)
    assert (result.error_code, result.error_message) == (0, "")
    configs = {config.name: config for config in result.configs}
    retention = configs["retention.ms"]
    assert (retention.value, retention.config_source, retention.read_only) == ("1000", 1, False)
    assert retention.config_type == (5 if version >= 3 else 0)
    assert configs["segment.bytes"].value == "2097152"
    assert configs["segment.bytes"].config_source == 4
    assert configs["segment.jitter.ms"].config_source == 5


def test_chosen_keys_synonyms_and_documentation(broker: AdminBroker) -> None:
    result = describe(
        broker, TOPIC, "t", "segment.bytes", "nonsense", synonyms=True, documentation=True
    )
    (config,) = result.configs
    assert [(at.name, at.value, at.source) for at in config.synonyms] == [
        ("log.segment.bytes", "2097152", 4),
        ("log.segment.bytes", "1073741824", 5),
    ]
    assert config.documentation
    (plain,) = describe(broker, TOPIC, "t", "segment.bytes").configs
    assert (plain.synonyms, plain.documentation) == ([], None)


def test_the_broker_and_its_dynamic_values(broker: AdminBroker) -> None:
    node = describe(broker, BROKER, "1", "log.segment.bytes", "node.id")
    configs = {config.name: config for config in node.configs}
    assert configs["node.id"].read_only
    assert configs["log.segment.bytes"].config_source == 4
    (all_brokers,) = describe(broker, BROKER, "").configs
    assert (all_brokers.name, all_brokers.value) == ("min.insync.replicas", "1")


def test_an_override_of_all_brokers_shows_everywhere(broker: AdminBroker) -> None:
    from pykbroker.broker.handlers import incremental_alter_configs as alter
    from pykbroker.protocol.messages import incremental_alter_configs_request as messages

    config = messages.AlterableConfig(name="log.segment.bytes", config_operation=0, value="3145728")
    resource = messages.AlterConfigsResource(
        resource_type=BROKER, resource_name="", configs=[config]
    )
    request = messages.IncrementalAlterConfigsRequest(resources=[resource])
    (result,) = broker.call(alter.HANDLER, request, 1).responses
    assert (result.error_code, result.error_message) == (0, None)
    default, _ = describe(broker, BROKER, "").configs
    assert (default.name, default.value, default.config_source) == (
        "log.segment.bytes",
        "3145728",
        3,
    )
    (node,) = describe(broker, BROKER, "1", "log.segment.bytes").configs
    assert (node.value, node.config_source) == ("3145728", 3)
    (topic,) = describe(broker, TOPIC, "t", "segment.bytes").configs
    assert (topic.value, topic.config_source) == ("3145728", 3)


def test_a_group(broker: AdminBroker) -> None:
    result = describe(broker, GROUP, "g", "consumer.session.timeout.ms")
    (config,) = result.configs
    assert config.value == "45000"


def test_a_type_that_there_is_not_fails_all_with_the_text_of_the_code(broker: AdminBroker) -> None:
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=kind, resource_name="t", configuration_keys=None)
            for kind in (TOPIC, 0)
        ]
    )
    results = broker.call(HANDLER, request, 4).results
    told = {(result.error_code, result.error_message[:27]) for result in results}
    assert told == {(ErrorCode.INVALID_REQUEST, "This most likely occurs bec")}


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (TOPIC, "x", "UNKNOWN_TOPIC_OR_PARTITION"),
        (TOPIC, "a b", "INVALID_TOPIC_EXCEPTION"),
        (BROKER, "2", "INVALID_REQUEST"),
        (BROKER, "x", "INVALID_REQUEST"),
        (GROUP, "", "INVALID_REQUEST"),
        (LOGGER, "1", "INVALID_REQUEST"),
        (METRICS, "m", "INVALID_REQUEST"),
        (99, "m", "INVALID_REQUEST"),
    ],
)
def test_refusals(broker: AdminBroker, kind: int, name: str, code: str) -> None:
    result = describe(broker, kind, name)
    assert ErrorCode(result.error_code).name == code
    assert result.configs == []


def test_sensitive_values_are_never_shown(broker: AdminBroker) -> None:
    result = describe(broker, BROKER, "1")
    hidden = [config for config in result.configs if config.is_sensitive]
    assert hidden
    assert {config.value for config in hidden} == {None}


def test_the_same_again_is_answered_once(broker: AdminBroker) -> None:
    def asked(name: str, *keys: str) -> DescribeConfigsResource:
        return DescribeConfigsResource(
            resource_type=TOPIC, resource_name=name, configuration_keys=list(keys) or None
        )

    request = DescribeConfigsRequest(
        resources=[asked("t"), asked("t", "retention.ms"), asked("none"), asked("t")] * 1000
    )
    results = broker.call(HANDLER, request, 4).results
    assert [(each.resource_name, len(each.configs) > 1) for each in results] == [
        ("t", True),
        ("t", False),
        ("none", False),
    ]
