"""What the broker checks of a change of configuration before the controller gets it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.metadata.config_admin import merge_incremental, merge_whole, refusals
from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.image import MetadataImage
from pykbroker.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)

SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3


def config(name: str, operation: int, value: str | None) -> AlterableConfig:
    return AlterableConfig(name=name, config_operation=operation, value=value)


def test_merging() -> None:
    current = {"a": "1", "log.cleanup.policy": "delete"}
    operations = [
        config("b", SET, "2"),
        config("a", DELETE, None),
        config("log.cleanup.policy", APPEND, "compact"),
    ]
    assert merge_incremental(current, operations) == {
        "b": "2",
        "log.cleanup.policy": "delete,compact",
    }
    assert merge_whole(current, [config("b", SET, "2")]) == {"b": "2"}
    assert current == {"a": "1", "log.cleanup.policy": "delete"}


@pytest.mark.parametrize("operation", [APPEND, SUBTRACT])
def test_only_lists_grow_and_shrink(operation: int) -> None:
    with pytest.raises(KafkaError) as refused:
        merge_incremental({}, [config("log.retention.ms", operation, "1")])
    assert refused.value.code == ErrorCode.INVALID_CONFIG


def broker() -> Any:
    return SimpleNamespace(
        config=BrokerConfig.from_properties(standalone_properties("/nowhere")),
        node_id=1,
        breathe=lambda: None,
        metadata=SimpleNamespace(
            image=MetadataImage(configs={(4, "1"): {"log.cleanup.policy": "compact"}})
        ),
    )


def resource(kind: int, name: str, *configs: AlterableConfig) -> AlterConfigsResource:
    return AlterConfigsResource(resource_type=kind, resource_name=name, configs=list(configs))


def test_only_what_is_wrong_is_refused() -> None:
    asked = [
        resource(4, "1", config("log.cleanup.policy", APPEND, "delete")),
        resource(4, "1x", config("log.retention.ms", SET, "1")),
        resource(2, "t", config("anything", SET, "goes")),
        resource(32, "g", config("anything", SET, None)),
        resource(4, "", config("log.retention.ms", SET, "1")),
    ]
    refused = refusals(broker(), asked, merge_incremental)
    assert {at: ErrorCode(fault.code).name for at, fault in refused.items()} == {
        1: "INVALID_REQUEST",
        3: "INVALID_REQUEST",
    }


def test_a_resource_twice_is_refused_twice() -> None:
    asked = [resource(2, "t"), resource(2, "u"), resource(2, "t")]
    refused = refusals(broker(), asked, merge_incremental)
    assert set(refused) == {0, 2}
