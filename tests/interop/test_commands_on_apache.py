"""Our commands for clusters print of an Apache node what Apache's scripts print of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pykbroker.cli.main import main
from pykbroker.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest
from tests.harness import apache
from tests.harness.apache import ApacheBroker
from tests.harness.raw_client import RawClient
from tests.harness.waiting import wait_for


@pytest.fixture(scope="module")
def node() -> Iterator[ApacheBroker]:
    """With the features that a new cluster has by default."""
    with ApacheBroker(features=()) as running:
        at = ("--bootstrap-server", running.bootstrap_servers)
        assert main(["topics", *at, "--create", "--topic", "a", "--partitions", "2"]) == 0
        wait_for(lambda: _has_replicas(running, 2), "the replicas")
        yield running


def _has_replicas(node: ApacheBroker, count: int) -> bool:
    """Whether the broker has made them, which it does after the answer to CreateTopics."""
    with RawClient(node.bootstrap_servers) as client:
        answer = client.ask("DescribeLogDirs", 4, DescribeLogDirsRequest(topics=None))
    return sum(len(topic.partitions) for d in answer.results for topic in d.topics) == count


@pytest.fixture
def same(
    node: ApacheBroker, capsys: pytest.CaptureFixture[str]
) -> Callable[[str, str, tuple[str, ...]], str]:
    """What a command of ours and a script print alike, but for what moves with time."""

    def run(command: str, script: str, arguments: tuple[str, ...]) -> str:
        capsys.readouterr()
        assert main([command, *arguments]) == 0
        ours = capsys.readouterr().out
        theirs = apache.run_tool(script, *arguments)
        moving = re.compile(r"(Epoch:|HighWatermark:|\t)[ \d]+.*")
        assert moving.sub(r"\1", ours) == moving.sub(r"\1", theirs)
        return ours

    return run


@pytest.mark.parametrize("kind", ["server", "controller"])
def test_questions(node: ApacheBroker, same, kind: str) -> None:
    ports = {"server": node.bootstrap_servers, "controller": f"127.0.0.1:{node.controller_port}"}
    through = (f"--bootstrap-{kind}", ports[kind])
    assert "CurrentVoters:" in same("quorum", apache.QUORUM, (*through, "describe", "--status"))
    same("quorum", apache.QUORUM, (*through, "describe", "--replication"))
    features = same("features", apache.FEATURES, (*through, "describe"))
    assert "Feature: transaction.version" in features
    same("cluster", apache.CLUSTER, ("list-endpoints", *through))
    lower = ("downgrade", "--feature", "share.version=1", "--dry-run")
    same("features", apache.FEATURES, (*through, *lower))


def test_a_throttled_reassignment(node: ApacheBroker, same, tmp_path: Path) -> None:
    """Apache's brokers take throttles, and our --verify removes them."""
    file = tmp_path / "plan.json"
    target = {"topic": "a", "partition": 0, "replicas": [1]}
    file.write_text(json.dumps({"partitions": [target]}))
    through = ("--bootstrap-server", node.bootstrap_servers)
    plan = ("--reassignment-json-file", str(file))
    rates = ("--throttle", "10000", "--replica-alter-log-dirs-throttle", "5000")
    begun = same("reassign", apache.REASSIGN, (*through, "--execute", *plan, *rates))
    assert "The inter-broker throttle limit was set to 10000 B/s" in begun
    assert "The replica-alter-dir throttle limit was set to 5000 B/s" in begun
    broker = ("--describe", "--entity-type", "brokers", "--entity-name", "1")
    assert "throttled.rate=10000" in same("configs", apache.CONFIGS, (*through, *broker))
    assert main(["reassign", *through, "--verify", *plan]) == 0
    assert "throttled" not in same("configs", apache.CONFIGS, (*through, *broker))
