"""Our commands for clusters and Apache's scripts print the same, asked of the same three nodes."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from pykbroker.cli.admin import AdminClient
from pykbroker.cli.main import main
from pykbroker.testing import Cluster
from tests.harness import apache
from tests.harness.replicated import in_sync, partitions
from tests.harness.waiting import wait_for

SCRIPTS = {
    "cluster": apache.CLUSTER,
    "features": apache.FEATURES,
    "leader-election": apache.LEADER_ELECTION,
    "quorum": apache.QUORUM,
    "reassign": apache.REASSIGN,
    "topics": apache.TOPICS,
}

Both = Callable[..., tuple[list[str], list[str]]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    # Nothing is moved by a slow machine between the look of ours and that of theirs.
    with Cluster(3, controller_quorum_fetch_timeout_ms=30_000) as running:
        controllers = AdminClient(running.bootstrap_controllers, of_controllers=True)
        wait_for(lambda: len(controllers.describe_cluster().brokers) == 3, "three controllers")
        controllers.close()
        yield running


@pytest.fixture
def both(capsys: pytest.CaptureFixture[str]) -> Both:
    """Runs a command both ways: the lines that ours prints, and those that Apache's prints.

    Both leave with the same exit code, 0 unless the test says so.
    """

    def run(command: str, *arguments: str, code: int = 0) -> tuple[list[str], list[str]]:
        capsys.readouterr()
        left = main([command, *arguments])
        captured = capsys.readouterr()
        assert left == code, captured
        theirs = subprocess.run(
            apache.java_command(SCRIPTS[command], *arguments),
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert theirs.returncode == code, theirs.stdout + theirs.stderr
        return captured.out.splitlines(), theirs.stdout.splitlines()

    return run


def through_brokers(cluster: Cluster, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments, through all brokers unless they say through which."""
    if "--bootstrap-server" in arguments:
        return arguments
    return "--bootstrap-server", cluster.bootstrap_servers, *arguments


@pytest.fixture
def same(cluster: Cluster, both: Both) -> Callable[..., list[str]]:
    """Runs a command both ways through the brokers, and holds the outputs equal."""

    def run(command: str, *arguments: str, code: int = 0) -> list[str]:
        ours, theirs = both(command, *through_brokers(cluster, arguments), code=code)
        assert ours == theirs
        return ours

    return run


@pytest.fixture
def refused(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Runs a command both ways: the line that ours prints on standard error is one of theirs."""

    def run(command: str, *arguments: str) -> None:
        asked = through_brokers(cluster, arguments)
        capsys.readouterr()
        assert main([command, *asked]) == 1
        (ours,) = capsys.readouterr().err.splitlines()
        theirs = apache.run_tool(SCRIPTS[command], *asked, check=False)
        assert ours in [line.removeprefix("Error: ") for line in theirs.splitlines()]

    return run


def connections(cluster: Cluster) -> tuple[tuple[str, str], ...]:
    return (
        ("--bootstrap-server", cluster.bootstrap_servers),
        ("--bootstrap-controller", cluster.bootstrap_controllers),
    )


def test_quorum(cluster: Cluster, both: Both) -> None:
    for through in connections(cluster):
        ours, theirs = both("quorum", *through, "describe", "--status")
        assert [ours[at] for at in (0, 1, 2, 6, 7)] == [theirs[at] for at in (0, 1, 2, 6, 7)]
        assert [line[:24] for line in ours] == [line[:24] for line in theirs]
        for more in ((), ("--human-readable",)):
            ours, theirs = both("quorum", *through, "describe", "--replication", *more)
            assert [shape(line) for line in ours] == [shape(line) for line in theirs]


def shape(line: str) -> str:
    """Without offsets, times and the width that they give to columns."""
    return re.sub(r" +\t", "\t", re.sub(r"\t\d+", "\t#", line))


def create(cluster: Cluster, name: str, assignment: str) -> None:
    """A topic whose replicas are all in sync."""
    at = ("--bootstrap-server", cluster.bootstrap_servers)
    placed = ("--replica-assignment", assignment)
    assert main(["topics", *at, "--create", "--topic", name, *placed]) == 0
    in_sync(cluster.bootstrap_servers, name, assignment.partition(",")[0].count(":") + 1)


def test_leader_election(cluster: Cluster, same, tmp_path: Path) -> None:
    create(cluster, "settled", "1:2,2:3")
    preferred = ("--election-type", "preferred")
    assert same("leader-election", *preferred, "--topic", "settled", "--partition", "1") == [
        "Valid replica already elected for partitions settled-1"
    ]
    assert same("leader-election", "--election-type", "Unclean", "--all-topic-partitions") == []
    file = tmp_path / "partitions.json"
    asked = [{"topic": "nowhere", "partition": 0}, {"topic": "settled", "partition": 0}]
    file.write_text(json.dumps({"partitions": asked}))
    said = same("leader-election", *preferred, "--path-to-json-file", str(file), code=1)
    assert said[1].startswith("Error completing leader election (PREFERRED) for partition: nowher")


def plan(file: Path, name: str, *replicas: list[int]) -> tuple[str, str]:
    """The flag that names a file with the wanted replicas of each partition of a topic."""
    entries = [
        {"topic": name, "partition": number, "replicas": wanted}
        for number, wanted in enumerate(replicas)
    ]
    file.write_text(json.dumps({"version": 1, "partitions": entries}))
    return "--reassignment-json-file", str(file)


def test_reassignments(cluster: Cluster, same, refused, both: Both, tmp_path: Path) -> None:
    """What ours executes, theirs verifies; each executes what the other has executed."""
    create(cluster, "moving", "1:2,2:3")
    wanted = plan(tmp_path / "plan.json", "moving", [3, 2], [2, 3, 1])
    through = ("--bootstrap-server", cluster.bootstrap_servers)
    assert main(["reassign", *through, "--execute", *wanted]) == 0
    in_sync_by_plan = "Reassignment of partition moving-{} is completed."

    def is_complete(number: int) -> bool:
        verified = apache.run_tool(apache.REASSIGN, *through, "--verify", *wanted)
        return in_sync_by_plan.format(number) in verified

    for number in (0, 1):
        wait_for(partial(is_complete, number), "the reassignment")
    assert len(same("reassign", "--verify", *wanted)) == 6
    assert len(same("reassign", "--execute", *wanted)) == 6
    assert same("reassign", "--list") == ["No partition reassignments found."]
    # Theirs forgets to end a line.
    ours, theirs = both("reassign", *through, "--cancel", *wanted)
    assert ours == "\n".join(theirs).replace("active.Clear", "active.\nClear").splitlines()
    topics = tmp_path / "topics.json"
    topics.write_text('{"topics": [{"topic": "moving"}]}')
    asked = ("--generate", "--topics-to-move-json-file", str(topics), "--broker-list", "3")
    refused("reassign", *asked)
    create(cluster, "single", "1,2,3")
    topics.write_text('{"topics": [{"topic": "single"}]}')
    assert len(same("reassign", *asked)) == 5
    elsewhere = plan(tmp_path / "other.json", "moving", [2, 3], [1])
    said = same("reassign", "--verify", *elsewhere, "--preserve-throttles")
    assert said[1].endswith("moving-0, but replica set is 3,2 rather than 2,3.")


def wait_for_brokers(cluster: Cluster, through: str, count: int) -> None:
    def live() -> bool:
        with AdminClient(through) as client:
            return len(client.nodes()) == count

    wait_for(live, f"{count} live brokers")


def test_what_is_under_way(
    cluster: Cluster, same, refused, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A replica on a node that is stopped in its tracks does not come in sync."""
    capsys.readouterr()
    asked = ("--bootstrap-server", cluster.bootstrap_servers, "describe", "--status", "--json")
    assert main(["quorum", *asked]) == 0
    leader = json.loads(capsys.readouterr().out)["leaderId"]
    # Not the active controller: others would hold on to it for a while.
    slow, first, second = sorted((1, 2, 3), key=lambda number: number == leader)
    create(cluster, "slow", f"{first}:{second}")
    servers = cluster.node(first).bootstrap_servers
    at = ("--bootstrap-server", servers)
    cluster.node(slow).pause()
    try:
        wanted = plan(tmp_path / "plan.json", "slow", [first, slow])
        assert main(["reassign", *at, "--execute", *wanted]) == 0
        wait_for_brokers(cluster, servers, 2)  # or Java's clients would turn to the third
        moves = f"{first},{slow},{second}. adding: {slow}. removing: {second}."
        assert f"slow-0: replicas: {moves}" in same("reassign", *at, "--list")
        assert any("in progress" in line for line in same("reassign", *at, "--verify", *wanted))
        described = same("topics", *at, "--describe", "--topic", "slow")
        assert f"\tAdding Replicas: {slow}\tRemoving Replicas: {second}\t" in described[1]
        needy = ("--describe", "--under-replicated-partitions", "--topic", "slow")
        assert same("topics", *at, *needy) == []
        again = plan(tmp_path / "again.json", "slow", [second, first])
        refused("reassign", *at, "--execute", *again)
        assert main(["reassign", *at, "--cancel", *wanted, "--preserve-throttles"]) == 0
    finally:
        cluster.node(slow).resume()
    wait_for_brokers(cluster, servers, 3)


def prefer_another(cluster: Cluster, name: str, directory: Path) -> tuple[str, ...]:
    """Put replicas in another order, which moves no leader; the flags of an election for them."""
    create(cluster, name, "1:2,2:3")
    at = ("--bootstrap-server", cluster.bootstrap_servers)
    wanted = plan(directory / "plan.json", name, [2, 1], [2, 3])
    assert main(["reassign", *at, "--execute", *wanted]) == 0
    wait_for(lambda: partitions(cluster.bootstrap_servers, name)[0].replicas == [2, 1], name)
    file = directory / "partitions.json"
    asked = [{"topic": name, "partition": number} for number in (0, 1)]
    file.write_text(json.dumps({"partitions": asked}))
    return (*at, "--election-type", "preferred", "--path-to-json-file", str(file))


def test_an_election_is_needed(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two topics, as an election is needed only once."""
    asked = prefer_another(cluster, "first", tmp_path)
    capsys.readouterr()
    assert main(["leader-election", *asked]) == 0
    ours = capsys.readouterr().out
    assert "completed leader election (PREFERRED) for partitions first-0" in ours
    theirs = apache.run_tool(apache.LEADER_ELECTION, *prefer_another(cluster, "other", tmp_path))
    assert ours == theirs.replace("other", "first")


def test_features(cluster: Cluster, same, both: Both) -> None:
    for through in connections(cluster):
        for node in ((), ("--node-id", "2")):
            ours, theirs = both("features", *through, "describe", *node)
            epochs = [re.compile("Epoch: .*").sub("", line) for line in (*ours, *theirs)]
            assert epochs[: len(ours)] == epochs[len(ours) :] != []
    for asked, code in (
        (("upgrade", "--feature", "metadata.version=33"), 0),
        (("upgrade", "--metadata", "4.4-IV2", "--dry-run"), 0),
        (("upgrade", "--feature", "no.version=1", "--dry-run"), 1),
        (("downgrade", "--feature", "metadata.version=20"), 1),
        (("downgrade", "--unsafe", "--feature", "metadata.version=20", "--dry-run"), 1),
        (("disable", "--feature", "share.version"), 0),
    ):
        assert same("features", *asked, code=code)


@pytest.mark.parametrize("release", ["3.3", "3.7-IV1", "3.9", "4.0-IV1", "4.1", "4.2", "4.4"])
def test_levels_of_releases(release: str, both: Both) -> None:
    ours, theirs = both("features", "version-mapping", "--release-version", release)
    assert ours == theirs


def test_dependencies(both: Both) -> None:
    levels = {"kraft": 1, "transaction": 2, "group": 1, "eligible.leader.replicas": 1, "share": 2}
    asked = [f"{name}.version={number}" for name, last in levels.items() for number in range(last)]
    flags = [part for each in (*asked, "metadata.version=7") for part in ("--feature", each)]
    ours, theirs = both("features", "feature-dependencies", *flags)
    assert ours == theirs


def test_cluster(cluster: Cluster, both: Both) -> None:
    for through in connections(cluster):
        ours, theirs = both("cluster", "cluster-id", *through)
        assert ours == theirs == [f"Cluster ID: {cluster.cluster_id}"]
        for action, node in (("unregister", "77"), ("unregister-controller", "77")):
            assert both("cluster", action, *through, "--id", node, code=1) == ([], [])
        assert both("cluster", "unregister-controller", *through, "--id", "1", code=1) == ([], [])
        ours, theirs = both("cluster", "list-endpoints", *through)
        assert len(ours) == 4
        assert ours == theirs
