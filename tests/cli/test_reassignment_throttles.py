from __future__ import annotations

from typing import Any

import pytest

from pykbroker.cli import reassignment_throttles
from pykbroker.cli.admin import AdminClient, ServerError
from pykbroker.cli.command import CommandError
from pykbroker.cli.reassignment_throttles import (
    Move,
    clear_throttles,
    plan_moves,
    throttle_brokers,
    throttle_directories,
)
from pykbroker.protocol.messages.list_partition_reassignments_response import (
    OngoingPartitionReassignment,
)
from pykbroker.testing import Broker, Cluster


def test_moves() -> None:
    ongoing = {
        ("a", 0): OngoingPartitionReassignment(
            replicas=[1, 2, 3], adding_replicas=[3], removing_replicas=[1]
        )
    }
    wanted = {("a", 0): [4, 2], ("b", 0): [2, 3]}
    moves = plan_moves(ongoing, wanted, {("a", 0): [1, 2, 3], ("b", 0): [1, 2]})
    assert moves == {
        ("a", 0): Move(frozenset({1, 2}), frozenset({4})),
        ("b", 0): Move(frozenset({1, 2}), frozenset({3})),
    }
    assert plan_moves(ongoing, {}, {}) == {("a", 0): Move(frozenset({1, 2}), frozenset({3}))}


@pytest.fixture
def altered(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would be sent: (type, settings by resource)."""
    sent: list[Any] = []
    monkeypatch.setattr(
        reassignment_throttles,
        "_alter",
        lambda client, kind, settings: sent.append((kind, settings)),
    )
    return sent


def test_what_is_set(
    broker: Broker, altered: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    moves = {
        ("a", 0): Move(frozenset({1, 2}), frozenset({3})),
        ("a", 10): Move(frozenset({1}), frozenset()),
    }
    with AdminClient(broker.bootstrap_servers) as client:
        throttle_brokers(client, moves, 5000)
        throttle_directories(client, {2, 1}, 700)
    rates = {
        "leader.replication.throttled.rate": "5000",
        "follower.replication.throttled.rate": "5000",
    }
    assert altered == [
        (
            2,
            {
                "a": {
                    "leader.replication.throttled.replicas": "0:1,0:2,10:1",
                    "follower.replication.throttled.replicas": "0:3",
                }
            },
        ),
        (4, {"1": rates, "2": rates, "3": rates}),
        (
            4,
            {
                each: {"replica.alter.log.dirs.io.max.bytes.per.second": "700"}
                for each in ("1", "2")
            },
        ),
    ]
    assert capsys.readouterr().out.splitlines() == [
        "The inter-broker throttle limit was set to 5000 B/s",
        "The replica-alter-dir throttle limit was set to 700 B/s",
    ]


def test_our_brokers_refuse_throttles(broker: Broker, topic: str) -> None:
    moves = {(topic, 0): Move(frozenset({1}), frozenset())}
    with (
        AdminClient(broker.bootstrap_servers) as client,
        pytest.raises(ServerError, match="replication is not throttled yet"),
    ):
        throttle_brokers(client, moves, 5000)


def test_what_is_cleared(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], altered: list[Any]
) -> None:
    with AdminClient(cluster.bootstrap_servers) as client:
        clear_throttles(client, {("a", 0): [1], ("b", 1): [2]})
        with pytest.raises(CommandError, match="throttles of brokers 8,9 were not cleared"):
            clear_throttles(client, {("a", 0): [9, 1, 8]})
    assert capsys.readouterr().out.splitlines() == [
        "Clearing broker-level throttles on brokers 1,2,3",
        "Clearing topic-level throttles on topics a,b",
        "Clearing broker-level throttles on brokers 1,2,3,8,9",
        "Clearing topic-level throttles on topic a",
    ]
    kind, settings = altered[2]
    assert (kind, sorted(settings)) == (4, ["1", "2", "3"])
    assert set(settings["1"].values()) == {None}


def test_brokers_and_controllers_take_the_removal(cluster: Cluster) -> None:
    """A broker is asked for its own settings, a controller for those of all."""
    with AdminClient(cluster.bootstrap_servers) as client:
        clear_throttles(client, {})
    with AdminClient(cluster.bootstrap_controllers, of_controllers=True) as client:
        clear_throttles(client, {})
