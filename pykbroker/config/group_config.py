"""The configuration of a group: its own overrides on top of the defaults of the brokers.

In: a BrokerConfig and the overrides of the group (text, as the metadata image keeps them).
Out: typed attributes (the key's name with dots as underscores), DescribeConfigs entries.
Invariant: values lie within the bounds that the brokers set, whatever the overrides say
(GroupConfig.evaluate): a bound may have been lowered after the override was made.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pykbroker.config.broker_config import BrokerConfig
from pykbroker.config.definition import (
    ConfigError,
    ConfigSource,
    ConfigSynonym,
    ConfigValue,
    Value,
    value_text,
)
from pykbroker.config.describe import describe_overridable, layered_synonyms
from pykbroker.config.group_bounds import GROUP_BOUNDS, TAGS, check_tags
from pykbroker.config.group_keys import GROUP_KEYS, GROUP_SYNONYMS
from pykbroker.values import slotted


@slotted
class GroupFields:
    """Values of the configuration of a group, filled by GroupConfig."""

    consumer_assignment_interval_ms: int
    consumer_assignor_offload_enable: bool
    consumer_heartbeat_interval_ms: int
    consumer_session_timeout_ms: int
    errors_deadletterqueue_copy_record_enable: bool
    errors_deadletterqueue_topic_name: str
    share_assignment_interval_ms: int
    share_assignor_offload_enable: bool
    share_auto_offset_reset: str
    share_delivery_count_limit: int
    share_heartbeat_interval_ms: int
    share_isolation_level: str
    share_partition_max_record_locks: int
    share_record_lock_duration_ms: int
    share_renew_acknowledge_enable: bool
    share_session_timeout_ms: int
    streams_acceptable_recovery_lag: int
    streams_assignment_interval_ms: int
    streams_assignor_name: str | None
    streams_assignor_offload_enable: bool
    streams_heartbeat_interval_ms: int
    streams_initial_rebalance_delay_ms: int
    streams_num_standby_replicas: int
    streams_num_warmup_replicas: int
    streams_rack_aware_assignment_tags: tuple[str, ...]
    streams_session_timeout_ms: int
    streams_task_offset_interval_ms: int


class GroupConfig(GroupFields):
    """Typed configuration of one group."""

    __slots__ = ("_broker", "_values", "overrides")

    overrides: dict[str, str]

    def __init__(self, broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        self._broker = broker
        self.overrides = dict(overrides)
        self._values: dict[str, Value] = {}
        for name, key in GROUP_KEYS.items():
            text = overrides.get(name)
            if text is None:
                value = _broker_default(broker, name)
            else:
                value = _clamp(broker, name, key.parse(text))
            self._values[name] = value
            setattr(self, key.attribute, value)

    @classmethod
    def from_overrides(cls, broker: BrokerConfig, overrides: Mapping[str, str]) -> GroupConfig:
        return cls(broker, overrides)

    def value(self, key: str) -> Value:
        """The typed value of any group key, by its Kafka name."""
        return self._values[key]

    def describe(self, names: Collection[str] | None = None) -> list[ConfigValue]:
        """Entries of DescribeConfigs for this group; `names` empty or None means all. Internal keys
        are left out unless the group or the broker's configuration sets them.
        """
        result = []
        for name, key in GROUP_KEYS.items():
            synonym = GROUP_SYNONYMS.get(name)
            overridden = name in self.overrides
            known = overridden or (synonym is not None and self._broker.is_set(synonym))
            if (names and name not in names) or (key.internal and not known):
                continue
            entry = describe_overridable(
                key,
                value_text(self._values[name]),
                overridden=overridden,
                override_source=ConfigSource.GROUP_CONFIG,
                defaults=self._defaults(name, synonym),
            )
            result.append(entry)
        return result

    def _defaults(self, name: str, synonym: str | None) -> list[ConfigSynonym]:
        if synonym is not None:
            return layered_synonyms(synonym, self._broker.layers)
        key = GROUP_KEYS[name]
        if key.default is None:
            return []
        return [ConfigSynonym(name, key.default_text, int(ConfigSource.DEFAULT_CONFIG))]


def validate_group_overrides(
    broker: BrokerConfig, overrides: Mapping[str, str], current: Mapping[str, str] | None = None
) -> None:
    """Raise ConfigError for what GroupConfig.validate refuses, and for values of refused keys but
    their defaults.

    What stands in `current` already is not refused because of its key.
    """
    kept = current or {}
    for name in overrides:
        if name not in GROUP_KEYS:
            raise ConfigError(f"Unknown group config name: {name}", name)
    check_tags(TAGS, overrides.get(TAGS, ""))
    parsed = {name: GROUP_KEYS[name].parse(text) for name, text in overrides.items()}
    for name, value in parsed.items():
        _check_bounds(broker, name, value)
    for kind in ("consumer", "share", "streams"):
        _check_session(broker, kind, parsed)
    topic = parsed.get("errors.deadletterqueue.topic.name")
    if isinstance(topic, str) and topic.startswith("__"):
        name = "errors.deadletterqueue.topic.name"
        raise ConfigError(f"{name}: DLQ topic name must not start with '__'", name)
    for name, text in overrides.items():
        if kept.get(name) != text:
            GROUP_KEYS[name].parse_supported(text)


def _bounds(broker: BrokerConfig, name: str) -> tuple[int | None, int | None]:
    low, high = GROUP_BOUNDS.get(name, (None, None))
    least = None if low is None else broker.value(low)
    greatest = None if high is None else broker.value(high)
    return (
        least if isinstance(least, int) else None,
        greatest if isinstance(greatest, int) else None,
    )


def _check_bounds(broker: BrokerConfig, name: str, value: Value) -> None:
    low, high = _bounds(broker, name)
    if not isinstance(value, int):
        return
    if low is not None and high is not None and not low <= value <= high:
        raise ConfigError(f"{name} must be in the range {low} to {high} inclusive.", name)
    if high is not None and value > high:
        raise ConfigError(f"{name} must be less than or equal to {high}", name)
    if low is not None and value < low:
        raise ConfigError(f"{name} must be greater than or equal to {low}", name)


def _check_session(broker: BrokerConfig, kind: str, parsed: Mapping[str, Value]) -> None:
    session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
    if session not in parsed and heartbeat not in parsed:
        return
    session_ms = parsed.get(session, broker.value(f"group.{session}"))
    heartbeat_ms = parsed.get(heartbeat, broker.value(f"group.{heartbeat}"))
    if isinstance(session_ms, int) and isinstance(heartbeat_ms, int) and session_ms <= heartbeat_ms:
        raise ConfigError(f"{session} must be greater than {heartbeat}", session)


def _clamp(broker: BrokerConfig, name: str, value: Value) -> Value:
    low, high = _bounds(broker, name)
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value


def _broker_default(broker: BrokerConfig, name: str) -> Value:
    synonym = GROUP_SYNONYMS.get(name)
    if synonym is None:
        return GROUP_KEYS[name].default
    value = broker.value(synonym)
    if name == "streams.assignor.name":  # a list on the broker: the first one is the default
        return value[0] if isinstance(value, tuple) and value else None
    return value
