from __future__ import annotations

import pytest

from pykbroker.config.definition import ConfigError
from pykbroker.config.parsing import listener_names, parse_static, refuse_dynamic_only


def refusal(name: str, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_static(name, text, ["plaintext"])
    assert caught.value.key == name
    return caught.value.message


def test_one_key_with_its_value() -> None:
    key, value = parse_static("num.partitions", " 3 ", [])
    assert (key.name, value) == ("num.partitions", 3)
    key, value = parse_static("listener.name.PLAINTEXT.max.connections", "7", ["plaintext"])
    assert (key.name, value) == ("max.connections", 7)
    name = "listener.name.plaintext.scram-sha-256.sasl.jaas.config"
    assert parse_static(name, "x", ["plaintext"])[0].name == "sasl.jaas.config"


def test_what_one_key_alone_can_have_wrong() -> None:
    assert refusal("num.partition", "3").endswith(
        "unknown configuration. Did you mean num.partitions?"
    )
    assert "Not a number of type INT" in refusal("num.partitions", "x")
    assert refusal("metrics.num.samples", "9") == (
        "metrics.num.samples: windows of JMX metrics do not exist in this broker"
    )
    assert "there is no listener named other" in refusal("listener.name.other.max.connections", "1")
    rate = "leader.replication.throttled.rate"
    assert "can be set only at run time" in refusal(rate, "1")
    with pytest.raises(ConfigError, match="can be set only at run time"):
        refuse_dynamic_only(rate)


def test_names_of_listeners() -> None:
    assert listener_names({}) == ("plaintext",)
    assert listener_names({"listeners": "A://:1, b://:2"}) == {"a", "b"}
