from __future__ import annotations

import pytest

from pykbroker.config import BrokerConfig, ConfigError
from pykbroker.config.dynamic import apply_list_operation, find_key, validate_broker_overrides
from pykbroker.config.load import standalone_properties

BROKER = BrokerConfig.from_properties(standalone_properties("/data"))


def message(overrides: dict[str, str], *, per_broker: bool = True) -> str:
    with pytest.raises(ConfigError) as caught:
        validate_broker_overrides(BROKER, overrides, per_broker=per_broker)
    return caught.value.message


def test_what_may_change() -> None:
    validate_broker_overrides(BROKER, {"log.retention.ms": "5"}, per_broker=False)
    validate_broker_overrides(BROKER, {"max.connections": "5"}, per_broker=True)


def test_refusals() -> None:
    assert message({"num.partitions": "5"}) == (
        "Cannot update these configs dynamically: [num.partitions]"
    )
    assert message({"log.retention.ms": "x"}).endswith("Not a number of type LONG")
    assert message({"nope": "1"}).startswith("nope: unknown configuration.")
    assert message({"listeners": "PLAINTEXT://:1"}, per_broker=False) == (
        "Cannot update these configs at default cluster level, broker id must be specified: "
        "[listeners]"
    )
    assert message({"listeners": "PLAINTEXT://:1,CONTROLLER://:0"}) == (
        "listeners: changing the listeners of a running broker is not built yet"
    )
    assert message({"leader.replication.throttled.rate": "5"}) == (
        "leader.replication.throttled.rate: quotas are not built yet"
    )
    assert message({"log.retention.ms": "0"}).startswith("log.retention.ms must be unlimited")


def test_lists() -> None:
    append, subtract = 2, 3
    assert apply_list_operation("topic", "cleanup.policy", None, append, "compact") == (
        "delete,compact"
    )
    assert apply_list_operation("topic", "cleanup.policy", "a,b", append, "b,c") == "a,b,c"
    assert apply_list_operation("topic", "cleanup.policy", "a,b", subtract, "b,x") == "a"
    assert apply_list_operation("topic", "cleanup.policy", "", append, "compact") == "compact"
    with pytest.raises(ConfigError) as caught:
        apply_list_operation("topic", "retention.ms", "1", append, "2")
    assert caught.value.message == (
        "Can't APPEND to key retention.ms because its type is not LIST."
    )


def test_find_key() -> None:
    key = find_key("broker", "leader.replication.throttled.rate")
    assert key is not None
    assert find_key("group", "retention.ms") is None
