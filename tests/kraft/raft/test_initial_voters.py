from __future__ import annotations

import pytest

from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.kraft.raft.initial_voters import (
    bootstrap_servers,
    default_voters,
    local_voter,
    names_other_controllers,
)
from pykbroker.kraft.raft.voters import ReplicaKey, VoterEndpoint

DIRECTORY = b"\x01" * 16
BROKER_ONLY = {
    "process.roles": "broker",
    "listeners": "PLAINTEXT://127.0.0.1:9092",
    "controller.quorum.bootstrap.servers": "127.0.0.1:9093",
}


def configured(**overrides: str) -> BrokerConfig:
    properties = standalone_properties("/disk")
    properties["listeners"] = "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093"
    properties["controller.quorum.bootstrap.servers"] = "127.0.0.1:9093"
    properties |= {key.replace("_", "."): value for key, value in overrides.items()}
    return BrokerConfig.from_properties({key: value for key, value in properties.items() if value})


def test_this_node_as_a_voter() -> None:
    voter = local_voter(configured(), DIRECTORY)
    assert voter.key == ReplicaKey(1, DIRECTORY)
    assert voter.endpoints == (VoterEndpoint("CONTROLLER", "127.0.0.1", 9093),)
    free = configured(listeners="PLAINTEXT://:9092,CONTROLLER://127.0.0.1:0")
    assert local_voter(free, DIRECTORY, {"CONTROLLER": 7}).endpoints[0].port == 7
    assert local_voter(free, DIRECTORY).endpoints[0].port == 9093
    broker = BrokerConfig.from_properties(standalone_properties("/disk") | BROKER_ONLY)
    assert local_voter(broker, DIRECTORY).endpoints == (
        VoterEndpoint("CONTROLLER", "localhost", 9093),
    )


def test_bootstrap_servers() -> None:
    config = configured(controller_quorum_bootstrap_servers="a:1,[::1]:9093")
    assert bootstrap_servers(config) == [("a", 1), ("::1", 9093)]


@pytest.mark.parametrize(
    ("servers", "others"),
    [
        ("127.0.0.1:9093", False),
        ("localhost:9093,[::1]:9093", False),
        ("127.0.0.1:9093,127.0.0.1:9193", True),
        ("b:9193", True),
        ("a:9093,b:9093,c:9093", True),
    ],
)
def test_other_controllers(servers: str, *, others: bool) -> None:
    config = configured(controller_quorum_bootstrap_servers=servers)
    assert names_other_controllers(config) is others
    voters = default_voters(config, lambda: DIRECTORY)
    assert (voters is None) is others


@pytest.mark.parametrize(
    ("listener", "advertised", "server", "others"),
    [
        ("a:9093", "", "a:9093", False),
        ("a:9093", "", "A:9093", False),
        ("a:9093", "", "localhost:9093", False),
        ("a:9093", "", "b:9093", True),
        (":9093", "PLAINTEXT://a:9092", "a:9093", False),
        (":9093", "PLAINTEXT://a:9092", "b:9093", True),
        (":9093", "PLAINTEXT://localhost:9092", "b:9093", False),  # a name of this node, perhaps
        ("0.0.0.0:9093", "", "b:9093", False),
    ],
)
def test_a_controller_with_the_same_port(
    listener: str, advertised: str, server: str, *, others: bool
) -> None:
    config = configured(
        listeners=f"PLAINTEXT://:9092,CONTROLLER://{listener}",
        advertised_listeners=advertised,
        controller_quorum_bootstrap_servers=server,
    )
    assert names_other_controllers(config) is others


def test_who_is_a_quorum_of_its_own() -> None:
    alone = default_voters(configured(), lambda: DIRECTORY)
    assert alone is not None
    assert alone.is_only_voter(ReplicaKey(1, DIRECTORY))
    static = configured(
        controller_quorum_voters="1@127.0.0.1:9093", controller_quorum_bootstrap_servers=""
    )
    assert default_voters(static, lambda: DIRECTORY) is None
    broker = BrokerConfig.from_properties(standalone_properties("/disk") | BROKER_ONLY)
    assert default_voters(broker, lambda: DIRECTORY) is None
