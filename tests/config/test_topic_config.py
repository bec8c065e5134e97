from __future__ import annotations

import pytest

from pykbroker.config import BrokerConfig, ConfigError, TopicConfig, validate_topic_overrides
from pykbroker.config.load import standalone_properties
from pykbroker.config.topic_keys import TOPIC_KEYS, TOPIC_SYNONYMS

BROKER = BrokerConfig.from_properties(standalone_properties("/data"))


def test_defaults_of_brokers_and_topics_agree() -> None:
    ours, kafkas = TopicConfig.from_overrides(BROKER, {}), TopicConfig.default()
    for name in TOPIC_KEYS:
        assert ours.value(name) == kafkas.value(name), name
    assert set(TOPIC_SYNONYMS) <= set(TOPIC_KEYS)


def test_broker_values_are_the_defaults_of_topics() -> None:
    broker = BrokerConfig.from_properties(
        standalone_properties("/data")
        | {"log.roll.hours": "2", "log.retention.minutes": "3", "message.max.bytes": "77"}
    )
    topic = TopicConfig.from_overrides(broker, {"segment.bytes": "2000000"})
    assert topic.segment_ms == 7_200_000
    assert topic.retention_ms == 180_000
    assert topic.max_message_bytes == 77
    assert topic.segment_bytes == 2_000_000
    assert topic.overrides == {"segment.bytes": "2000000"}


def test_topics_without_overrides_share_one_object() -> None:
    assert TopicConfig.from_overrides(BROKER, {}) is TopicConfig.from_overrides(BROKER, {})


def test_derived_attributes() -> None:
    topic = TopicConfig.default(
        cleanup_policy="compact,delete", message_timestamp_type="LogAppendTime"
    )
    assert topic.compact
    assert topic.delete
    assert topic.log_append_time
    plain = TopicConfig.default()
    assert (plain.compact, plain.delete, plain.log_append_time) == (False, True, False)


def test_the_metadata_log_is_not_cleaned_by_retention() -> None:
    log = TopicConfig.metadata_log(BROKER)
    assert (log.retention_ms, log.retention_bytes) == (-1, -1)
    assert log.max_message_bytes == 8 << 20


def test_keys_of_apache_do_not_stop_a_topic_from_being_read() -> None:
    topic = TopicConfig.from_overrides(BROKER, {"follower.replication.throttled.replicas": "*"})
    assert topic.value("follower.replication.throttled.replicas") == ("*",)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"nope": "1"}, "Unknown topic config name: nope"),
        (
            {"retention.ms": "-2"},
            "Invalid value -2 for configuration retention.ms: Value must be at least -1",
        ),
        (
            {"min.compaction.lag.ms": "5", "max.compaction.lag.ms": "4"},
            "conflict topic config setting min.compaction.lag.ms (5) > max.compaction.lag.ms (4)",
        ),
        (
            {"remote.storage.enable": "true"},
            (
                "Tiered Storage functionality is disabled in the broker. Topic cannot be "
                "configured "
                "with remote log storage."
            ),
        ),
        (
            {"follower.replication.throttled.replicas": "*"},
            "follower.replication.throttled.replicas: replication is not throttled yet",
        ),
    ],
)
def test_refusals(overrides: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validate_topic_overrides(BROKER, overrides)
    assert caught.value.message == message


def test_what_apache_set_does_not_stop_other_changes() -> None:
    kept = {"follower.replication.throttled.replicas": "*", "remote.storage.enable": "true"}
    validate_topic_overrides(BROKER, {**kept, "retention.ms": "5"}, kept)
    changed = {**kept, "follower.replication.throttled.replicas": "0:1"}
    with pytest.raises(ConfigError, match="replication is not throttled yet"):
        validate_topic_overrides(BROKER, changed, kept)


def test_good_overrides_pass() -> None:
    validate_topic_overrides(BROKER, {"cleanup.policy": "compact", "retention.ms": "-1"})
    validate_topic_overrides(BROKER, {"remote.storage.enable": "false"})
