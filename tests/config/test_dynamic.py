from __future__ import annotations

import pytest

from pykbroker.config import BrokerConfig, ConfigError
from pykbroker.config.dynamic import (
    apply_list_operation,
    find_key,
    validate_broker_overrides,
    with_usable_overrides,
)
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
        "listeners: changing the listeners of a running broker is not supported yet"
    )
    assert message({"leader.replication.throttled.rate": "5"}) == (
        "leader.replication.throttled.rate: quotas are not built yet"
    )
    assert message({"log.retention.ms": "0"}).startswith("log.retention.ms must be unlimited")


def refused(**overrides: str) -> str:
    return message({key.replace("_", "."): value for key, value in overrides.items()})


def test_threads_change_in_steps() -> None:
    step = {"num.io.threads": "16", "background.threads": "5", "num.network.threads": "1"}
    validate_broker_overrides(BROKER, step, per_broker=False)
    failed = (
        "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update "
        "validation failed for {}, value should {} for configuration Invalid dynamic configuration"
    )
    assert refused(num_io_threads="3") == failed.format(
        "num.io.threads=3", "be at least half the current value 8"
    )
    assert refused(num_recovery_threads_per_data_dir="5") == failed.format(
        "num.recovery.threads.per.data.dir=5", "not be greater than double the current value 2"
    )


def test_cleaners_change_in_steps() -> None:
    one, eight = BROKER, BROKER.with_dynamic({"log.cleaner.threads": "8"}, {})
    none = BROKER.with_dynamic({"log.cleaner.threads": "0"}, {})
    for now, wanted in ((one, "2"), (eight, "4"), (none, "1")):
        validate_broker_overrides(now, {"log.cleaner.threads": wanted}, per_broker=True)
    assert "should be at least 1 for" in refused(log_cleaner_threads="0")
    assert "increased to more than double the current value 1 " in refused(log_cleaner_threads="3")
    with pytest.raises(ConfigError, match="reduced to less than half the current value 8 "):
        validate_broker_overrides(eight, {"log.cleaner.threads": "3"}, per_broker=True)


def test_local_retention_is_not_more_than_retention() -> None:
    validate_broker_overrides(BROKER, {"log.local.retention.ms": "5"}, per_broker=True)
    validate_broker_overrides(BROKER, {"log.local.retention.bytes": "-1"}, per_broker=True)
    assert refused(log_local_retention_ms="-1") == (
        "Invalid value org.apache.kafka.common.config.ConfigException: Invalid value -1 for "
        "configuration log.local.retention.ms: Value must not be -1 as log.retention.ms value is "
        "set as 604800000. for configuration Invalid dynamic configuration"
    )
    assert "must not be more than log.retention.bytes property value: 5 for" in refused(
        log_local_retention_bytes="6", log_retention_bytes="5"
    )


def test_no_connections_and_entries_twice() -> None:
    assert "Invalid max.connections 0 for" in refused(max_connections="0")
    assert refused(log_cleanup_policy="compact, compact") == (
        "Configuration 'log.cleanup.policy' values must not be duplicated."
    )


def test_what_cannot_be_used_does_not_cost_the_rest() -> None:
    cluster = {
        "log.retention.ms": "-1",
        "max.connection.creation.rate": "4",
        "message.max.bytes": "7",
    }
    node = {"message.max.bytes": "x", "listeners": "PLAINTEXT://:1,CONTROLLER://:2"}
    config, faults = with_usable_overrides(BROKER, cluster, node)
    assert config.cluster_properties == {"log.retention.ms": "-1", "message.max.bytes": "7"}
    assert config.node_properties == {}
    assert config.endpoints == BROKER.endpoints
    assert [fault.key for fault in faults] == [
        "listeners",
        "max.connection.creation.rate",
        "message.max.bytes",
    ]
    assert with_usable_overrides(BROKER, {}, {})[1] == []


def test_what_apache_let_in_forbids_no_other_change() -> None:
    there = {"max.connection.creation.rate": "4"}
    wanted = there | {"log.retention.ms": "5"}
    validate_broker_overrides(BROKER, wanted, per_broker=False, current=there)
    with pytest.raises(ConfigError, match="not limited yet"):
        validate_broker_overrides(
            BROKER, {"max.connection.creation.rate": "5"}, per_broker=False, current=there
        )


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
