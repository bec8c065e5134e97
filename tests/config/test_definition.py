"""Text to values and back, by ConfigDef's rules (every expectation was seen from Kafka 4.4)."""

from __future__ import annotations

import pytest

from pykbroker.config import definition as d
from pykbroker.config.topic_keys import TOPIC_KEYS

REFUSALS = [
    ("retention.ms", "x", "Not a number of type LONG"),
    ("retention.ms", "5_0", "Not a number of type LONG"),
    ("retention.ms", "-2", "Value must be at least -1"),
    ("segment.bytes", "1", "Value must be at least 1048576"),
    ("segment.bytes", "99999999999", "Not a number of type INT"),
    ("segment.bytes", "9" * 5000, "Not a number of type INT"),
    ("cleanup.policy", "foo", "String must be one of: compact, delete"),
    ("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
    ("compression.lz4.level", "18", "Value must be no more than 17"),
    (
        "compression.type",
        "z",
        "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer",
    ),
    ("min.cleanable.dirty.ratio", "x", "Not a number of type DOUBLE"),
    ("preallocate", "y", "Expected value to be either true or false"),
    ("max.compaction.lag.ms", "0", "Value must be at least 1"),
    ("message.timestamp.type", "createtime", "String must be one of: CreateTime, LogAppendTime"),
]


@pytest.mark.parametrize(("name", "text", "why"), REFUSALS)
def test_refuses_in_kafkas_words(name: str, text: str, why: str) -> None:
    with pytest.raises(d.ConfigError) as caught:
        TOPIC_KEYS[name].parse(text)
    assert caught.value.message == f"Invalid value {text} for configuration {name}: {why}"
    assert caught.value.key == name


def test_refusals_show_parsed_doubles_and_lists() -> None:
    with pytest.raises(d.ConfigError) as double:
        TOPIC_KEYS["min.cleanable.dirty.ratio"].parse("2")
    assert double.value.message == (
        "Invalid value 2.0 for configuration min.cleanable.dirty.ratio: "
        "Value must be no more than 1"
    )
    with pytest.raises(d.ConfigError) as replicas:
        TOPIC_KEYS["leader.replication.throttled.replicas"].parse("1:x")
    assert replicas.value.message == (
        "Invalid value [1:x] for configuration leader.replication.throttled.replicas: "
        "leader.replication.throttled.replicas must be the literal '*' or a list of replicas in "
        "the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."
    )
    with pytest.raises(d.ConfigError) as empty:
        TOPIC_KEYS["cleanup.policy"].parse("delete,")
    assert empty.value.message == "Configuration 'cleanup.policy' values must not be empty."


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("retention.ms", " 5 ", 5),
        ("retention.ms", "+5", 5),
        ("min.cleanable.dirty.ratio", "0.5f", 0.5),
        ("min.cleanable.dirty.ratio", ".25", 0.25),
        ("cleanup.policy", " compact , delete ", ("compact", "delete")),
        ("cleanup.policy", "compact,compact", ("compact",)),
        ("cleanup.policy", "", ()),
        ("preallocate", "TRUE", True),
        ("leader.replication.throttled.replicas", "*", ("*",)),
        ("leader.replication.throttled.replicas", "0:1,2:3", ("0:1", "2:3")),
    ],
)
def test_accepts_what_kafka_accepts(name: str, text: str, value: d.Value) -> None:
    assert TOPIC_KEYS[name].parse(text) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (2.0, "2.0"),
        (0.001, "0.001"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (0.00012, "1.2E-4"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (-3e-9, "-3.0E-9"),
        (float("inf"), "Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_doubles_as_java_writes_them(value: float, text: str) -> None:
    assert d.double_text(value) == text


def test_values_as_text() -> None:
    assert d.value_text(True) == "true"
    assert d.value_text(("a", "b")) == "a,b"
    assert d.value_text(()) == ""
    assert d.value_text(None) is None
    assert d.value_text(7) == "7"


def test_a_refused_key_may_be_set_to_its_default() -> None:
    key = d.Key("some.key", d.INT, 3).refused("Does something.", "it is not built yet")
    assert key.parse_supported("3") == 3
    with pytest.raises(d.ConfigError) as caught:
        key.parse_supported("4")
    assert caught.value.message == "some.key: it is not built yet"


def test_a_key_twice_is_our_mistake() -> None:
    key = d.Key("some.key", d.INT, 3).honoured("Does something.")
    with pytest.raises(ValueError, match=r"some\.key is defined twice"):
        d.key_table((key, key))


def test_suggestion() -> None:
    assert d.suggestion("retention.mss", TOPIC_KEYS) == " Did you mean retention.ms?"
    assert d.suggestion("zzzz", TOPIC_KEYS) == ""
