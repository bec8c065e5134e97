"""The part of admin_script about configurations: of topics, brokers and groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pykbroker.protocol.messages import (
    alter_configs_request,
    describe_configs_request,
    incremental_alter_configs_request,
    list_config_resources_request,
)
from tests.interop.conversation import Line

TOPIC, BROKER, LOGGER, GROUP = 2, 4, 8, 32


def describe_config_lines() -> Iterator[Line]:
    def line(label: str, version: int, *asked: tuple[int, str, Any], **more: Any) -> Line:
        message = describe_configs_request.DescribeConfigsRequest(
            resources=[
                describe_configs_request.DescribeConfigsResource(
                    resource_type=kind, resource_name=name, configuration_keys=keys
                )
                for kind, name, keys in asked
            ],
            **more,
        )
        return Line(label, "DescribeConfigs", version, message)

    for version in range(1, 5):
        yield line("a topic", version, (TOPIC, "c-v7", None))
        yield line("with synonyms", version, (TOPIC, "c-v7", None), include_synonyms=True)
        yield line("two keys", version, (TOPIC, "c-v7", ["retention.ms", "segment.bytes", "no"]))
        yield line("no keys", version, (TOPIC, "c-v7", []))
        yield line("unknown topic", version, (TOPIC, "missing", None))
        yield line("bad topic", version, (TOPIC, "a b", None))
        yield line("broker", version, (BROKER, "1", None))
        yield line("broker, synonyms", version, (BROKER, "1", None), include_synonyms=True)
        yield line("all brokers", version, (BROKER, "", None))
        yield line("another broker", version, (BROKER, "9", None))
        yield line("no broker id", version, (BROKER, "x", None))
        yield line("unknown type", version, (77, "x", None))
        yield line("group", version, (GROUP, "g", None))
        yield line("group without a name", version, (GROUP, "", None))
        yield line("twice", version, (TOPIC, "c-v7", ["retention.ms"]), (TOPIC, "c-v7", None))


def alter_lines() -> Iterator[Line]:
    def line(label: str, version: int, kind: int, name: str, **more: Any) -> Line:
        validate = more.pop("validate_only", False)
        configs = [
            alter_configs_request.AlterableConfig(name=key.replace("_", "."), value=value)
            for key, value in more.items()
        ]
        message = alter_configs_request.AlterConfigsRequest(
            validate_only=validate,
            resources=[
                alter_configs_request.AlterConfigsResource(
                    resource_type=kind, resource_name=name, configs=configs
                )
            ],
        )
        return Line(label, "AlterConfigs", version, message)

    for version in range(3):
        yield line("set", version, TOPIC, "c-v5", retention_ms="77", cleanup_policy="compact")
        yield line("replace", version, TOPIC, "c-v5", segment_bytes="2000000")
        yield line("clear", version, TOPIC, "c-v5")
        yield line("bad value", version, TOPIC, "c-v5", retention_ms="x")
        yield line("unknown key", version, TOPIC, "c-v5", no_such="x")
        yield line("null", version, TOPIC, "c-v5", retention_ms=None)
        yield line("unknown topic", version, TOPIC, "missing", retention_ms="1")
        yield line("validate only", version, TOPIC, "c-v5", retention_ms="1", validate_only=True)
        yield line("broker", version, BROKER, "1", log_retention_ms="123456")
        yield line("all brokers", version, BROKER, "", log_retention_ms="654321")
        yield line("read only", version, BROKER, "1", log_dirs="/x")
        yield line("another broker", version, BROKER, "9", log_retention_ms="1")
        yield line("unknown type", version, 77, "x", a="b")


def incremental_lines() -> Iterator[Line]:
    def line(label: str, version: int, kind: int, name: str, *ops: Any, **more: Any) -> Line:
        message = incremental_alter_configs_request.IncrementalAlterConfigsRequest(
            resources=[
                incremental_alter_configs_request.AlterConfigsResource(
                    resource_type=kind,
                    resource_name=name,
                    configs=[
                        incremental_alter_configs_request.AlterableConfig(
                            name=key, config_operation=op, value=value
                        )
                        for key, op, value in ops
                    ],
                )
            ],
            **more,
        )
        return Line(label, "IncrementalAlterConfigs", version, message)

    setting, delete, append, subtract = range(4)
    for version in (0, 1):
        topic = ("c-v4", "c-v2")[version]
        yield line("set", version, TOPIC, topic, ("retention.ms", setting, "99"))
        yield line("delete", version, TOPIC, topic, ("retention.ms", delete, None))
        yield line("append", version, TOPIC, topic, ("cleanup.policy", append, "compact"))
        yield line("append again", version, TOPIC, topic, ("cleanup.policy", append, "compact"))
        yield line("subtract", version, TOPIC, topic, ("cleanup.policy", subtract, "delete"))
        yield line("append to no list", version, TOPIC, topic, ("retention.ms", append, "1"))
        yield line("null", version, TOPIC, topic, ("retention.ms", setting, None))
        yield line("unknown operation", version, TOPIC, topic, ("retention.ms", 9, "1"))
        yield line("unknown key", version, TOPIC, topic, ("no.such", setting, "1"))
        yield line("bad value", version, TOPIC, topic, ("retention.ms", setting, "x"))
        twice = [("retention.ms", setting, "1"), ("retention.ms", delete, None)]
        yield line("a key twice", version, TOPIC, topic, *twice)
        yield line("unknown topic", version, TOPIC, "missing", ("retention.ms", setting, "1"))
        yield line("broker", version, BROKER, "1", ("log.cleaner.threads", setting, "2"))
        yield line("broker, read only", version, BROKER, "1", ("node.id", setting, "2"))
        yield line("all brokers", version, BROKER, "", ("log.retention.ms", setting, "777"))
        yield line("undo", version, BROKER, "", ("log.retention.ms", delete, None))
        yield line("undo here", version, BROKER, "1", ("log.cleaner.threads", delete, None))
        yield line("group", version, GROUP, "g", ("consumer.session.timeout.ms", setting, "50000"))
        yield line("group, bad", version, GROUP, "g", ("consumer.session.timeout.ms", setting, "1"))
        yield line("logger", version, LOGGER, "1", ("kafka", setting, "INFO"))
        yield line("unknown type", version, 77, "x", ("a", setting, "b"))
        yield line(
            "validate only",
            version,
            TOPIC,
            topic,
            ("retention.ms", setting, "5"),
            validate_only=True,
        )
    for version in (0, 1):
        for kinds in ((), (TOPIC,), (BROKER,), (GROUP,), (TOPIC, GROUP), (LOGGER,), (77,)):
            if version or not kinds:
                message = list_config_resources_request.ListConfigResourcesRequest(
                    resource_types=list(kinds)
                )
                yield Line(f"of {kinds}", "ListConfigResources", version, message)
