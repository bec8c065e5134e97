from __future__ import annotations

from pykbroker.config import BrokerConfig, ConfigSynonym, ConfigValue, TopicConfig
from pykbroker.config.load import standalone_properties

BASE = standalone_properties("/data")


def broker(**changes: str) -> BrokerConfig:
    return BrokerConfig.from_properties(
        BASE | {k.replace("__", "."): v for k, v in changes.items()}
    )


def one(config: BrokerConfig | TopicConfig, name: str) -> ConfigValue:
    (entry,) = config.describe([name])
    return entry


def test_static_values_and_defaults() -> None:
    entry = one(broker(num__partitions="3"), "num.partitions")
    assert (entry.value, entry.source, entry.read_only, entry.config_type) == ("3", 4, True, 3)
    assert entry.synonyms == (
        ConfigSynonym("num.partitions", "3", 4),
        ConfigSynonym("num.partitions", "1", 5),
    )
    plain = one(broker(), "num.io.threads")
    assert (plain.value, plain.source, plain.read_only) == ("8", 5, False)


def test_dynamic_values_stand_first() -> None:
    config = broker(num__io__threads="5").with_dynamic(
        {"num.io.threads": "6"}, {"num.io.threads": "7"}
    )
    entry = one(config, "num.io.threads")
    assert [(each.value, each.source) for each in entry.synonyms] == [
        ("7", 2),
        ("6", 3),
        ("5", 4),
        ("8", 5),
    ]
    (default,) = config.describe_cluster_default()
    assert (default.name, default.value, default.source) == ("num.io.threads", "6", 3)
    assert [each.source for each in default.synonyms] == [3]


def test_other_units_are_synonyms_behind_the_name_itself() -> None:
    entry = one(broker(log__retention__ms="5", log__retention__hours="2"), "log.retention.ms")
    assert [(each.name, each.source) for each in entry.synonyms] == [
        ("log.retention.ms", 4),
        ("log.retention.hours", 4),
        ("log.retention.hours", 5),
    ]
    unset = one(broker(log__retention__hours="2"), "log.retention.ms")
    assert (unset.value, unset.synonyms, unset.source) == (None, (), 5)


def test_internal_keys_only_when_set() -> None:
    names = {each.name for each in broker().describe()}
    assert "log.initial.task.delay.ms" not in names
    assert "log.dirs" in names
    assert one(broker(log__initial__task__delay__ms="5"), "log.initial.task.delay.ms").value == "5"


def test_keys_of_listeners_are_shown() -> None:
    name = "listener.name.plaintext.max.connections"
    entry = one(BrokerConfig.from_properties(BASE | {name: "5"}), name)
    assert (entry.name, entry.value, entry.source) == (name, "5", 4)
    assert [each.name for each in entry.synonyms] == [name, "max.connections"]


def test_passwords_are_hidden() -> None:
    entry = one(broker(), "ssl.key.password")
    assert entry.is_sensitive
    assert entry.value is None


def test_topics() -> None:
    config = broker(log__retention__ms="9")
    entry = one(TopicConfig.from_overrides(config, {"retention.ms": "5"}), "retention.ms")
    assert (entry.value, entry.source, entry.read_only) == ("5", 1, False)
    assert [(each.name, each.value, each.source) for each in entry.synonyms] == [
        ("retention.ms", "5", 1),
        ("log.retention.ms", "9", 4),
        ("log.retention.hours", "168", 5),
    ]
    inherited = one(TopicConfig.from_overrides(config, {}), "retention.ms")
    assert (inherited.value, inherited.source) == ("9", 4)
    names = {each.name for each in TopicConfig.from_overrides(config, {}).describe()}
    assert "internal.segment.bytes" not in names
    assert len(names) == 37
