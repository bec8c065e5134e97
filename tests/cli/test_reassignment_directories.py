from __future__ import annotations

from collections.abc import Iterator

import pytest

from pykbroker.cli.admin import AdminClient
from pykbroker.cli.command import CommandError
from pykbroker.cli.main import main
from pykbroker.cli.reassignment_directories import (
    Place,
    current_directories,
    describe_moves,
    find_places,
    is_moving,
    start_moves,
)
from pykbroker.testing import Broker, Cluster
from tests.harness.waiting import wait_for

TOPIC = "housed"


@pytest.fixture(scope="module")
def housed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A node with two log directories and a topic."""
    root = tmp_path_factory.mktemp("housed")
    with Broker(data_dir=root / "a", overrides={"log.dirs": f"{root}/a,{root}/b"}) as running:
        at = ("--bootstrap-server", running.bootstrap_servers)
        assert main(["topics", *at, "--create", "--topic", TOPIC]) == 0
        yield running


def test_a_replica_moves(housed: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    replica = (TOPIC, 0, 1)
    root = str(housed.data_dir.parent)
    with AdminClient(housed.bootstrap_servers) as client:
        capsys.readouterr()
        here = current_directories(client, [replica])[replica]
        target = {f"{root}/a": f"{root}/b", f"{root}/b": f"{root}/a"}[here]
        start_moves(client, {replica: target}, 10_000)
        assert capsys.readouterr().out == (
            f"Successfully started moving log directory to {target} for replica {TOPIC}-0 with "
            "broker 1 \n"
        )
        wait_for(lambda: find_places(client, [replica]) == {replica: Place(target)}, "the move")
        places = find_places(client, [replica, (TOPIC, 7, 1), (TOPIC, 0, 9)])
        assert places == {replica: Place(target), (TOPIC, 7, 1): Place()}


def test_moves_that_cannot_begin(housed: Broker) -> None:
    with AdminClient(housed.bootstrap_servers) as client:
        with pytest.raises(CommandError, match=f"Failed to alter dir for {TOPIC}-0-1: .* log dir"):
            start_moves(client, {(TOPIC, 0, 1): "/nowhere"}, 10_000)
        with pytest.raises(CommandError, match="Broker 9 does not exist"):
            start_moves(client, {(TOPIC, 0, 9): str(housed.data_dir)}, 10_000)


def test_replicas_that_are_not_there_yet(cluster: Cluster) -> None:
    at = ("--bootstrap-server", cluster.bootstrap_servers)
    assert main(["topics", *at, "--create", "--topic", "else", "--replica-assignment", "1,1"]) == 0
    directory = str(cluster.node(2).data_dir)
    with AdminClient(cluster.bootstrap_servers) as client:
        wait_for(lambda: find_places(client, [("else", 0, 1)])["else", 0, 1].current, "the topic")
        for numbers, names in (((1, 0), "moves could be started for: else-0-2,else-1-2"),
                               ((1,), "move could be started for: else-1-2")):  # fmt: skip
            with pytest.raises(CommandError, match=f"Timed out before log directory {names}"):
                start_moves(client, {("else", number, 2): directory for number in numbers}, 0)


def test_descriptions() -> None:
    targets = {("t", number, 1): "/b" for number in range(6)}
    places = {
        ("t", 0, 1): Place("/b"),
        ("t", 1, 1): Place("/a", "/b"),
        ("t", 2, 1): Place("/a", "/c"),
        ("t", 3, 1): Place("/a"),
        ("t", 4, 1): Place(),
    }
    offline = "There is likely an offline log directory on the broker."
    assert describe_moves(targets, places) == [
        "Reassignment of replica t-0-1 completed successfully.",
        "Reassignment of replica t-1-1 is still in progress.",
        "Partition t-2 on broker 1 is being moved to log dir /c instead of /b.",
        "Partition t-3 on broker 1 is not being moved from log dir /a to /b.",
        f"Partition t-4 is not found in any live log dir on broker 1. {offline}",
        "Partition t-5 cannot be found in any live log directory on broker 1.",
    ]
    assert [is_moving(place) for place in places.values()] == [False, True, True, False, False]
