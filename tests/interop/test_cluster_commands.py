"""Our commands for clusters and Apache's scripts print the same, asked of the same three nodes."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pykbroker.cli.main import main
from pykbroker.testing import Cluster
from tests.harness import apache
from tests.harness.replicated import in_sync

SCRIPTS = {
    "leader-election": apache.LEADER_ELECTION,
    "quorum": apache.QUORUM,
}

Both = Callable[..., tuple[list[str], list[str]]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(3) as running:
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
        assert theirs.returncode == code, theirs
        return captured.out.splitlines(), theirs.stdout.splitlines()

    return run


@pytest.fixture
def same(cluster: Cluster, both: Both) -> Callable[..., list[str]]:
    """Runs a command both ways through the brokers, and holds the outputs equal."""

    def run(command: str, *arguments: str, code: int = 0) -> list[str]:
        through = ("--bootstrap-server", cluster.bootstrap_servers)
        ours, theirs = both(command, *through, *arguments, code=code)
        assert ours == theirs
        return ours

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
