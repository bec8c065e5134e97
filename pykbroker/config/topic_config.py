"""The configuration of a topic: its own overrides on top of the defaults of the brokers.

In: a BrokerConfig and the overrides of the topic (text, as the metadata image keeps them).
Out: typed attributes (the key's name with dots as underscores), DescribeConfigs entries.
Invariant: a TopicConfig never changes; topics without overrides share one per BrokerConfig.
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
from pykbroker.config.topic_keys import TOPIC_KEYS, TOPIC_SYNONYMS
from pykbroker.values import slotted

_ATTRIBUTES = [(name, key.attribute) for name, key in TOPIC_KEYS.items() if key.has_attribute]


@slotted
class TopicFields:
    """Values of the configuration of a topic, filled by TopicConfig."""

    cleanup_policy: tuple[str, ...]
    compression_gzip_level: int
    compression_lz4_level: int
    compression_type: str
    compression_zstd_level: int
    delete_retention_ms: int
    file_delete_delay_ms: int
    flush_messages: int
    flush_ms: int
    index_interval_bytes: int
    local_retention_bytes: int
    local_retention_ms: int
    max_compaction_lag_ms: int
    max_decompressed_message_bytes: int
    max_message_bytes: int
    message_timestamp_after_max_ms: int
    message_timestamp_before_max_ms: int
    message_timestamp_type: str
    min_cleanable_dirty_ratio: float
    min_compaction_lag_ms: int
    min_insync_replicas: int
    preallocate: bool
    remote_copy_lag_bytes: int
    remote_copy_lag_ms: int
    retention_bytes: int
    retention_ms: int
    segment_bytes: int
    segment_index_bytes: int
    segment_jitter_ms: int
    segment_ms: int
    unclean_leader_election_enable: bool


class TopicConfig(TopicFields):
    """Typed configuration of one topic; what Kafka calls LogConfig."""

    __slots__ = ("_broker", "_values", "compact", "delete", "log_append_time", "overrides")

    compact: bool
    delete: bool
    log_append_time: bool
    overrides: dict[str, str]

    def __init__(
        self, values: Mapping[str, Value], overrides: Mapping[str, str], broker: BrokerConfig | None
    ) -> None:
        self._values = values
        self._broker = broker
        self.overrides = dict(overrides)
        for name, attribute in _ATTRIBUTES:
            setattr(self, attribute, values[name])
        self.compact = "compact" in self.cleanup_policy
        self.delete = "delete" in self.cleanup_policy
        self.log_append_time = self.message_timestamp_type == "LogAppendTime"

    @classmethod
    def default(cls, **overrides: str) -> TopicConfig:
        """Kafka's own defaults, with overrides given as attributes: `default(segment_ms="10")`."""
        named = {key.attribute: name for name, key in TOPIC_KEYS.items()}
        texts = {named[attribute]: text for attribute, text in overrides.items()}
        values = {name: key.default for name, key in TOPIC_KEYS.items()}
        values |= {name: TOPIC_KEYS[name].parse(text) for name, text in texts.items()}
        return cls(values, texts, None)

    @classmethod
    def from_overrides(cls, broker: BrokerConfig, overrides: Mapping[str, str]) -> TopicConfig:
        """Return the configuration of a topic that exists.

        Keys that are refused to clients are read all the same: a directory written by Apache
        Kafka may hold them, and their values do not stop a topic from being served. Unknown names
        are ignored. Raises ConfigError for a value that its key cannot have.
        """
        if not overrides:
            return default_topic_config(broker)
        return cls(_resolve(broker, overrides), overrides, broker)

    @classmethod
    def metadata_log(cls, broker: BrokerConfig) -> TopicConfig:
        """The log of __cluster_metadata, which is cleaned by snapshots, not by retention."""
        return cls.default(
            segment_bytes=str(broker.metadata_log_segment_bytes),
            segment_ms=str(broker.metadata_log_segment_ms),
            max_message_bytes=str(8 << 20),  # KafkaRaftClient.MAX_BATCH_SIZE_BYTES
            retention_ms="-1",
            retention_bytes="-1",
        )

    def value(self, key: str) -> Value:
        """The typed value of any topic key, by its Kafka name."""
        return self._values[key]

    def describe(self, names: Collection[str] | None = None) -> list[ConfigValue]:
        """Entries of DescribeConfigs for this topic; `names` empty or None means all. Internal keys
        are left out unless they are overridden.
        """
        result = []
        for name, key in TOPIC_KEYS.items():
            overridden = name in self.overrides
            if (names and name not in names) or (key.internal and not overridden):
                continue
            entry = describe_overridable(
                key,
                value_text(self._values[name]),
                overridden=overridden,
                override_source=ConfigSource.DYNAMIC_TOPIC_CONFIG,
                defaults=self._defaults(name),
            )
            result.append(entry)
        return result

    def _defaults(self, name: str) -> list[ConfigSynonym]:
        if self._broker is None or name not in TOPIC_SYNONYMS:
            return []
        return layered_synonyms(TOPIC_SYNONYMS[name][0][0], self._broker.layers)


def default_topic_config(broker: BrokerConfig) -> TopicConfig:
    """The configuration of topics without overrides: one object per BrokerConfig."""
    shared = broker.shared_topic_config
    if not isinstance(shared, TopicConfig):
        defaults = {name: _broker_default(broker, name) for name in TOPIC_KEYS}
        shared = TopicConfig(defaults, {}, broker)
        broker.shared_topic_config = shared
    return shared


def validate_topic_overrides(
    broker: BrokerConfig, overrides: Mapping[str, str], current: Mapping[str, str] | None = None
) -> None:
    """Raise ConfigError for what LogConfig.validate refuses, and for values of refused keys but
    their defaults.

    What stands in `current` already is not refused because of its key: a topic that Apache Kafka
    configured can be altered in other ways.
    """
    kept = current or {}
    for name in overrides:
        if name not in TOPIC_KEYS:
            raise ConfigError(f"Unknown topic config name: {name}", name)
    tiered = "remote.storage.enable"
    wanted = overrides.get(tiered, "")
    if wanted.strip().lower() == "true" and kept.get(tiered) != wanted:
        raise ConfigError(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage.",
            tiered,
        )
    for name, text in overrides.items():
        if kept.get(name) != text:
            TOPIC_KEYS[name].parse_supported(text)
    values = _resolve(broker, overrides)
    low, high = values["min.compaction.lag.ms"], values["max.compaction.lag.ms"]
    if isinstance(low, int) and isinstance(high, int) and low > high:
        raise ConfigError(
            f"conflict topic config setting min.compaction.lag.ms ({low}) > "
            f"max.compaction.lag.ms ({high})",
            "min.compaction.lag.ms",
        )


def _resolve(broker: BrokerConfig, overrides: Mapping[str, str]) -> dict[str, Value]:
    values = dict(default_topic_config(broker)._values)
    for name, text in overrides.items():
        if name in TOPIC_KEYS:
            values[name] = TOPIC_KEYS[name].parse(text)
    return values


def _broker_default(broker: BrokerConfig, name: str) -> Value:
    if name == "retention.ms":
        return broker.log_retention_time_ms  # any negative time means forever
    for synonym, factor in TOPIC_SYNONYMS.get(name, ()):
        value = broker.value(synonym)
        if value is not None:
            return value if factor == 1 or not isinstance(value, int) else value * factor
    return TOPIC_KEYS[name].default
