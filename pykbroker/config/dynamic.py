"""Changing configuration at run time: what may be changed, and how lists are edited.

In: the present configuration and the wanted text. Out: the settings that a node can use, and what
is wrong with the others; the edited list; or ConfigError, for what Kafka refuses as well in the
words of DynamicBrokerConfig and ConfigurationControlManager.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pykbroker.config.broker_config import BrokerConfig
from pykbroker.config.broker_keys import BROKER_KEYS, DYNAMIC_ONLY_KEYS, LISTENER_KEY
from pykbroker.config.definition import (
    ConfigError,
    ConfigType,
    Key,
    UpdateMode,
    Value,
    invalid_value,
    suggestion,
)
from pykbroker.config.group_keys import GROUP_KEYS
from pykbroker.config.topic_keys import TOPIC_KEYS

APPEND: Final = 2
SUBTRACT: Final = 3

# Kafka opens and closes listeners of a running broker; this one does not yet.
_FIXED_WHILE_RUNNING: Final = ("listeners", "listener.security.protocol.map")

# Kafka halves or doubles its pools of threads at most.
_RESIZED_IN_STEPS: Final = (
    "num.io.threads",
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "background.threads",
)

_TABLES: Final[dict[str, tuple[Mapping[str, Key], ...]]] = {
    "broker": (BROKER_KEYS, DYNAMIC_ONLY_KEYS),
    "topic": (TOPIC_KEYS,),
    "group": (GROUP_KEYS,),
}


def with_usable_overrides(
    config: BrokerConfig, cluster: Mapping[str, str], node: Mapping[str, str]
) -> tuple[BrokerConfig, list[ConfigError]]:
    """Return the configuration with those dynamic settings that it can use, and what is wrong with
    the others.

    What another node, or Apache Kafka, has accepted stays in the metadata: one setting that cannot
    be used must not cost the others (DynamicBrokerConfig.removeInvalidConfigs).
    """
    levels = dict(cluster), dict(node)
    faults = [
        _fixed(name) for level in levels for name in _FIXED_WHILE_RUNNING if level.pop(name, None)
    ]
    try:
        return config.with_dynamic(*levels), faults
    except ConfigError:
        usable: tuple[dict[str, str], dict[str, str]] = ({}, {})
        changed = config.with_dynamic(*usable)
    for level, taken in zip(levels, usable, strict=True):
        for name, text in level.items():
            taken[name] = text
            try:
                changed = config.with_dynamic(*usable)
            except ConfigError as fault:
                faults.append(fault)
                del taken[name]
    return changed, faults


def _fixed(name: str) -> ConfigError:
    return ConfigError(
        f"{name}: changing the listeners of a running broker is not supported yet", name
    )


def _is_usable(name: str, text: str) -> bool:
    key = find_key("broker", name)
    try:
        if key is not None:
            key.parse_supported(text)
    except ConfigError:
        return False
    return name not in _FIXED_WHILE_RUNNING


def validate_broker_overrides(
    config: BrokerConfig,
    overrides: Mapping[str, str],
    *,
    per_broker: bool,
    current: Mapping[str, str] | None = None,
) -> None:
    """Raise ConfigError unless these can be the dynamic settings of one broker, or (`per_broker`
    false) of all brokers.

    `overrides` is everything that shall be set at this level, not only what is new. What stands in
    `current` already and cannot be used, because Apache Kafka let it in, forbids no other change.
    """
    kept = current or {}
    overrides = {
        name: text
        for name, text in overrides.items()
        if kept.get(name) != text or _is_usable(name, text)
    }
    _refuse(
        "Cannot update these configs dynamically",
        [name for name in overrides if _mode(name) is UpdateMode.READ_ONLY],
    )
    for name, text in overrides.items():
        key = BROKER_KEYS.get(name) or DYNAMIC_ONLY_KEYS.get(name)
        if key is None:
            if not LISTENER_KEY.match(name):
                why = f"unknown configuration.{suggestion(name, BROKER_KEYS)}"
                raise ConfigError(f"{name}: {why}", name)
            continue
        key.parse_supported(text)
        if key.type is ConfigType.LIST:
            _refuse_duplicates(name, text)
    if not per_broker:
        _refuse(
            "Cannot update these configs at default cluster level, broker id must be specified",
            [name for name in overrides if _mode(name) is UpdateMode.PER_BROKER],
        )
    for name in _FIXED_WHILE_RUNNING:
        if name in overrides:
            raise _fixed(name)
    if per_broker:
        wanted = config.with_dynamic(config.cluster_properties, overrides)
    else:
        wanted = config.with_dynamic(overrides, config.node_properties)
    _check_steps(config, wanted)


def _check_steps(config: BrokerConfig, wanted: BrokerConfig) -> None:
    """What Kafka's reconfigurable parts refuse, though a node could start with it.

    DynamicThreadPool, LogCleaner.validateReconfiguration, ListenerConnectionQuota.
    """
    for name in _RESIZED_IN_STEPS:
        _check_threads(name, config.value(name), wanted.value(name))
    cleaners, now = wanted.log_cleaner_threads, config.log_cleaner_threads
    if cleaners != now:
        what = "Log cleaner threads"
        if cleaners < 1:
            raise _unusable(f"{what} should be at least 1", "log.cleaner.threads")
        if cleaners < now // 2:
            why = f"{what} cannot be reduced to less than half the current value {now}"
            raise _unusable(why, "log.cleaner.threads")
        if cleaners > now * 2 > 0:
            why = f"{what} cannot be increased to more than double the current value {now}"
            raise _unusable(why, "log.cleaner.threads")
    _check_local_retention("ms", config, wanted, wanted.log_retention_time_ms)
    _check_local_retention("bytes", config, wanted, wanted.log_retention_bytes)
    for at in wanted.endpoints:
        most = wanted.socket_overrides(at.listener_name).max_connections
        if most < 1 and most != config.socket_overrides(at.listener_name).max_connections:
            raise _unusable(f"Invalid max.connections {most}", "max.connections")


def _check_threads(name: str, now: Value, wanted: Value) -> None:
    if now == wanted or not isinstance(now, int) or not isinstance(wanted, int):
        return
    failed = f"Dynamic thread count update validation failed for {name}={wanted}, value should"
    if wanted < now // 2:
        raise _unusable(f"{failed} be at least half the current value {now}", name)
    if wanted > now * 2:
        raise _unusable(f"{failed} not be greater than double the current value {now}", name)


def _check_local_retention(
    unit: str, config: BrokerConfig, wanted: BrokerConfig, retention: int
) -> None:
    """DynamicLogConfig: what is kept here of a tiered topic cannot be more than all of it."""
    names = tuple(f"log.{kind}.{unit}" for kind in ("retention", "local.retention"))
    if retention < 0 or [config.value(name) for name in names] == [*map(wanted.value, names)]:
        return
    local = wanted.value(names[1])
    assert isinstance(local, int)
    if local == -1:
        why = f"Value must not be -1 as {names[0]} value is set as {retention}."
    elif local > retention:
        why = f"Value must not be more than {names[0]} property value: {retention}"
    else:
        return
    raise _unusable(invalid_value(names[1], local, why).message, names[1])


def _unusable(why: str, name: str) -> ConfigError:
    """The error of DynamicBrokerConfig for what one of its parts refuses."""
    inner = f"org.apache.kafka.common.config.ConfigException: {why}"
    return ConfigError(invalid_value("Invalid dynamic configuration", inner).message, name)


def _refuse_duplicates(name: str, text: str) -> None:
    """A file may name an entry twice, a client may not."""
    entries = [each.strip() for each in text.split(",")]
    if len(set(entries)) < len(entries):
        raise ConfigError(f"Configuration '{name}' values must not be duplicated.", name)


def _mode(name: str) -> UpdateMode | None:
    key = BROKER_KEYS.get(name) or DYNAMIC_ONLY_KEYS.get(name)
    if key is not None:
        return key.mode
    return UpdateMode.PER_BROKER if LISTENER_KEY.match(name) else None


def _refuse(message: str, names: list[str]) -> None:
    if names:
        raise ConfigError(f"{message}: [{', '.join(names)}]", names[0])


def find_key(scope: str, name: str) -> Key | None:
    """The key of this name, or None; scope is "broker", "topic" or "group"."""
    for table in _TABLES[scope]:
        if name in table:
            return table[name]
    return None


def apply_list_operation(
    scope: str, name: str, current: str | None, operation: int, value: str
) -> str:
    """Return the text of a list after APPEND (2) or SUBTRACT (3) of the entries in `value`. Raises
    ConfigError if the key is unknown or no list.
    """
    key = find_key(scope, name)
    if key is None or key.type is not ConfigType.LIST:
        verb = "APPEND" if operation == APPEND else "SUBTRACT"
        raise ConfigError(f"Can't {verb} to key {name} because its type is not LIST.", name)
    text = key.default_text if current is None else current
    entries = text.split(",") if text else []
    for entry in value.split(","):
        if operation == APPEND:
            if entry not in entries:
                entries.append(entry)
        elif entry in entries:
            entries.remove(entry)
    return ",".join(entries)
