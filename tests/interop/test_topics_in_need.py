"""`topics --describe` and Apache's script print the same of a cluster with a node that is dead."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest

from pykbroker.cli.admin import AdminClient
from pykbroker.cli.main import main
from pykbroker.testing import Cluster
from tests.harness import apache
from tests.harness.replicated import in_sync
from tests.harness.waiting import wait_for

FLAGS = (
    "--under-replicated-partitions",
    "--unavailable-partitions",
    "--under-min-isr-partitions",
    "--at-min-isr-partitions",
)
TOPICS = {"whole": "1:2", "all": "1:2:3,3:1:2", "pair": "3:1", "lone": "3", "other": "1"}
REPORTED = {
    FLAGS[0]: {"all-0", "all-1", "pair-0", "lone-0"},
    FLAGS[1]: {"lone-0"},
    FLAGS[2]: {"pair-0", "lone-0", "other-0"},
    FLAGS[3]: {"whole-0", "all-0", "all-1"},
}


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    """Nodes 1 and 2 of three, once the third is known to be dead."""
    with Cluster(3, min_insync_replicas=2) as cluster:
        at = ("--bootstrap-server", cluster.bootstrap_servers)
        for name, assignment in TOPICS.items():
            made = ("--topic", name, "--replica-assignment", assignment)
            assert main(["topics", *at, "--create", *made]) == 0
            in_sync(cluster.bootstrap_servers, name, assignment.partition(",")[0].count(":") + 1)
        cluster.node(3).kill()
        left = f"{cluster.node(1).bootstrap_servers},{cluster.node(2).bootstrap_servers}"

        def is_known() -> bool:
            with AdminClient(left) as client:
                return sorted(client.nodes()) == [1, 2]

        wait_for(is_known, "the third node to be fenced")
        yield left


def lines(servers: str, capsys: pytest.CaptureFixture[str], *flags: str) -> list[str]:
    """What both print, equal."""
    asked = ("--bootstrap-server", servers, "--describe", *flags)
    capsys.readouterr()
    assert main(["topics", *asked]) == 0
    ours = capsys.readouterr().out.splitlines()
    # Theirs prints topics in the order of a hash map.
    theirs = apache.run_tool(apache.TOPICS, *asked).splitlines()
    assert sorted(ours) == sorted(theirs)
    return ours


@pytest.mark.parametrize("flag", FLAGS)
def test_one_report(servers: str, capsys: pytest.CaptureFixture[str], flag: str) -> None:
    found = {
        f"{words[1]}-{words[3]}" for line in lines(servers, capsys, flag) if (words := line.split())
    }
    assert found == REPORTED[flag]


def test_several_reports_and_none(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    for first, second in list(combinations(FLAGS, 2))[::2]:
        assert len(lines(servers, capsys, first, second)) == len(REPORTED[first] | REPORTED[second])
    everything = lines(servers, capsys)
    assert len(everything) == 5 + 6
    assert any("\tPartition: 0\tLeader: none\tReplicas: 3\t" in line for line in everything)
    assert lines(servers, capsys, FLAGS[0], "--topic", "whole") == []
