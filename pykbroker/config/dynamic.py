"""Changing configuration at run time: what may be changed, and how lists are edited.

In: the present configuration and the wanted text. Out: nothing, or ConfigError in the words of
DynamicBrokerConfig and ConfigurationControlManager.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pykbroker.config.broker_config import BrokerConfig
from pykbroker.config.broker_keys import BROKER_KEYS, DYNAMIC_ONLY_KEYS, LISTENER_KEY
from pykbroker.config.definition import ConfigError, ConfigType, Key, UpdateMode, suggestion
from pykbroker.config.group_keys import GROUP_KEYS
from pykbroker.config.topic_keys import TOPIC_KEYS

APPEND: Final = 2
SUBTRACT: Final = 3

# Kafka opens and closes listeners of a running broker; this one does not yet.
_FIXED_WHILE_RUNNING: Final = ("listeners", "listener.security.protocol.map")

_TABLES: Final[dict[str, tuple[Mapping[str, Key], ...]]] = {
    "broker": (BROKER_KEYS, DYNAMIC_ONLY_KEYS),
    "topic": (TOPIC_KEYS,),
    "group": (GROUP_KEYS,),
}


def validate_broker_overrides(
    config: BrokerConfig, overrides: Mapping[str, str], *, per_broker: bool
) -> None:
    """Check dynamic settings of one broker, or (`per_broker` false) of all brokers.

    `overrides` is everything that shall be set at this level, not only what is new.
    """
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
    if not per_broker:
        _refuse(
            "Cannot update these configs at default cluster level, broker id must be specified",
            [name for name in overrides if _mode(name) is UpdateMode.PER_BROKER],
        )
    for name in _FIXED_WHILE_RUNNING:
        if name in overrides:
            why = "changing the listeners of a running broker is not built yet"
            raise ConfigError(f"{name}: {why}", name)
    if per_broker:
        config.with_dynamic(config.cluster_properties, overrides)
    else:
        config.with_dynamic(overrides, config.node_properties)


def _mode(name: str) -> UpdateMode | None:
    key = BROKER_KEYS.get(name) or DYNAMIC_ONLY_KEYS.get(name)
    if key is not None:
        return key.mode
    return UpdateMode.PER_BROKER if LISTENER_KEY.match(name) else None


def _refuse(message: str, names: list[str]) -> None:
    if names:
        raise ConfigError(f"{message}: [{', '.join(names)}]", names[0])


def find_key(scope: str, name: str) -> Key | None:
    """The key of this name; scope is "broker", "topic" or "group"."""
    for table in _TABLES[scope]:
        if name in table:
            return table[name]
    return None


def apply_list_operation(
    scope: str, name: str, current: str | None, operation: int, value: str
) -> str:
    """The text of a list after APPEND (2) or SUBTRACT (3) of the entries in `value`."""
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
