from __future__ import annotations

import pytest

from pykbroker.config.broker_config import BrokerConfig
from pykbroker.config.cluster_layout import ClusterLayout, properties_text
from pykbroker.config.load import parse_properties

LAYOUT = ClusterLayout({1: 11, 2: 12, 3: 13, 4: 14}, {1: 21, 2: 22, 3: 23})


def test_addresses() -> None:
    assert LAYOUT.bootstrap_servers == "127.0.0.1:11,127.0.0.1:12,127.0.0.1:13,127.0.0.1:14"
    assert LAYOUT.bootstrap_controllers == "127.0.0.1:21,127.0.0.1:22,127.0.0.1:23"


def test_properties() -> None:
    voter, broker = (LAYOUT.properties(number, "/x") for number in (2, 4))
    assert voter["process.roles"] == "broker,controller"
    assert voter["listeners"] == "PLAINTEXT://127.0.0.1:12,CONTROLLER://127.0.0.1:22"
    assert broker["process.roles"] == "broker"
    assert broker["listeners"] == "PLAINTEXT://127.0.0.1:14"
    assert broker["controller.quorum.voters"] == "1@127.0.0.1:21,2@127.0.0.1:22,3@127.0.0.1:23"
    for number in LAYOUT.ports:
        config = BrokerConfig.from_properties(LAYOUT.properties(number, "/x"))
        assert config.node_id == number
    assert LAYOUT.properties(1, "/x")["offsets.topic.replication.factor"] == "3"
    assert (
        ClusterLayout({1: 11}, {1: 21}).properties(1, "/x")["transaction.state.log.min.isr"] == "1"
    )


@pytest.mark.parametrize(
    "value", ["plain", " x", "\tx", "a\\b", "a\\", "two\nlines\r", "a=b:c#d", ""]
)
def test_text_is_read_as_it_was_meant(value: str) -> None:
    assert parse_properties(properties_text({"log.dirs": value}), "f") == {"log.dirs": value}
