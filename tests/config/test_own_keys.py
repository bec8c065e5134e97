from __future__ import annotations

import pytest

from pykbroker.config import BrokerConfig, ConfigError
from pykbroker.config.load import environment_properties, standalone_properties
from pykbroker.config.own_keys import KEYS, OWN_PREFIX
from pykbroker.config.validators import parse_listen_address

LISTEN = "pykbroker.metrics.listen"


def test_our_names_cannot_be_kafkas() -> None:
    assert all(key.name.startswith(OWN_PREFIX) for key in KEYS)


@pytest.mark.parametrize(
    ("text", "address"),
    [("127.0.0.1:9404", ("127.0.0.1", 9404)), (":0", ("", 0)), ("[::1]:1", ("::1", 1))],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_listen_address(LISTEN, text) == address
    config = BrokerConfig.from_properties(standalone_properties("/d") | {LISTEN: text})
    assert config.pykbroker_metrics_listen == text


@pytest.mark.parametrize("text", ["9404", "a:b", "a:", "a:65536", "a:-1"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ConfigError, match="Expected HOST:PORT"):
        BrokerConfig.from_properties(standalone_properties("/d") | {LISTEN: text})


def test_off_by_default_and_shown_to_clients_only_when_set() -> None:
    config = BrokerConfig.from_properties(standalone_properties("/d"))
    assert config.pykbroker_metrics_listen == ""
    assert LISTEN not in {each.name for each in config.describe()}
    config = BrokerConfig.from_properties(standalone_properties("/d") | {LISTEN: ":9404"})
    assert LISTEN in {each.name for each in config.describe()}


def test_the_environment_sets_it() -> None:
    given = environment_properties({"KAFKA_PYKBROKER_METRICS_LISTEN": ":9404"})
    assert dict(given) == {LISTEN: ":9404"}
