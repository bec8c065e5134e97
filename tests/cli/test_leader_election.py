from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.leader_election import read_partitions
from pykbroker.testing import Cluster
from tests.cli.conftest import Run
from tests.harness.replicated import in_sync, partitions
from tests.harness.waiting import wait_for

PREFERRED = ("--election-type", "preferred")


def test_nothing_to_elect(ask: Run, topic: str) -> None:
    one = ask("leader-election", *PREFERRED, "--topic", topic, "--partition", "1")
    assert (one.code, one.out) == (0, f"Valid replica already elected for partitions {topic}-1\n")
    every = ask("leader-election", "--election-type", "UNCLEAN", "--all-topic-partitions")
    assert (every.code, every.out) == (0, "")


def test_partitions_of_a_file(ask: Run, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "partitions.json"
    asked = [(topic, 1), (topic, 0), (topic, 7), ("nowhere", 0)]
    file.write_text(
        json.dumps({"partitions": [{"topic": name, "partition": n} for name, n in asked]})
    )
    outcome = ask("leader-election", *PREFERRED, "--path-to-json-file", str(file))
    error = "Error completing leader election (PREFERRED) for partition: "
    unknown = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException"
    assert outcome.lines == [
        f"Valid replica already elected for partitions {topic}-0, {topic}-1",
        f"{error}{topic}-7: {unknown}: No such partition as {topic}-7",
        f"{error}nowhere-0: {unknown}: No such topic as nowhere",
    ]
    assert (outcome.code, outcome.err) == (1, "2 replica(s) could not be elected\n")
    same = ask("leader-election", *PREFERRED, "--path-to-json-file", str(file), "--json")
    assert json.loads(same.out)[3] == {
        "topic": "nowhere",
        "partition": 0,
        "error": "No such topic as nowhere",
    }


def test_the_preferred_replica_leads_again(ask_cluster: Run, cluster: Cluster) -> None:
    """The first replica is moved behind the leader, and back in front of it."""
    name = "elected"
    created = ask_cluster("topics", "--create", "--topic", name, "--replica-assignment", "2:3")
    assert created.code == 0
    servers = cluster.bootstrap_servers
    in_sync(servers, name, 2)
    cluster.node(2).stop()
    wait_for(lambda: partitions(cluster.node(1).bootstrap_servers, name)[0].leader == 3, "3")
    away = cluster_refuses(ask_cluster, name, cluster)
    assert "PreferredLeaderNotAvailableException" in away
    cluster.node(2).start()
    in_sync(servers, name, 2)
    outcome = ask_cluster("leader-election", *PREFERRED, "--topic", name, "--partition", "0")
    assert outcome.out == (
        f"Successfully completed leader election (PREFERRED) for partitions {name}-0\n"
    )
    wait_for(lambda: partitions(servers, name)[0].leader == 2, "2 leads again")


def cluster_refuses(ask_cluster: Run, name: str, cluster: Cluster) -> str:
    """What an election says while the preferred replica is away."""
    through = ("--bootstrap-server", cluster.node(1).bootstrap_servers)
    outcome = ask_cluster(
        "leader-election", *through, *PREFERRED, "--topic", name, "--partition", "0"
    )
    assert (outcome.code, outcome.err) == (1, "1 replica(s) could not be elected\n")
    return outcome.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the following arguments are required: --election-type"),
        (("--election-type", "odd", "--topic", "x"), "argument --election-type: invalid choice"),
        (PREFERRED, "one of the arguments --topic --all-topic-partitions --path-to-json-file is"),
        ((*PREFERRED, "--topic", "x"), "Missing required option(s): partition"),
        ((*PREFERRED, "--all-topic-partitions", "--partition", "1"), "Option partition is only"),
        ((*PREFERRED, "--topic", "x", "--partition", "y"), "argument --partition: 'y' is not a"),
        (
            (*PREFERRED, "--topic", "x", "--all-topic-partitions"),
            "argument --all-topic-partitions: not allowed with argument --topic",
        ),
    ],
)
def test_usage(ask: Run, arguments: Sequence[str], message: str) -> None:
    outcome = ask("leader-election", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"pykbroker leader-election: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", 'Replica election data is missing "partitions" field'),
        ('{"partitions": [{"topic": "a"}]}', 'Missing or wrong field "partition"'),
        (
            '{"partitions": [{"topic": "a", "partition": 0}, {"topic": "a", "partition": 0}]}',
            r"contains duplicate partitions: \[a-0\]",
        ),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "f"
    file.write_text(text)
    with pytest.raises(CommandError, match=message):
        read_partitions(str(file))
