"""Our commands for clusters and Apache's scripts print the same, asked of the same three nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from pykbroker.cli.main import main
from pykbroker.testing import Cluster
from tests.harness import apache

SCRIPTS = {
    "quorum": apache.QUORUM,
}

Both = Callable[..., tuple[list[str], list[str]]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(3) as running:
        yield running


@pytest.fixture
def both(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> Both:
    """Runs a command both ways: the lines that ours prints, and those that Apache's prints."""

    def run(command: str, *arguments: str) -> tuple[list[str], list[str]]:
        capsys.readouterr()
        assert main([command, *arguments]) == 0, capsys.readouterr()
        ours = capsys.readouterr().out.splitlines()
        return ours, apache.run_tool(SCRIPTS[command], *arguments).splitlines()

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
